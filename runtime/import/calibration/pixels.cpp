// SPDX-License-Identifier: MIT
//
// Inputs that are pictures: mean, deviation and the order of channels become nodes of the model, or
// part of the input's scale.
#include <algorithm>
#include <cmath>
#include <utility>

#include "import/calibration/quantize_graph.hpp"
#include "import/graph/node_maker.hpp"
#include "import/graph/refusal.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

using detail::printable;

ValueId find_picture(const Graph& graph, const InputPixels& pixels) {
  if (pixels.name.empty()) {
    if (graph.inputs.size() == 1) return graph.inputs[0];
    throw_invalid_model(
        "{}: the model has {} inputs; expected the name of the one that is a picture",
        printable(graph.file), graph.inputs.size());
  }
  for (const ValueId id : graph.inputs)
    if (graph.value(id).name == pixels.name) return id;
  throw_invalid_model("{}: no input is called '{}', which is to be a picture",
                      printable(graph.file), printable(pixels.name));
}

// Returns the axis of 1 or 3 channels.
std::size_t axis_of_channels(const Graph& graph, const Value& value) {
  const Dims& dims = *value.dims;
  const auto is_colour = [](std::int64_t size) { return size == 1 || size == 3; };
  if (dims.size() == 4 && is_colour(dims[1])) return 1;
  if (dims.size() == 4 && is_colour(dims[3])) return 3;
  throw_invalid_model(
      "{}: input '{}' is {}; expected a picture of 1 or 3 channels, 1x3x224x224 or "
      "1x224x224x3",
      printable(graph.file), printable(value.name), dims_text(dims));
}

std::vector<double> numbers_of(const Graph& graph, const Value& value, const char* what,
                               const std::vector<float>& list, std::size_t channels,
                               double missing) {
  if (list.empty()) return std::vector<double>(channels, missing);
  if (list.size() != 1 && list.size() != channels)
    throw_invalid_model("{}: input '{}' has {} channels, and {} is given for {}",
                        printable(graph.file), printable(value.name), channels, what, list.size());
  std::vector<double> numbers(channels, static_cast<double>(list[0]));
  for (std::size_t c = 0; c < list.size(); ++c) numbers[c] = static_cast<double>(list[c]);
  for (const double v : numbers)
    if (!std::isfinite(v) || (missing != 0 && v <= 0))
      throw_invalid_model("{}: input '{}': {} {} is no number{}", printable(graph.file),
                          printable(value.name), what, v, missing != 0 ? " above 0" : "");
  return numbers;
}

bool all_same(const std::vector<double>& list) {
  return std::all_of(list.begin(), list.end(), [&](double v) { return v == list[0]; });
}

// Nodes between the pixels and the value that was the input.
class PixelNodes {
 public:
  PixelNodes(Graph& graph, ValueId id, std::size_t axis)
      : graph_(graph), axis_(axis), make_(graph, graph.value(id).name + " pixels") {
    // The pixels take the name of the input, which keeps its number.
    Value pixels = graph.value(id);
    pixels.type = Type::kFloat;
    graph.value(id).name = pixels.name + " of pixels";
    first_ = last_ = graph.add(std::move(pixels));
    std::replace(graph.inputs.begin(), graph.inputs.end(), id, last_);
  }

  void append(std::string_view op, const Constant& operand) {
    last_ = make_.compute(op, {last_, make_.constant(operand)});
    if (op == "Gather") make_.last().attributes["axis"] = static_cast<std::int64_t>(axis_);
  }

  // Makes the last node compute the value that was the input; returns the input of pixels.
  ValueId finish(ValueId id) {
    make_.last().outputs = {id};
    std::vector<Node> nodes = make_.take();
    graph_.nodes.insert(graph_.nodes.begin(), std::make_move_iterator(nodes.begin()),
                        std::make_move_iterator(nodes.end()));
    return first_;
  }

 private:
  Graph& graph_;
  std::size_t axis_;
  NodeMaker make_;
  ValueId first_ = kNoValue, last_ = kNoValue;
};

std::vector<double> negated(std::vector<double> list) {
  for (double& v : list) v = -v;
  return list;
}

Constant of_channels(const std::vector<double>& list, std::size_t axis) {
  Dims dims(axis == 1 ? 3 : 1, 1);
  dims[0] = static_cast<std::int64_t>(list.size());
  return Constant::of_doubles(Type::kFloat, dims, list);
}

}  // namespace

std::map<ValueId, PixelInput> take_pixels(Graph& graph, const ImportOptions& options) {
  std::map<ValueId, PixelInput> inputs;
  const bool wide = options.precision == Precision::kInt16;
  const bool integers = wide || options.precision == Precision::kInt8 || !options.samples.empty();
  for (const InputPixels& pixels : options.pixels) {
    const ValueId id = find_picture(graph, pixels);
    const Value& value = graph.value(id);
    const std::size_t axis = axis_of_channels(graph, value);
    const auto channels = static_cast<std::size_t>((*value.dims)[axis]);
    const auto mean = numbers_of(graph, value, "mean", pixels.mean, channels, 0);
    const auto deviation = numbers_of(graph, value, "deviation", pixels.deviation, channels, 1);
    const bool reversed = pixels.reversed && channels > 1;
    std::vector<double> factors, shifts;
    for (std::size_t c = 0; c < channels; ++c) {
      factors.push_back(1 / deviation[c]);
      shifts.push_back(-mean[c] / deviation[c]);
    }
    // In int16 the mean is an element.
    const bool whole = !wide || (std::nearbyint(mean[0]) == mean[0] && std::fabs(mean[0]) < 32768);
    const bool same = all_same(factors) && all_same(shifts) && (whole || !integers);
    PixelInput input;
    if (same && integers) {
      input.factor = factors[0];
      input.shift = shifts[0];
    }
    const bool computes = !(same && (integers || (factors[0] == 1 && shifts[0] == 0)));
    if (!computes && !reversed) {
      inputs[id] = input;
      continue;
    }
    PixelNodes nodes(graph, id, axis);
    if (reversed)
      nodes.append("Gather",
                   Constant::of_integers(Type::kInt64, {3}, std::vector<std::int64_t>{2, 1, 0}));
    if (computes) {
      // In this order the factors fit into a convolution that pads with zeros.
      nodes.append("Add", of_channels(negated(mean), axis));
      nodes.append("Mul", of_channels(factors, axis));
    }
    inputs[nodes.finish(id)] = input;
  }
  return inputs;
}

}  // namespace nvdla::import
