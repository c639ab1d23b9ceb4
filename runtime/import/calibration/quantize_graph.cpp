// SPDX-License-Identifier: MIT
#include "import/calibration/quantize_graph.hpp"

#include <algorithm>
#include <utility>

#include "import/calibration/kernels.hpp"
#include "import/calibration/units.hpp"
#include "import/graph/node_maker.hpp"
#include "import/graph/refusal.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

using Quantizations = std::map<ValueId, Quantization>;  // by the root of the class

// Gives classes the scales of pixels; two pictures have to be alike where one scale holds both.
void set_pixels(const Graph& graph, const ScaleClasses& classes,
                const std::map<ValueId, PixelInput>& pixels, Quantizations& scales) {
  Quantizations given;
  for (const auto& [id, pixel] : pixels) {
    const Quantization wanted = pixel.of_pixels();
    const auto [at, is_first] = given.try_emplace(classes.root(id), wanted);
    if (!is_first && at->second != wanted)
      throw_invalid_model(
          "{}: input '{}' shares its scale with another picture of other mean or deviation, and "
          "int16 has one for both",
          detail::printable(graph.file), detail::printable(graph.value(id).name));
    scales[at->first] = wanted;
  }
}

Quantizations choose_scales(const Graph& graph, const ScaleClasses& classes,
                            const std::map<ValueId, NumberRange>& ranges,
                            const std::map<ValueId, PixelInput>& pixels, Precision precision) {
  std::map<ValueId, NumberRange> all;
  for (const ValueId id : classes.values()) {
    const auto picture = pixels.find(id);
    all[classes.root(id)].add(picture != pixels.end() ? picture->second.range() : ranges.at(id));
  }
  for (const auto& [id, fill] : classes.fills()) {
    const bool picture = std::any_of(pixels.begin(), pixels.end(), [&, id = id](const auto& pixel) {
      return classes.root(pixel.first) == classes.root(id);
    });
    if (!picture) all[classes.root(id)].add(fill);
  }
  // A softmax may give any number up to 1, whatever the samples are.
  for (const Node& node : graph.nodes)
    if (node.op == "Softmax") all[classes.root(node.outputs[0])].add(NumberRange{0, 1});
  Quantizations scales;
  for (const auto& [root, range] : all)
    scales[root] = quantization_of(range, classes.is_symmetric(root), precision);
  if (precision == Precision::kInt16) set_pixels(graph, classes, pixels, scales);
  return scales;
}

// Ranges by which it can be checked what a device has.
std::map<ValueId, NumberRange> nominal_ranges(const ScaleClasses& classes) {
  std::map<ValueId, NumberRange> ranges;
  for (const ValueId id : classes.values()) ranges[id] = {-1, 1};
  return ranges;
}

// Tells of tensors that a concatenation leaves few steps, beside others with greater numbers.
void tell_coarse_parts(const Graph& graph, const ScaleClasses& classes, const Quantizations& scales,
                       const std::map<ValueId, NumberRange>& ranges,
                       std::vector<std::string>& notices) {
  constexpr float kFewSteps = 16;
  for (const Node& node : graph.nodes) {
    if (node.op != "Concat") continue;
    const auto scale = scales.find(classes.root(node.outputs[0]));
    for (const ValueId id : node.inputs) {
      const auto range = ranges.find(id);
      if (scale == scales.end() || range == ranges.end()) continue;
      const float width = range->second.high - range->second.low;
      if (!(width > 0) || width >= kFewSteps * scale->second.scale) continue;
      notices.push_back(fmt::format(
          "{}: input '{}' has numbers from {:.3g} to {:.3g}, and its steps are {:.3g}, which "
          "greater "
          "numbers beside it need; for scales of their own end the network before it (--outputs)",
          node_text(node), detail::printable(graph.value(id).name), range->second.low,
          range->second.high, scale->second.scale));
    }
  }
}

