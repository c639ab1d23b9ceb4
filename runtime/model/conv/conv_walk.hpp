// SPDX-License-Identifier: MIT
//
// `ConvWalk` lists the positions of a direct convolution in raster order, with the place of the
// kernel in the activations of a batch for each.
#ifndef NVDLA_MODEL_CONV_CONV_WALK_HPP
#define NVDLA_MODEL_CONV_CONV_WALK_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/conv/conv_data.hpp"
#include "model/conv/conv_layer.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::model {

// A range of padded lines.
struct TileReach {
  std::uint32_t first, end;
};

class ConvWalk {
 public:
  ConvWalk(const ConvLayer& layer, const ConvData& data) noexcept
      : width_(layer.out_width),
        height_(layer.out_height),
        stride_y_(data.stride_height()),
        kernel_lines_((layer.kernel_height - 1) * layer.dilation_height + 1 + behind(data)),
        step_x_(std::size_t{data.stride_width()} * data.elements()),
        step_y_(std::size_t{data.stride_height()} * data.width() * data.elements()) {}

  std::uint32_t positions() const noexcept { return width_ * height_; }
  // Returns the lines from the `first` position on, in elements.
  TileLines lines(std::uint32_t first) const noexcept {
    return {first % width_, width_, step_x_, step_y_};
  }
  // Returns the lines that `count` positions from the `first` on read, including what a step may
  // read behind them.
  TileReach reach(std::uint32_t first, unsigned count) const noexcept {
    return {first / width_ * stride_y_, (first + count - 1) / width_ * stride_y_ + kernel_lines_};
  }
  // Returns the positions of a tile that goes to SDP.
  unsigned tile_positions(const Kernels& kernels) const noexcept {
    return kernels.tile_positions == nullptr ? SdpPass::kPositions
                                             : kernels.tile_positions(lines(0), positions());
  }
  // Returns the offset of a position, in elements.
  std::size_t base(std::uint32_t position) const noexcept {
    return position / width_ * step_y_ + position % width_ * step_x_;
  }
  // Computes the places of `count` positions from the `first` on, relative to `origin`, which is a
  // pointer or a number.
  template <typename Base>
  void bases(std::uint32_t first, unsigned count, Base origin, Base* to) const noexcept {
    std::uint32_t x = first % width_;
    Base line = origin + first / width_ * step_y_;
    for (unsigned done = 0; done < count; x = 0, line += step_y_) {
      const unsigned together = std::min(count - done, width_ - x);
      for (unsigned i = 0; i < together; ++i) to[done + i] = line + (x + i) * step_x_;
      done += together;
    }
  }

 private:
  // Returns how many lines a step may reach beyond the line that it begins in.
  static std::uint32_t behind(const ConvData& data) noexcept {
    const std::size_t line = data.width() * data.pixel_bytes();
    return static_cast<std::uint32_t>((kMostStep + line - 1) / line);
  }

  std::uint32_t width_, height_, stride_y_, kernel_lines_;
  std::size_t step_x_, step_y_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_WALK_HPP
