// SPDX-License-Identifier: MIT
//
// Direct convolution of int16 by the bytes of both operands.
#include <algorithm>
#include <functional>

#include "model/conv/conv_pass.hpp"
#include "model/conv/conv_walk.hpp"

namespace nvdla::model {

std::uint32_t ConvPass::run_pieces(const ConvLayer& layer, const ConvShape& shape,
                                   const PackedWeights& weights, std::uint32_t batch,
                                   SdpPass& sdp) {
  // The elements behind the last run are multiplied by zero weights.
  const std::size_t elements = data_.batch_bytes() / 2;
  upper_bytes_.resize(std::max(upper_bytes_.size(), elements + kMostStep));
  lower_bytes_.resize(upper_bytes_.size());
  const std::byte* const bytes = data_.batch(batch);
  for (std::size_t i = 0; i < elements; ++i) {
    lower_bytes_[i] = std::to_integer<std::uint8_t>(bytes[2 * i]);
    upper_bytes_[i] = static_cast<std::int8_t>(bytes[2 * i + 1]);
  }
  for (Scratch& scratch : scratch_) scratch.saturated = 0;
  const ConvWalk walk(layer, data_);
  const std::size_t block_elements = shape.block_elements();
  const WideClip clip = wide_clip(layer, quirks_);
  const auto compute = [&](unsigned thread, const ConvTile& tile, std::int32_t* values) {
    Scratch& scratch = scratch_[thread];
    const std::size_t base = walk.base(tile.first);
    kernels_.pieces({upper_bytes_.data() + base, lower_bytes_.data() + base, walk.lines(tile.first),
                     tile.count, runs_.data(), static_cast<unsigned>(runs_.size()),
                     shape.run_steps(), weights.bytes.data() + tile.block * block_elements,
                     weights.lower.data() + tile.block * block_elements, scratch.sums.data()});
    scratch.saturated += kernels_.wide_clip(scratch.sums.data(), tile.count, clip, values);
  };
  // Each product takes four products of bytes.
  tiles_.run(sdp, {walk.positions(), walk.tile_positions(kernels_)},
             static_cast<double>(block_elements) * 4 / kernels_.form.rate, std::ref(compute));
  std::uint32_t saturated = 0;
  for (const Scratch& scratch : scratch_) saturated += scratch.saturated;
  return saturated;
}

}  // namespace nvdla::model
