// SPDX-License-Identifier: MIT
//
// Pictures of models in fp16 that may go in as bytes: what is computed of each of their channels
// before the convolution that alone reads them leaves the graph.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/calibration/channel_nodes.hpp"
#include "import/calibration/quantize_graph.hpp"
#include "import/calibration/units.hpp"
#include "import/nodes/window.hpp"

namespace nvdla::import {
namespace {

// Whole numbers up to this one are numbers of fp16.
constexpr double kMostExact = 2048;
constexpr double kMostPixel = 255;
constexpr std::int64_t kWidestStride = 8, kLargestKernel = 32;

// `ByteReader` is the convolution that reads a picture, with what comes before it.
struct ByteReader {
  std::size_t conv = 0;                   // node
  std::optional<std::size_t> transposed;  // node that moves channels to the second axis
  std::vector<std::size_t> order;         // channel of the picture, by channel of the kernels
  BytePixels pixels;                      // by channel of the kernels
};

// Takes the node behind what is known of a picture; returns false if that has no place there.
bool follow(const Operation& op, std::size_t axis, ByteReader& reader) {
  const std::size_t channels = reader.order.size();
  auto& [factors, shifts] = reader.pixels;
  if (const auto order = order_of_channels(op, channels, axis)) {
    const ByteReader before = reader;
    for (std::size_t c = 0; c < channels; ++c) {
      reader.order[c] = before.order[(*order)[c]];
      factors[c] = before.pixels.factors[(*order)[c]];
      shifts[c] = before.pixels.shifts[(*order)[c]];
    }
    return true;
  }
  const auto operand = operand_of_channels(op, channels, axis);
  if (!operand || op.dims(0) != *op.graph().value(op.node().outputs[0]).dims) return false;
  for (std::size_t c = 0; c < channels; ++c) {
    const double number = (*operand)[c];
    if (op.op() == "Add") {
      shifts[c] += number;
    } else if (op.op() == "Sub") {
      shifts[c] -= number;
    } else if (op.op() == "Mul" || op.op() == "Div") {
      factors[c] = op.op() == "Mul" ? factors[c] * number : factors[c] / number;
      shifts[c] = op.op() == "Mul" ? shifts[c] * number : shifts[c] / number;
    } else {
      return false;
    }
  }
  return true;
}

// Returns true if the convolution may be one of pixels.
bool takes_pixels(const Operation& op) {
  if (!is_plain_conv(op) || op.dims(1).size() != 4) return false;
  const Dims& dims = op.dims(1);
  const Window window = two_axes(read_window(op, {dims.begin() + 2, dims.end()}));
  const auto fits = [](const WindowAxis& axis) {
    return axis.dilation == 1 && axis.stride <= kWidestStride && axis.kernel <= kLargestKernel &&
           axis.before < axis.kernel && axis.after < axis.kernel;
  };
  return fits(window.y) && fits(window.x);
}

// Returns true if pixels less their mean, as a whole number, are exact.
bool is_exact(const BytePixels& pixels) {
  for (std::size_t c = 0; c < pixels.factors.size(); ++c) {
    const double mean = -pixels.shifts[c] / pixels.factors[c];
    if (!std::isfinite(mean) || std::fabs(mean) > kMostExact - kMostPixel - 1) return false;
  }
  return true;
}

std::optional<ByteReader> find_reader(const Graph& graph, ValueId picture, bool channels_last) {
  const Readers readers(graph);
  const Dims& dims = *graph.value(picture).dims;
  if (dims.size() != 4) return std::nullopt;
  ByteReader reader;
  std::size_t axis = dims[1] == 1 || dims[1] == 3 ? 1 : 3;
  const auto channels = static_cast<std::size_t>(dims[axis]);
  reader.order.resize(channels);
  std::iota(reader.order.begin(), reader.order.end(), std::size_t{0});
  reader.pixels = {std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  ValueId id = picture;
  while (const std::size_t* const next = readers.only(id)) {
    const Operation op(graph, graph.nodes[*next]);
    if (!op.has(0) || op.input(0) != id || op.outputs() != 1) return std::nullopt;
    if (axis == 1 && takes_pixels(op)) {
      reader.conv = *next;
      return is_exact(reader.pixels) ? std::optional(reader) : std::nullopt;
    }
    const auto transposed = channels_first(op);
    if (transposed && transposed->axis == axis && channels_last && !reader.transposed) {
      reader.transposed = *next;
      axis = 1;
    } else if (!follow(op, axis, reader)) {
      return std::nullopt;
    }
    id = op.node().outputs[0];
  }
  return std::nullopt;
}

std::optional<ByteReader> reader_of(const Graph& graph, ValueId picture, bool channels_last) {
  return unless_refused(std::optional<ByteReader>(),
                        [&] { return find_reader(graph, picture, channels_last); });
}

// Returns the kernels with their channels in the order of the picture's.
Constant in_order(const Constant& kernels, const std::vector<std::size_t>& order) {
  const Dims& dims = kernels.dims();
  const auto taps = static_cast<std::size_t>(dims[2] * dims[3]);
  const std::vector<double> from = kernels.doubles();
  std::vector<double> to(from.size());
  const std::size_t channels = order.size();
  for (std::size_t k = 0; k < from.size() / channels / taps; ++k)
    for (std::size_t c = 0; c < channels; ++c)
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>((k * channels + c) * taps), taps,
                  to.begin() + static_cast<std::ptrdiff_t>((k * channels + order[c]) * taps));
  return Constant::of_doubles(kernels.type(), dims, to);
}

// Lets the convolution read the picture itself; returns what was computed of it.
BytePixels take(Graph& graph, ValueId picture, const ByteReader& reader) {
  Node& conv = graph.nodes[reader.conv];
  BytePixels pixels = reader.pixels;
  for (std::size_t c = 0; c < reader.order.size(); ++c) {
    pixels.factors[reader.order[c]] = reader.pixels.factors[c];
    pixels.shifts[reader.order[c]] = reader.pixels.shifts[c];
  }
  if (!std::is_sorted(reader.order.begin(), reader.order.end())) {
    Value kernels = graph.value(conv.inputs[1]);
    kernels.constant = in_order(*kernels.constant, reader.order);
    conv.inputs[1] = graph.add(std::move(kernels));
  }
  ValueId first = picture;
  if (reader.transposed) {
    Node& transposed = graph.nodes[*reader.transposed];
    transposed.inputs[0] = picture;
    first = transposed.outputs[0];
  }
  conv.inputs[0] = first;
  return pixels;
}

}  // namespace

std::set<ValueId> byte_inputs(const Graph& graph, const std::map<ValueId, PixelInput>& pictures,
                              bool channels_last) {
  std::set<ValueId> inputs;
  for (const auto& [id, pixels] : pictures)
    if (reader_of(graph, id, channels_last)) inputs.insert(id);
  return inputs;
}

std::map<ValueId, BytePixels> take_bytes(Graph& graph,
                                         const std::map<ValueId, PixelInput>& pictures,
                                         bool channels_last) {
  std::map<ValueId, BytePixels> inputs;
  for (const auto& [id, pixels] : pictures)
    if (const auto reader = reader_of(graph, id, channels_last))
      inputs[id] = take(graph, id, *reader);
  remove_dead_nodes(graph);
  return inputs;
}

}  // namespace nvdla::import
