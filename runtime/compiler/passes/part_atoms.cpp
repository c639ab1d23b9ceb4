// SPDX-License-Identifier: MIT
//
// Parts of concatenations that do not fill atoms would be copied, and their channels gathered by a
// convolution. Where only convolutions and poolings read what comes of them, each part may begin an
// atom instead: kernels get zeros for the channels of the gaps between the parts, and poolings keep
// the gaps. Sums of integers stay what they are, whatever lies in the gaps.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/graph/views.hpp"
#include "compiler/lower/conv.hpp"
#include "compiler/passes/conv_cost.hpp"
#include "compiler/passes/layer_geometry.hpp"
#include "compiler/passes/passes.hpp"
#include "cost/unit_cycles.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// `Spread` is where the channels of a concatenation lie if each part begins an atom.
struct Spread {
  std::vector<std::uint32_t> first;  // by part
  std::vector<std::uint32_t> count;  // by part
  std::uint32_t channels = 0;        // gaps included
};

Spread spread_of(const Graph& graph, const ConcatNode& concat, std::uint32_t lanes) {
  ConcatNode apart = concat;
  apart.alignment = lanes;
  Spread spread;
  for (const Corner& corner : part_corners(graph, apart)) spread.first.push_back(corner.channel);
  for (const std::uint32_t part : concat.parts)
    spread.count.push_back(graph.tensors[part].shape.channels);
  spread.channels = spread.first.back() + spread.count.back();
  return spread;
}

// Adds the layers that read a tensor, and those behind its poolings. Returns false if one of them
// does not bear gaps.
bool add_readers(const Graph& graph, std::uint32_t tensor, std::vector<std::uint32_t>& readers) {
  if (is_output(graph, tensor)) return false;
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    const LayerNode& layer = graph.layers[i];
    if (!Graph::is_live(layer)) continue;
    if (std::ranges::find(layer.operands, tensor) != layer.operands.end()) return false;
    if (layer.input != tensor) continue;
    readers.push_back(i);
    if (std::holds_alternative<PoolNode>(layer.part)) {
      if (!add_readers(graph, layer.output, readers)) return false;
      continue;
    }
    const auto* const conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr || conv->groups != 1 || conv->conv.proc_precision == NVDLA_PRECISION_FP16 ||
        conv->sdp.silent())
      return false;
  }
  return true;
}

// Returns the cycles of a layer that reads so many channels; nothing if it does not fit.
std::optional<std::uint64_t> predict_reader(const Graph& graph, const DeviceInfo& info,
                                            const LayerNode& layer, std::uint32_t channels) {
  if (const auto* node = std::get_if<ConvNode>(&layer.part)) {
    nvdla_conv conv = node->conv;
    conv.channels = channels;
    return predict_conv(info, conv, node->sdp);
  }
  const TensorNode& input = graph.tensors[layer.input];
  nvdla_pdp pdp = std::get<PoolNode>(layer.part).pdp;
  pdp.precision = static_cast<std::uint32_t>(input.precision);
  pdp.width = input.shape.width;
  pdp.height = input.shape.height;
  pdp.channels = channels;
  return cost::pdp_cycles(machine_of(info), memory_of(info), geometry(pdp)).total;
}

// Returns the cycles of all readers, each of so many channels.
std::optional<std::uint64_t> predict_readers(const Graph& graph, const DeviceInfo& info,
                                             const std::vector<std::uint32_t>& readers,
                                             std::uint32_t channels) {
  std::uint64_t sum = 0;
  for (const std::uint32_t reader : readers) {
    const auto cycles = predict_reader(graph, info, graph.layers[reader], channels);
    if (!cycles) return std::nullopt;
    sum += *cycles;
  }
  return sum;
}

