// SPDX-License-Identifier: MIT
//
// Direct convolution in fp16, by the steps of the multipliers.
#include <algorithm>
#include <functional>

#include "model/conv/cacc_half.hpp"
#include "model/conv/conv_pass.hpp"
#include "model/conv/conv_walk.hpp"
#include "model/conv/half_operand.hpp"

namespace nvdla::model {
// Kernel by kernel, since the first NaN of a step decides.
void ConvPass::run_half_with_nans(const ConvLayer& layer, const ConvShape& shape,
                                  const PackedWeights& weights, SdpPass& sdp) {
  half_steps_.plan(layer, shape, data_, hw_.atomic_c);
  const HalfSteps& steps = half_steps_;
  const ConvWalk walk(layer, data_);
  const std::size_t kernel_elements = steps.size() * kLanes;
  for (Scratch& scratch : scratch_)
    scratch.lanes.resize(std::max(scratch.lanes.size(), kernel_elements));
  const auto compute = [&](unsigned thread, const ConvTile& tile, std::int32_t* values) {
    std::uint16_t* const lanes = scratch_[thread].lanes.data();
    const std::uint32_t kernels = std::min(kBlock, shape.kernels - tile.block * kBlock);
    HalfProducts products;
    std::fill_n(values, tile.count * kBlock, 0);
    for (unsigned i = 0; i < tile.count; ++i) {
      for (std::size_t step = 0; step < steps.size(); ++step)
        for (const HalfSteps::Segment& segment : steps.segments(step))
          std::copy_n(half_data_ + walk.base(tile.first + i) + segment.offset, segment.count,
                      lanes + step * kLanes + segment.lane);
      for (std::uint32_t k = 0; k < kernels; ++k) {
        HalfAccumulator sum;
        const std::uint16_t* kernel =
            weights.half.data() + (std::size_t{tile.block} * kBlock + k) * kernel_elements;
        for (std::size_t step = 0; step < steps.size(); ++step) {
          kernels_.half({lanes + step * kLanes, kernel + step * kLanes, steps.lanes(step), false},
                        products);
          if (products.nan != 0) {
            sum.add_nan(products.nan);
            break;
          }
          sum.add(products.sum, products.exponent);
        }
        values[std::size_t{i} * kBlock + k] = static_cast<std::int32_t>(sum.deliver());
      }
    }
  };
  tiles_.run(sdp, {walk.positions(), SdpPass::kPositions},
             static_cast<double>(kBlock * kernel_elements) / kNanRate, std::ref(compute));
}

void ConvPass::run_half(const ConvLayer& layer, const ConvShape& shape,
                        const PackedWeights& weights, std::uint32_t batch, SdpPass& sdp) {
  const std::size_t elements = data_.batch_bytes() / 2;
  half_data_ = reinterpret_cast<const std::uint16_t*>(data_.batch(batch));
  if (weights.specials.nan != 0 || fp::count_specials({half_data_, elements}).nan != 0)
    return run_half_with_nans(layer, shape, weights, sdp);
  if (shape.mac == Mac::kHalfFast) return run_half_fast(layer, shape, weights, sdp);

  for (std::vector<std::int16_t>* plane : {&half_mantissas_, &half_groups_})
    plane->resize(std::max(plane->size(), elements));
  for (std::size_t i = 0; i < elements; ++i) {
    const HalfOperand operand = half_operand(half_data_[i]);
    half_mantissas_[i] = operand.mantissa;
    half_groups_[i] = operand.group;
  }
  half_steps_.plan(layer, shape, data_, hw_.atomic_c);
  const HalfSteps& steps = half_steps_;
  const ConvWalk walk(layer, data_);
  const std::size_t block_elements = steps.size() * kLanes * kBlock;
  for (Scratch& scratch : scratch_) scratch.half.resize(kMr * kLanes * 2);
  const auto compute = [&](unsigned thread, const ConvTile& tile, std::int32_t* values) {
    std::int16_t* const mantissas = scratch_[thread].half.data();
    std::int16_t* const groups = mantissas + std::size_t{kMr} * kLanes;
    for (unsigned done = 0; done < tile.count; done += kMr) {
      const unsigned part = std::min(kMr, tile.count - done);
      HalfSums sums[kMr];
      for (HalfSums& sum : sums) clear(sum);
      const std::size_t weight = tile.block * block_elements;
      for (std::size_t step = 0; step < steps.size(); ++step) {
        for (unsigned i = 0; i < part; ++i)
          for (const HalfSteps::Segment& segment : steps.segments(step)) {
            const std::size_t from = walk.base(tile.first + done + i) + segment.offset;
            const std::size_t to = std::size_t{i} * kLanes + segment.lane;
            std::copy_n(half_mantissas_.data() + from, segment.count, mantissas + to);
            std::copy_n(half_groups_.data() + from, segment.count, groups + to);
          }
        const std::size_t at = weight + step * kLanes * kBlock;
        kernels_.half_tile({mantissas, groups, part, steps.lanes(step),
                            weights.half_mantissas.data() + at, weights.half_groups.data() + at,
                            sums});
      }
      for (unsigned i = 0; i < part; ++i)
        for (unsigned k = 0; k < kBlock; ++k)
          values[std::size_t{done + i} * kBlock + k] =
              static_cast<std::int32_t>(HalfAccumulator(sums[i], k).deliver());
    }
  };
  tiles_.run(sdp, {walk.positions(), SdpPass::kPositions},
             static_cast<double>(block_elements) / kHalfRate, std::ref(compute));
}

}  // namespace nvdla::model
