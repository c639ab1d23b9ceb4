// SPDX-License-Identifier: MIT
//
// Building convolutions of groups: some kernels at a time, which write whole atoms and see the
// atoms that have the channels of their groups, with zeros where a channel is of another group.
// Nothing is gathered or copied, wherever groups begin.
#include <algorithm>
#include <utility>

#include "layout/bands.hpp"
#include "layout/cbuf.hpp"
#include "layout/conv_steps.hpp"
#include "network/builder.hpp"
#include "network/move_kernels.hpp"

namespace nvdla::detail {
namespace {

// To start a layer more takes about as long as so many steps.
constexpr std::uint64_t kLayerSteps = 1024;

// Kernels of one layer, and the channels that they see.
struct Block {
  std::uint32_t first_kernel = 0, kernels = 0;
  std::uint32_t first_channel = 0, channels = 0;
};

// What the groups of a convolution have, each.
struct Groups {
  std::uint32_t kernels = 0, channels = 0;

  Groups(const nvdla_conv& conv, std::uint32_t groups)
      : kernels(conv.kernels / groups), channels(conv.channels / groups) {}

  std::uint32_t first_channel(std::uint32_t kernel) const { return kernel / kernels * channels; }
};

// `some` kernels in each block but the last; channels begin with an atom of `lanes`.
std::vector<Block> make_blocks(const nvdla_conv& conv, const Groups& groups, std::uint32_t lanes,
                               std::uint32_t some) {
  std::vector<Block> blocks;
  for (std::uint32_t first = 0; first < conv.kernels; first += some) {
    Block block;
    block.first_kernel = first;
    block.kernels = std::min(some, conv.kernels - first);
    block.first_channel = groups.first_channel(first) / lanes * lanes;
    const std::uint32_t last = groups.first_channel(first + block.kernels - 1);
    block.channels = last + groups.channels - block.first_channel;
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
                                 const Groups& groups) {
  const std::uint32_t lanes =
      info.atom / precision_bytes(static_cast<Precision>(conv.proc_precision));
  std::vector<Block> best = make_blocks(conv, groups, lanes, lanes);
  // What is in the way of the smallest ones is said.
  std::uint64_t least = cost_of(info, conv, best);
  for (std::uint32_t some = lanes; some < conv.kernels;) {
    some *= 2;
    std::vector<Block> blocks = make_blocks(conv, groups, lanes, some);
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
std::vector<T> dense_kernels(const std::vector<T>& weights, const Groups& groups,
                             const Block& block, std::size_t taps) {
  std::vector<T> dense(std::size_t{block.kernels} * block.channels * taps);
  const std::size_t each = groups.channels * taps;
  for (std::uint32_t k = 0; k < block.kernels; ++k) {
    const std::uint32_t kernel = block.first_kernel + k;
    const std::uint32_t behind = groups.first_channel(kernel) - block.first_channel;
    const auto from = weights.begin() + static_cast<std::ptrdiff_t>(kernel * each);
    std::copy(from, from + static_cast<std::ptrdiff_t>(each),
              dense.begin() +
                  static_cast<std::ptrdiff_t>((std::size_t{k} * block.channels + behind) * taps));
  }
  return dense;
}

}  // namespace

void Builder::add_groups(const LayerNode& node, const ConvNode& part, const nvdla_conv& conv) {
  const Groups groups(conv, part.groups);
  const std::vector<Block> blocks = choose_blocks(info_, conv, groups);
  const std::uint32_t lanes =
      info_.atom / precision_bytes(static_cast<Precision>(conv.proc_precision));
  Blob blob = make_blob();
  const nvdla_sdp sdp = sdp_part(node, part.sdp, blob);
  std::vector<nvdla_conv> layers;
  for (const Block& block : blocks) {
    nvdla_conv layer = conv_of(conv, block);
    layer.input.offset += std::uint64_t{block.first_channel / lanes} * layer.input.surface_stride;
    const WeightsDesc weights = weights_desc(layer);
    std::vector<std::byte> stream(weights_bytes(weights));
    std::visit(
        [&](const auto& kernels) {
          const std::size_t taps = std::size_t{layer.kernel_height} * layer.kernel_width;
          pack_weights(info_, weights, dense_kernels(kernels, groups, block, taps), stream);
        },
        part.weights);
    place_weights(weights, stream, layer, blob);
    layers.push_back(layer);
  }
  add_blob(std::move(blob));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    nvdla_sdp own = sdp;
    move_kernels(info_, own, blocks[i].first_kernel);
    const std::string name = blocks.size() == 1
                                 ? node.name
                                 : fmt::format("{} groups {}/{}", node.name, i + 1, blocks.size());
    add_bands(node, layers[i], own,
              {.name = name,
               .macs = node.macs / conv.kernels * blocks[i].kernels,
               .whole = blocks.size() == 1,
               .after = {}});
  }
}

}  // namespace nvdla::detail
