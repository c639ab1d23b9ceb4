// SPDX-License-Identifier: MIT
//
// The positions of a direct convolution in raster order: where in the activations of a batch the
// kernel lies for each.
#ifndef NVDLA_MODEL_CONV_WALK_HPP
#define NVDLA_MODEL_CONV_WALK_HPP

#include <cstddef>
#include <cstdint>

#include "model/conv_data.hpp"
#include "model/conv_layer.hpp"
#include "model/sdp_pass.hpp"

namespace nvdla::model {

class ConvWalk {
 public:
  ConvWalk(const ConvLayer& layer, const ConvData& data) noexcept
      : width_(layer.out_width),
        height_(layer.out_height),
        step_x_(std::size_t{data.stride_x()} * data.elements()),
        step_y_(std::size_t{data.stride_y()} * data.width() * data.elements()) {}

  std::uint32_t positions() const noexcept { return width_ * height_; }
  // From the `first` position on, in bytes if an element has one.
  TileLines lines(std::uint32_t first) const noexcept {
    return {first % width_, width_, step_x_, step_y_};
  }
  // Of a tile that goes to SDP.
  unsigned tile_positions(const Kernels& kernels) const noexcept {
    return kernels.tile_positions == nullptr ? SdpPass::kPositions
                                             : kernels.tile_positions(lines(0), positions());
  }
  // In elements.
  std::size_t base(std::uint32_t position) const noexcept {
    return position / width_ * step_y_ + position % width_ * step_x_;
  }
  // Of `count` positions from the `first` on; from `origin`, which is a pointer or a number.
  template <typename Base>
  void bases(std::uint32_t first, unsigned count, Base origin, Base* to) const noexcept {
    std::uint32_t x = first % width_;
    Base line = origin + first / width_ * step_y_;
    for (unsigned i = 0; i < count; ++i) {
      to[i] = line + x * step_x_;
      if (++x == width_) {
        x = 0;
        line += step_y_;
      }
    }
  }

 private:
  std::uint32_t width_, height_;
  std::size_t step_x_, step_y_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_WALK_HPP
