// SPDX-License-Identifier: MIT
//
// Building convolutions of groups: some kernels at a time, which write whole atoms and see the
// atoms that have the channels of their groups, with zeros where a channel is of another group.
// Nothing is gathered or copied, wherever groups begin.
#include <algorithm>
#include <utility>

#include "compiler/lower/builder.hpp"
#include "compiler/lower/move_kernels.hpp"
#include "layout/bands.hpp"
#include "layout/cbuf.hpp"
#include "layout/conv_steps.hpp"

namespace nvdla::detail {
namespace {

// To start a layer more takes about as long as so many steps.
constexpr std::uint64_t kLayerSteps = 1024;

// Kernels of one layer, and the channels that they see.
struct Block {
  std::uint32_t first_kernel = 0, kernels = 0;
  std::uint32_t first_channel = 0, channels = 0;
};

// `some` kernels in each block but the last; channels begin with an atom of `lanes`.
std::vector<Block> make_blocks(const nvdla_conv& conv, const SparseKernels& sparse,
                               std::uint32_t lanes, std::uint32_t some) {
  std::vector<Block> blocks;
  for (std::uint32_t first = 0; first < conv.kernels; first += some) {
    Block block;
    block.first_kernel = first;
    block.kernels = std::min(some, conv.kernels - first);
    block.first_channel = sparse.first[first] / lanes * lanes;
    block.channels =
        sparse.first[first + block.kernels - 1] + sparse.channels - block.first_channel;
    blocks.push_back(block);
  }
  return blocks;
}

nvdla_conv conv_of(const nvdla_conv& conv, const Block& block) {
  nvdla_conv layer = conv;
  layer.kernels = block.kernels;
  layer.channels = block.channels;
  return layer;
}

// As cycles of a multiplier that waits for its data: a step or an atom in each. Throws if a block
// does not fit the convolution buffer.
std::uint64_t cost_of(const DeviceInfo& info, const nvdla_conv& conv,
                      const std::vector<Block>& blocks) {
  std::uint64_t cost = 0;
  for (const Block& block : blocks) {
    for (const Band& band : split_conv(info, conv_of(conv, block), true)) {
      const std::uint64_t data = conv_entries_per_line(info, band.conv) * band.conv.height;
      const std::uint64_t bytes =
          data * info.cbuf_entry_bytes + kernel_bytes(info, band.conv) * band.conv.kernels;
      cost += kLayerSteps + conv_steps(info, band.conv) + bytes / info.atom;
    }
  }
  return cost;
}

std::vector<Block> choose_blocks(const DeviceInfo& info, const nvdla_conv& conv,
                                 const SparseKernels& sparse) {
  const std::uint32_t lanes =
      info.atom / precision_bytes(static_cast<Precision>(conv.proc_precision));
  std::vector<Block> best = make_blocks(conv, sparse, lanes, lanes);
  // What is in the way of the smallest ones is said.
  std::uint64_t least = cost_of(info, conv, best);
  for (std::uint32_t some = lanes; some < conv.kernels;) {
    some *= 2;
    std::vector<Block> blocks = make_blocks(conv, sparse, lanes, some);
    std::uint64_t cost = 0;
    try {
      cost = cost_of(info, conv, blocks);
    } catch (const Error&) {
      break;  // nor do larger ones fit
    }
    if (cost >= least) continue;
    least = cost;
    best = std::move(blocks);
  }
  return best;
}

// Kernels of a block with all its channels.
template <typename T>
std::vector<T> dense_kernels(const std::vector<T>& weights, const SparseKernels& sparse,
                             const Block& block, std::size_t taps) {
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

void Builder::add_groups(const LayerNode& node, const ConvNode& part, const nvdla_conv& conv) {
  SparseKernels sparse;
  sparse.channels = conv.channels / part.groups;
  for (std::uint32_t k = 0; k < conv.kernels; ++k) {
    sparse.first.push_back(k / (conv.kernels / part.groups) * sparse.channels);
  }
  ConstantPool blob = begin_constants();
  const nvdla_sdp sdp = sdp_part(node, part.sdp, blob);
  add_sparse(node, conv, part.weights, sparse, sdp, std::move(blob),
             {.name = node.name, .macs = node.macs, .whole = true, .after = {}}, " groups");
}

void Builder::add_sparse(const LayerNode& node, const nvdla_conv& conv, const Kernels& weights,
                         const SparseKernels& sparse, const nvdla_sdp& sdp, ConstantPool blob,
                         const ConvRole& role, std::string_view several) {
  const std::vector<Block> blocks = choose_blocks(info_, conv, sparse);
  const std::uint32_t lanes =
      info_.atom / precision_bytes(static_cast<Precision>(conv.proc_precision));
  std::vector<nvdla_conv> layers;
  for (const Block& block : blocks) {
    nvdla_conv layer = conv_of(conv, block);
    layer.input.offset += std::uint64_t{block.first_channel / lanes} * layer.input.surface_stride;
    const WeightsDesc desc = weights_desc(layer);
    std::vector<std::byte> stream(weights_bytes(desc));
    std::visit(
        [&](const auto& kernels) {
          const std::size_t taps = std::size_t{layer.kernel_height} * layer.kernel_width;
          pack_weights(info_, desc, dense_kernels(kernels, sparse, block, taps), stream);
        },
        weights);
    place_weights(desc, stream, layer, blob);
    layers.push_back(layer);
  }
  commit_constants(std::move(blob));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    nvdla_sdp own = sdp;
    move_kernels(info_, own, blocks[i].first_kernel);
    ConvRole of_block = role;
    if (blocks.size() > 1) {
      of_block.name += fmt::format("{} {}/{}", several, i + 1, blocks.size());
      of_block.whole = false;
    }
    of_block.macs = role.macs / conv.kernels * blocks[i].kernels;
    add_bands(node, layers[i], own, of_block);
  }
}

}  // namespace nvdla::detail
