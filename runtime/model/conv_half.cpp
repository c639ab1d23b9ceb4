// SPDX-License-Identifier: MIT
//
// Direct convolution in fp16. Sums are rounded after each step of the multipliers, so the order of
// steps is part of the result: block of channels, kernel row, kernel column.
#include <algorithm>
#include <cstring>
#include <functional>

#include "model/cacc_half.hpp"
#include "model/conv_pass.hpp"

namespace nvdla::model {
namespace {

// Activations that lie together and become lanes of a step.
struct Segment {
  std::size_t offset;  // in elements from the position's first one
  std::uint32_t lane, count;
};

struct Step {
  std::vector<Segment> segments;
  std::uint32_t lanes = 0;
};

std::vector<Step> plan_steps(const ConvLayer& layer, const ConvShape& shape, const ConvData& data,
                             std::uint32_t atomic_c) {
  const std::size_t line = std::size_t{data.width()} * data.elements();
  std::vector<Step> steps;
  if (shape.post_lines > 1) {
    // The lines of an extension are lanes of one step, what is missing of the last one is absent.
    for (std::uint32_t r0 = 0; r0 < shape.kernel_height; r0 += shape.post_lines) {
      Step& step = steps.emplace_back();
      const std::uint32_t r1 = std::min(shape.kernel_height, r0 + shape.post_lines);
      for (std::uint32_t r = r0; r < r1; ++r) {
        step.segments.push_back({r * line, step.lanes, shape.channels});
        step.lanes += shape.channels;
      }
    }
    return steps;
  }
  for (std::uint32_t c = 0; c < shape.channels; c += atomic_c)
    for (std::uint32_t r = 0; r < shape.kernel_height; ++r)
      for (std::uint32_t s = 0; s < shape.kernel_width; ++s) {
        Step& step = steps.emplace_back();
        step.lanes = std::min(atomic_c, shape.channels - c);
        step.segments.push_back(
            {r * layer.dilation_y * line + std::size_t{s} * layer.dilation_x * data.elements() + c,
             0, step.lanes});
      }
  return steps;
}

}  // namespace

void ConvPass::run_half(const ConvLayer& layer, const ConvShape& shape,
                        const PackedWeights& weights, std::uint32_t batch, SdpPass& sdp) {
  const std::vector<Step> steps = plan_steps(layer, shape, data_, hw_.atomic_c);
  const std::byte* const data = data_.batch(batch);
  const std::uint32_t positions = layer.out_width * layer.out_height;
  const std::size_t step_x = std::size_t{layer.stride_x} * data_.elements();
  const std::size_t step_y = std::size_t{layer.stride_y} * data_.width() * data_.elements();
  const std::size_t kernel_elements = steps.size() * kLanes;
  for (Scratch& scratch : scratch_)
    scratch.lanes.resize(std::max(scratch.lanes.size(), kernel_elements));
  const auto compute = [&](unsigned thread, const ConvTile& tile, std::int32_t* values) {
    std::uint16_t* const lanes = scratch_[thread].lanes.data();
    const std::uint32_t kernels = std::min(kBlock, shape.kernels - tile.block * kBlock);
    HalfProducts products;
    std::fill_n(values, tile.count * kBlock, 0);
    for (unsigned i = 0; i < tile.count; ++i) {
      const std::uint32_t position = tile.first + i;
      const std::size_t base =
          position / layer.out_width * step_y + position % layer.out_width * step_x;
      std::uint16_t* to = lanes;
      for (const Step& step : steps) {
        for (const Segment& segment : step.segments)
          std::memcpy(to + segment.lane, data + (base + segment.offset) * 2,
                      std::size_t{segment.count} * 2);
        to += kLanes;
      }
      for (std::uint32_t k = 0; k < kernels; ++k) {
        HalfAccumulator sum;
        const std::uint16_t* kernel =
            weights.half.data() + (std::size_t{tile.block} * kBlock + k) * kernel_elements;
        for (std::size_t step = 0; step < steps.size(); ++step) {
          kernels_.half({lanes + step * kLanes, kernel + step * kLanes, steps[step].lanes, false},
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
  tiles_.run(sdp, positions, ConvTiles::Order::kPositionsFirst,
             static_cast<double>(SdpPass::kPositions * kBlock * kernel_elements) / kHalfRate,
             std::ref(compute));
}

}  // namespace nvdla::model
