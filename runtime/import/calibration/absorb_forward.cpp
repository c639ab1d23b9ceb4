// SPDX-License-Identifier: MIT
//
// Operators on each channel before a convolution become part of its weights and bias: another
// order, a factor, and an addend. Where zeros pad, an addend gives less to results at the border:
// in fp16 results of an input of few channels get a tensor of addends then, since such an input may
// lie as pixels only where nothing is computed before.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "import/calibration/channel_nodes.hpp"
#include "import/calibration/quantize_graph.hpp"
#include "import/nodes/operation.hpp"
#include "import/nodes/window.hpp"

namespace nvdla::import {
namespace {

// The weights of a convolution by kernel and channel, and what each kernel adds.
struct ChannelWeights {
  std::size_t channels = 0, taps = 0;
  std::vector<double> weights, bias;
  // The addend of each result, where that depends on its position; empty if nothing.
  std::vector<double> addends;

  explicit ChannelWeights(const Operation& op)
      : channels(static_cast<std::size_t>(op.dims(1)[1])),
        weights(op.constant(1)->doubles()),
        bias(static_cast<std::size_t>(op.dims(1)[0])) {
    taps = weights.size() / (bias.size() * channels);
    for (std::size_t k = 0; op.has(2) && k < bias.size(); ++k)
      bias[k] = op.constant(2)->real(static_cast<std::int64_t>(k));
  }

  double& at(std::size_t kernel, std::size_t channel, std::size_t tap) {
    return weights[(kernel * channels + channel) * taps + tap];
  }

  template <typename Visit>
  void each(const Visit& visit) {
    for (std::size_t k = 0; k < bias.size(); ++k)
      for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t t = 0; t < taps; ++t) visit(k, c, t);
  }
};

// Adds `operand`, by channel, to the input of a convolution whose zeros stay zeros.
void add_to_input(const Window& window, const std::vector<double>& operand, ChannelWeights& conv) {
  const auto& [y, x] = window;
  const auto positions = static_cast<std::size_t>(y.output * x.output);
  conv.addends.resize(conv.bias.size() * positions);
  const auto inside = [](const WindowAxis& axis, std::int64_t output, std::int64_t tap) {
    const std::int64_t at = output * axis.stride + tap * axis.dilation - axis.before;
    return at >= 0 && at < axis.input;
  };
  for (std::size_t k = 0; k < conv.bias.size(); ++k) {
    // A tap gives so much if it lies inside.
    std::vector<double> taps(conv.taps);
    for (std::size_t c = 0; c < conv.channels; ++c)
      for (std::size_t t = 0; t < conv.taps; ++t) taps[t] += operand[c] * conv.at(k, c, t);
    double* addend = &conv.addends[k * positions];
    for (std::int64_t row = 0; row < y.output; ++row)
      for (std::int64_t column = 0; column < x.output; ++column, ++addend)
        for (std::size_t t = 0; t < conv.taps; ++t) {
          const auto tap = static_cast<std::int64_t>(t);
          if (inside(y, row, tap / x.kernel) && inside(x, column, tap % x.kernel))
            *addend += taps[t];
        }
  }
}

// Takes the node before the convolution into it; returns false if that has no place there. Its
// channels are along `axis`; `window` is that of a convolution with padding.
bool absorb_before(ChannelWeights& conv, const Operation& before, std::size_t axis,
                   const std::optional<Window>& window, bool in_fp16) {
  if (const auto order = order_of_channels(before, conv.channels, axis)) {
    ChannelWeights same = conv;
    same.each([&](std::size_t k, std::size_t c, std::size_t t) {
      conv.at(k, (*order)[c], t) = same.at(k, c, t);
    });
    return true;
  }
  const bool multiplies = before.op() == "Mul" || before.op() == "Div",
             adds = before.op() == "Add" || before.op() == "Sub";
  if (!multiplies && !adds) return false;
  if (adds && window &&
      (!in_fp16 || window->y.output * window->x.output >
                       kMaxFolded / static_cast<std::int64_t>(conv.bias.size())))
    return false;
  auto operand = operand_of_channels(before, conv.channels, axis);
  if (!operand || before.dims(0) != *before.graph().value(before.node().outputs[0]).dims)
    return false;
  if (before.op() == "Sub")
    for (double& number : *operand) number = -number;
  if (before.op() == "Div")
    for (double& number : *operand) number = 1 / number;
  if (std::any_of(operand->begin(), operand->end(), [](double x) { return !std::isfinite(x); }))
    return false;
  if (adds && window) {
    add_to_input(*window, *operand, conv);
    return true;
  }
  conv.each([&](std::size_t k, std::size_t c, std::size_t t) {
    if (multiplies)
      conv.at(k, c, t) *= (*operand)[c];
    else
      conv.bias[k] += (*operand)[c] * conv.at(k, c, t);
  });
  return true;
}

// `PaddedWindow` has the window of a convolution with padding; of one without, nothing.
struct PaddedWindow {
  bool known = true;  // false if its attributes are refused
  std::optional<Window> padded = {};
};

PaddedWindow padded_window(const Operation& op) {
  return unless_refused(PaddedWindow{.known = false}, [&] {
    const Dims& dims = op.dims(1);
    const auto axes = read_window(op, {dims.begin() + 2, dims.end()});
    PaddedWindow found;
    const bool pads = std::any_of(axes.begin(), axes.end(), [](const WindowAxis& axis) {
      return axis.before != 0 || axis.after != 0;
    });
    if (pads) found.padded = two_axes(axes);
    return found;
  });
}

}  // namespace