// Returns the cycles of the convolution that gathers the channels. Copies of the parts in front of
// it are left out.
std::optional<std::uint64_t> predict_gather(const DeviceInfo& info, const TensorNode& whole,
                                            const Spread& spread) {
  SparseKernels sparse;
  for (std::size_t i = 0; i < spread.first.size(); ++i) {
    sparse.first.resize(sparse.first.size() + spread.count[i]);
    std::iota(sparse.first.end() - spread.count[i], sparse.first.end(), spread.first[i]);
  }
  Shape shape = whole.shape;
  shape.batch = 1;
  shape.channels = spread.channels;
  WeightsDesc weights;
  weights.kernels = whole.shape.channels;
  weights.channels = spread.channels;
  weights.precision = whole.precision;
  const nvdla_conv gather = make_conv(packed_tensor(info, shape, whole.precision), weights);
  SdpNode pass;
  pass.processing = whole.precision;
  std::uint64_t sum = 0;
  for (const KernelBlock& block : choose_blocks(info, gather, sparse)) {
    const auto cycles = predict_conv(info, conv_of(info, gather, block), pass);
    if (!cycles) return std::nullopt;
    sum += *cycles;
  }
  return sum;
}

// Returns kernels (KCRS) with zeros for the channels of gaps.
template <typename T>
std::vector<T> spread_channels(const std::vector<T>& kcrs, const nvdla_conv& conv,
                               const Spread& spread) {
  const std::size_t taps = std::size_t{conv.kernel_height} * conv.kernel_width;
  std::vector<T> wide(std::size_t{conv.kernels} * spread.channels * taps);
  auto from = kcrs.begin();
  for (std::uint32_t kernel = 0; kernel < conv.kernels; ++kernel) {
    for (std::size_t i = 0; i < spread.first.size(); ++i) {
      const std::size_t to = (std::size_t{kernel} * spread.channels + spread.first[i]) * taps;
      const auto end = from + static_cast<std::ptrdiff_t>(spread.count[i] * taps);
      std::copy(from, end, wide.begin() + static_cast<std::ptrdiff_t>(to));
      from = end;
    }
  }
  return wide;
}

void add_gaps(TensorNode& tensor, const Spread& spread) {
  tensor.gaps = spread.channels - tensor.shape.channels;
  tensor.shape.channels = spread.channels;
}

void spread_reader(Graph& graph, LayerNode& layer, const Spread& spread) {
  if (std::holds_alternative<PoolNode>(layer.part))
    return add_gaps(graph.tensors[layer.output], spread);
  auto& node = std::get<ConvNode>(layer.part);
  node.weights = std::make_shared<const Kernels>(std::visit(
      [&](const auto& kernels) -> Kernels { return spread_channels(kernels, node.conv, spread); },
      *node.weights));
  node.conv.channels = spread.channels;
}

// Returns true if gaps are predicted to cost less than what gathers.
bool gaps_pay(const Graph& graph, PassContext& context, const LayerNode& layer,
              const std::vector<std::uint32_t>& readers, const Spread& spread) {
  if (!context.may_predict()) return false;
  const TensorNode& whole = graph.tensors[layer.output];
  const auto gather = predict_gather(context.info, whole, spread);
  auto gathered = predict_readers(graph, context.info, readers, whole.shape.channels);
  if (gathered && gather) *gathered += *gather;
  const auto apart = predict_readers(graph, context.info, readers, spread.channels);
  const bool pays = gathered && gather && apart && *apart < *gathered;
  context.consider(layer.name, "gathered channels", gather ? gathered : std::nullopt, !pays);
  context.consider(layer.name, "parts in atoms of their own", apart, pays);
  return pays;
}

}  // namespace

Graph align_parts(Graph graph, PassContext& context) {
  for (LayerNode& layer : graph.layers) {
    auto* const concat = std::get_if<ConcatNode>(&layer.part);
    if (concat == nullptr || !Graph::is_live(layer) || concat->axis != Axis::kChannels) continue;
    TensorNode& whole = graph.tensors[layer.output];
    if (whole.precision == Precision::kFp16 || parts_fill_atoms(graph, context.info, *concat))
      continue;
    std::vector<std::uint32_t> readers;
    if (!add_readers(graph, layer.output, readers)) continue;
    const std::uint32_t lanes = context.info.atom / precision_bytes(whole.precision);
    const Spread spread = spread_of(graph, *concat, lanes);
    if (spread.channels > kMaxSide || !gaps_pay(graph, context, layer, readers, spread)) continue;
    concat->alignment = lanes;
    add_gaps(whole, spread);
    for (const std::uint32_t reader : readers) spread_reader(graph, graph.layers[reader], spread);
    ++context.applied;
  }
  return graph;
}

}  // namespace nvdla::detail
