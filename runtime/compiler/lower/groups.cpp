// SPDX-License-Identifier: MIT
//
// Lowering convolutions whose kernels see a few channels each, such as those of groups: blocks of
// kernels, each of which is a layer.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/lower/conv.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/bands.hpp"
#include "packing/cbuf.hpp"
#include "packing/conv_steps.hpp"

namespace nvdla::detail {
namespace {

// To start a layer more takes about as long as so many steps.
constexpr std::uint64_t kLayerSteps = 1024;

std::uint32_t lanes_of(const DeviceInfo& info, const nvdla_conv& conv) {
  return info.atom / precision_bytes(static_cast<Precision>(conv.proc_precision));
}

// Returns the cycles of a multiplier that waits for its data, a step or an atom in each; nothing if
// a block does not fit the convolution buffer.
std::optional<std::uint64_t> cost_of(const DeviceInfo& info, const nvdla_conv& conv,
                                     const std::vector<KernelBlock>& blocks) {
  std::uint64_t cost = 0;
  for (const KernelBlock& block : blocks) {
    const auto bands = find_bands(info, conv_of(info, conv, block), true);
    if (!bands) return std::nullopt;
    for (const Band& band : *bands) {
      const std::uint64_t data = conv_entries_per_line(info, band.conv) * band.conv.height;
      const std::uint64_t bytes =
          data * info.cbuf_entry_bytes + kernel_bytes(info, band.conv) * band.conv.kernels;
      cost += kLayerSteps + conv_steps(info, band.conv) + bytes / info.atom;
    }
  }
  return cost;
}

// Returns blocks of fewer kernels than an atom has lanes, as many as fit; none where none fit.
std::vector<KernelBlock> narrow_blocks(const DeviceInfo& info, const nvdla_conv& conv,
                                       const SparseKernels& sparse) {
  for (std::uint32_t some = std::min(lanes_of(info, conv), conv.kernels); --some > 0;) {
    std::vector<KernelBlock> blocks = make_blocks(info, conv, sparse, some);
    if (cost_of(info, conv, blocks)) return blocks;
  }
  return {};
}

// Kernels of a block with all its channels.
template <typename T>
std::vector<T> fill_block(const std::vector<T>& weights, const SparseKernels& sparse,
                          const KernelBlock& block, std::size_t taps) {
  std::vector<T> dense(std::size_t{block.kernels} * block.channels * taps);
  const std::size_t each = sparse.channels * taps;
  for (std::uint32_t k = 0; k < block.kernels; ++k) {
    const std::uint32_t kernel = block.first_kernel + k;
    const std::uint32_t behind = sparse.first[kernel] - block.first_channel;
    const auto from = weights.begin() + static_cast<std::ptrdiff_t>(kernel * each);
    std::copy(from, from + static_cast<std::ptrdiff_t>(each),
              dense.begin() +
                  static_cast<std::ptrdiff_t>((std::size_t{k} * block.channels + behind) * taps));
  }
  return dense;
}

}  // namespace

SparseKernels dense_kernels(const nvdla_conv& conv) {
  return {conv.channels, std::vector<std::uint32_t>(conv.kernels)};
}

SparseKernels grouped_kernels(const ConvNode& part) {
  SparseKernels sparse;
  sparse.channels = part.conv.channels / part.groups;
  for (std::uint32_t k = 0; k < part.conv.kernels; ++k)
    sparse.first.push_back(k / (part.conv.kernels / part.groups) * sparse.channels);
  return sparse;
}

std::vector<KernelBlock> make_blocks(const DeviceInfo& info, const nvdla_conv& conv,
                                     const SparseKernels& sparse, std::uint32_t some) {
  const std::uint32_t lanes = lanes_of(info, conv);
  std::vector<KernelBlock> blocks;
  for (std::uint32_t first = 0; first < conv.kernels; first += some) {
    KernelBlock block;
    block.first_kernel = first;
    block.kernels = std::min(some, conv.kernels - first);
    block.first_channel = sparse.first[first] / lanes * lanes;
    block.channels =
        sparse.first[first + block.kernels - 1] + sparse.channels - block.first_channel;
    blocks.push_back(block);
  }
  return blocks;
}

nvdla_conv conv_of(const DeviceInfo& info, const nvdla_conv& conv, const KernelBlock& block) {
  nvdla_conv layer = conv;
  layer.kernels = block.kernels;
  layer.channels = block.channels;
  layer.input.offset +=
      std::uint64_t{block.first_channel / lanes_of(info, conv)} * layer.input.surface_stride;
  return layer;
}

void pack_block(const DeviceInfo& info, const nvdla_conv& layer, const KernelBlock& block,
                const SparseKernels& sparse, const Kernels& weights, std::span<std::byte> stream) {
  const std::size_t taps = std::size_t{layer.kernel_height} * layer.kernel_width;
  std::visit(
      [&](const auto& kernels) {
        pack_weights(info, weights_desc(layer), fill_block(kernels, sparse, block, taps), stream);
      },
      weights);
}

std::vector<KernelBlock> choose_blocks(const DeviceInfo& info, const nvdla_conv& conv,
                                       const SparseKernels& sparse) {
  const std::uint32_t lanes = lanes_of(info, conv);
  std::vector<KernelBlock> best = make_blocks(info, conv, sparse, lanes);
  std::optional<std::uint64_t> least = cost_of(info, conv, best);
  if (!least) {
    std::vector<KernelBlock> narrow = narrow_blocks(info, conv, sparse);
    return narrow.empty() ? best : narrow;
  }
  for (std::uint32_t some = lanes; some < conv.kernels;) {
    some *= 2;
    std::vector<KernelBlock> blocks = make_blocks(info, conv, sparse, some);
    const auto cost = cost_of(info, conv, blocks);
    if (!cost) break;  // nor do larger ones fit
    if (*cost >= *least) continue;
    least = cost;
    best = std::move(blocks);
  }
  return best;
}

void add_sparse(Lowering& lowering, const LayerNode& node, const nvdla_conv& conv,
                const Kernels& weights, const SparseKernels& sparse,
                const std::vector<KernelBlock>& blocks, const nvdla_sdp& sdp, ConstantPool pool,
                const Operation& operation, std::string_view several) {
  const DeviceInfo& info = lowering.info();
  std::vector<nvdla_conv> layers;
  for (const KernelBlock& block : blocks) {
    nvdla_conv layer = conv_of(info, conv, block);
    const WeightsDesc desc = weights_desc(layer);
    std::vector<std::byte> stream(weights_bytes(desc));
    pack_block(info, layer, block, sparse, weights, stream);
    place_weights(lowering, desc, stream, layer, pool);
    layers.push_back(layer);
  }
  lowering.commit_constants(std::move(pool));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    nvdla_sdp own = sdp;
    move_kernels(info, own, blocks[i].first_kernel);
    Operation of_block = operation;
    if (blocks.size() > 1) {
      of_block.name += fmt::format("{} {}/{}", several, i + 1, blocks.size());
      of_block.whole = false;
    }
    of_block.macs = operation.macs / conv.kernels * blocks[i].kernels;
    emit_convolution(lowering, node, layers[i], own, std::move(of_block));
  }
}

}  // namespace nvdla::detail