void absorb_forward(Graph& graph, bool in_fp16, const std::set<ValueId>& kept) {
  std::map<ValueId, std::size_t> makers;
  std::vector<Node> nodes;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].outputs) makers[id] = n;
    nodes.push_back(graph.nodes[n]);
    const bool plain =
        unless_refused(false, [&] { return is_plain_conv(Operation(graph, graph.nodes[n])); });
    if (!plain) continue;
    const Operation op(graph, graph.nodes[n]);
    if (in_fp16 && op.dims(1)[1] > kPixelChannels) continue;
    ChannelWeights conv(op);
    const auto window = padded_window(op);
    if (!window.known) continue;
    ValueId input = graph.nodes[n].inputs[0];
    // A node that moves channels in front of lines stays, behind what is absorbed.
    std::optional<Transposed> transposed;
    for (auto maker = makers.find(input); maker != makers.end(); maker = makers.find(input)) {
      const Operation before(graph, graph.nodes[maker->second]);
      if (!transposed && (transposed = channels_first(before))) {
        input = before.input(0);
        continue;
      }
      const bool absorbed = unless_refused(false, [&] {
        return before.has(0) && before.constant(0) == nullptr && before.dims(0).size() >= 3 &&
               absorb_before(conv, before, transposed ? transposed->axis : 1, window.padded,
                             in_fp16);
      });
      if (!absorbed) break;
      input = before.input(0);
    }
    if (kept.contains(input)) continue;
    if (transposed && input == transposed->node.inputs[0]) {
      input = transposed->node.outputs[0];
    } else if (transposed) {
      Node moved = transposed->node;
      Value channels = graph.value(moved.outputs[0]);
      channels.name += " as it comes";
      moved.inputs[0] = input;
      moved.outputs = {graph.add(std::move(channels))};
      input = moved.outputs[0];
      nodes.insert(nodes.end() - 1, std::move(moved));
    }
    if (input == graph.nodes[n].inputs[0]) continue;
    const auto add = [&](const char* what, const Dims& dims, const std::vector<double>& numbers) {
      return graph.add({.name = graph.nodes[n].name + what,
                        .type = Type::kFloat,
                        .dims = dims,
                        .constant = Constant::of_doubles(Type::kFloat, dims, numbers)});
    };
    const Dims dims = *graph.value(graph.nodes[n].inputs[1]).dims;
    Node& node = nodes.back();
    node.inputs = {input, add(" kernels", dims, conv.weights)};
    if (conv.addends.empty()) {
      node.inputs.push_back(add(" bias", {dims[0]}, conv.bias));
      continue;
    }
    for (std::size_t i = 0; i < conv.addends.size(); ++i)
      conv.addends[i] += conv.bias[i / (conv.addends.size() / conv.bias.size())];
    const Dims one = {1, dims[0], window.padded->y.output, window.padded->x.output};
    Node border;
    border.name = node.name;
    border.op = "Add";
    border.opset = node.opset;
    border.outputs = node.outputs;
    Value sums = graph.value(node.outputs[0]);
    sums.name += " without addends";
    node.outputs = {graph.add(std::move(sums))};
    border.inputs = {node.outputs[0], add(" addends", one, conv.addends)};
    nodes.push_back(std::move(border));
  }
  graph.nodes = std::move(nodes);
  remove_dead_nodes(graph);
}

}  // namespace nvdla::import
