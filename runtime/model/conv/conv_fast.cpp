// SPDX-License-Identifier: MIT
//
// Direct convolution of fp16 in plain fp32, as an option says: what neither aligns products nor
// rounds each step like the logic, and is far faster for that.
#include <algorithm>
#include <bit>
#include <functional>

#include "model/conv/conv_pass.hpp"
#include "model/conv/conv_walk.hpp"
#include "model/conv/half_operand.hpp"

namespace nvdla::model {

void ConvPass::run_half_fast(const ConvLayer& layer, const ConvShape& shape,
                             const PackedWeights& weights, SdpPass& sdp) {
  const std::size_t elements = data_.batch_bytes() / 2;
  float_data_.resize(std::max(float_data_.size(), elements));
  std::transform(half_data_, half_data_ + elements, float_data_.data(),
                 [](std::uint16_t half) { return half_value(half); });
  const ConvWalk walk(layer, data_);
  const std::size_t block_elements = std::size_t{shape.run_count()} * shape.run_elements() * kBlock;
  const auto compute = [&](unsigned, const ConvTile& tile, std::int32_t* values) {
    for (unsigned done = 0; done < tile.count; done += kMr) {
      std::size_t bases[kMr];
      const unsigned part = std::min(kMr, tile.count - done);
      walk.bases(tile.first + done, part, std::size_t{0}, bases);
      float sums[kMr * kBlock];
      kernels_.float_tile({float_data_.data(), bases, part, runs_.data(),
                           static_cast<unsigned>(runs_.size()), shape.run_elements(),
                           weights.floats.data() + tile.block * block_elements, sums});
      // CACC never delivers a negative zero.
      std::transform(sums, sums + std::size_t{part} * kBlock, values + std::size_t{done} * kBlock,
                     [](float sum) { return std::bit_cast<std::int32_t>(sum + 0.0F); });
    }
  };
  tiles_.run(sdp, {walk.positions(), SdpPass::kPositions},
             static_cast<double>(block_elements) / kWideRate, std::ref(compute));
}

}  // namespace nvdla::model