// Appends a QuantizeLinear and a DequantizeLinear behind a value; returns what readers take in its
// place.
ValueId append_scale(NodeMaker& make, ValueId id, const Quantization& q, Type type) {
  const std::int64_t zero_number = q.zero_point;
  const Dims dims = *make.graph().value(id).dims;
  const ValueId scale = make.floats({}, {static_cast<double>(q.scale)});
  const ValueId zero = make.constant(Constant::of_integers(type, {}, {&zero_number, 1}));
  const ValueId integers = make.compute("QuantizeLinear", {id, scale, zero}, type, dims);
  return make.compute("DequantizeLinear", {integers, scale, zero}, make.graph().value(id).type,
                      dims);
}

// Puts nodes of scales behind all values of `classes`.
std::vector<QuantizedValue> insert_scales(Graph& graph, const ScaleClasses& classes,
                                          const Quantizations& scales, Precision precision) {
  std::map<ValueId, ValueId> renamed;
  std::vector<QuantizedValue> values;
  NodeMaker make(graph);
  const Type type = precision == Precision::kInt16 ? Type::kInt16 : Type::kInt8;
  const auto append = [&](const std::string& of, ValueId id) {
    const Quantization& q = scales.at(classes.root(id));
    make.set_name(of);
    renamed[id] = append_scale(make, id, q, type);
    values.push_back({id, renamed[id], of, q, {}, precision});
  };
  for (const ValueId id : graph.inputs)
    if (classes.values().contains(id)) append(std::string(graph.value(id).name), id);
  for (Node& node : std::exchange(graph.nodes, {})) {
    for (ValueId& id : node.inputs)
      if (const auto found = renamed.find(id); found != renamed.end()) id = found->second;
    make.append(node);
    for (const ValueId id : node.outputs)
      if (id != kNoValue && classes.values().contains(id)) append(node.name, id);
  }
  graph.nodes = make.take();
  // Outputs keep their names.
  for (ValueId& id : graph.outputs) {
    const auto found = renamed.find(id);
    if (found == renamed.end()) continue;
    std::swap(graph.value(id).name, graph.value(found->second).name);
    id = found->second;
  }
  return values;
}

}  // namespace

std::vector<QuantizedValue> quantize_graph(Graph& graph, const DeviceInfo& info,
                                           Precision precision, const std::vector<Sample>& samples,
                                           const std::map<ValueId, PixelInput>& pixels,
                                           std::vector<std::string>& notices,
                                           const Progress& progress) {
  for (const Node& node : graph.nodes)
    if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear")
      throw_invalid_model(
          "{}: {}: the model has scales already, and samples would give others; leave them out",
          detail::printable(graph.file), node_text(node));
  // Sums of int8 in int16 are exact, however many positions they have.
  if (precision == Precision::kInt16 || !info.has_int16 || !info.has_sdp_y) split_averages(graph);
  expand_normalizations(graph);
  expand_quotients(graph);
  absorb_affine(graph);
  std::map<ValueId, NumberRange> ranges;
  if (!samples.empty()) ranges = find_ranges(graph, samples, pixels, progress);
  const ScaleClasses classes(graph, !info.has_sdp_y, pixels, ranges);
  if (samples.empty()) ranges = nominal_ranges(classes);
  const Quantizations scales = choose_scales(graph, classes, ranges, pixels, precision);
  if (!samples.empty()) tell_coarse_parts(graph, classes, scales, ranges, notices);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    // A pass may have made kernels that are integers.
    if (!is_sum_of_products(graph, node) || graph.value(node.inputs[1]).quantized) continue;
    const auto input = scales.find(classes.root(node.inputs[0]));
    if (input == scales.end()) continue;  // of integers, which lowering refuses
    read_kernels(graph, node)
        .write_integers(graph, node, precision, input->second,
                        scales.at(classes.root(classes.end_of(n))));
  }
  std::vector<QuantizedValue> values = insert_scales(graph, classes, scales, precision);
  for (QuantizedValue& value : values) value.range = ranges.at(value.number);
  for (const ValueId id : graph.inputs) {
    const auto found = ranges.find(id);
    if (found != ranges.end() && !pixels.contains(id) && found->second.low == found->second.high)
      notices.push_back(fmt::format("input '{}': it is 0 in all samples, which gives no scale",
                                    detail::printable(graph.value(id).name)));
  }
  return values;
}

}  // namespace nvdla::import
