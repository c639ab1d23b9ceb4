// SPDX-License-Identifier: MIT
//
// Operators on each channel before a convolution become part of its weights and bias: another
// order, a factor, and an addend where nothing pads.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "import/calibration/quantize_graph.hpp"
#include "import/nodes/operation.hpp"

namespace nvdla::import {
namespace {

// The weights of a convolution by kernel and channel, and what each kernel adds.
struct ChannelWeights {
  std::size_t channels = 0, taps = 0;
  std::vector<double> weights, bias;

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

bool is_plain_conv(const Operation& op) {
  return op.op() == "Conv" && op.node().domain.empty() && op.has(1) && op.constant(1) != nullptr &&
         op.attribute("group", std::int64_t{1}) == 1 &&
         (!op.has(2) || (op.constant(2) != nullptr && op.constant(2)->size() == op.dims(1)[0]));
}

bool has_padding(const Operation& op) {
  const auto pads = op.integers("pads");
  return op.attribute("auto_pad", "NOTSET").starts_with("SAME") ||
         std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; });
}

// Returns a constant operand as one number for each channel, the second axis.
std::optional<std::vector<double>> operand_of_channels(const Operation& op, std::size_t channels) {
  if (op.inputs() != 2 || !op.has(1)) return std::nullopt;
  const Constant* const c = op.constant(1);
  if (c == nullptr) return std::nullopt;
  if (c->size() == 1) return std::vector<double>(channels, c->real(0));
  const std::size_t rank = op.dims(0).size(), own = c->dims().size();
  if (own > rank || c->size() != static_cast<std::int64_t>(channels)) return std::nullopt;
  for (std::size_t i = 0; i < own; ++i)
    if (c->dims()[i] != 1 && i + rank - own != 1) return std::nullopt;
  return c->doubles();
}

// Returns the channels that a Gather takes, if it takes each once.
std::optional<std::vector<std::size_t>> order_of_channels(const Operation& op,
                                                          std::size_t channels) {
  if (op.op() != "Gather" || op.attribute("axis", std::int64_t{0}) != 1 || !op.has(1) ||
      op.constant(1) == nullptr)
    return std::nullopt;
  std::vector<std::size_t> order;
  for (const std::int64_t from : op.constant(1)->integers())
    order.push_back(
        static_cast<std::size_t>(from < 0 ? from + static_cast<std::int64_t>(channels) : from));
  std::vector<std::size_t> sorted = order, all(channels);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return sorted == all ? std::optional(order) : std::nullopt;
}

// Takes the node before the convolution into it; returns false if that has no place there.
bool absorb_before(ChannelWeights& conv, const Operation& before, bool padded) {
  if (const auto order = order_of_channels(before, conv.channels)) {
    ChannelWeights same = conv;
    same.each([&](std::size_t k, std::size_t c, std::size_t t) {
      conv.at(k, (*order)[c], t) = same.at(k, c, t);
    });
    return true;
  }
  const bool multiplies = before.op() == "Mul", adds = before.op() == "Add" && !padded;
  if (!multiplies && !adds) return false;
  const auto operand = operand_of_channels(before, conv.channels);
  if (!operand || before.dims(0) != *before.graph().value(before.node().outputs[0]).dims)
    return false;
  conv.each([&](std::size_t k, std::size_t c, std::size_t t) {
    if (multiplies)
      conv.at(k, c, t) *= (*operand)[c];
    else
      conv.bias[k] += (*operand)[c] * conv.at(k, c, t);
  });
  return true;
}

}  // namespace

void absorb_forward(Graph& graph) {
  std::map<ValueId, std::size_t> makers;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].outputs) makers[id] = n;
    const bool plain =
        unless_refused(false, [&] { return is_plain_conv(Operation(graph, graph.nodes[n])); });
    if (!plain) continue;
    ChannelWeights conv(Operation(graph, graph.nodes[n]));
    const bool padded =
        unless_refused(true, [&] { return has_padding(Operation(graph, graph.nodes[n])); });
    ValueId input = graph.nodes[n].inputs[0];
    for (auto maker = makers.find(input); maker != makers.end(); maker = makers.find(input)) {
      const Operation before(graph, graph.nodes[maker->second]);
      const bool absorbed = unless_refused(false, [&] {
        return before.has(0) && before.constant(0) == nullptr && before.dims(0).size() >= 3 &&
               absorb_before(conv, before, padded);
      });
      if (!absorbed) break;
      input = before.input(0);
    }
    if (input == graph.nodes[n].inputs[0]) continue;
    const Dims dims = *graph.value(graph.nodes[n].inputs[1]).dims, list = {dims[0]};
    const std::string name = graph.nodes[n].name;
    const ValueId weights =
        graph.add({.name = name + " kernels",
                   .type = Type::kFloat,
                   .dims = dims,
                   .constant = Constant::of_doubles(Type::kFloat, dims, conv.weights)});
    const ValueId bias =
        graph.add({.name = name + " bias",
                   .type = Type::kFloat,
                   .dims = list,
                   .constant = Constant::of_doubles(Type::kFloat, list, conv.bias)});
    graph.nodes[n].inputs = {input, weights, bias};
  }
  remove_dead_nodes(graph);
}

}  // namespace nvdla::import
