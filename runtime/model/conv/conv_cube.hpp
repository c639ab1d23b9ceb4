// SPDX-License-Identifier: MIT
//
// `ConvCube` is a feature cube in memory as CDMA reads it: whole atoms of each surface, including
// the lanes beyond the last channel. Of a packed cube CDMA reads grains, which are several lines in
// one run, and ignores the line stride inside a grain.
#ifndef NVDLA_MODEL_CONV_CONV_CUBE_HPP
#define NVDLA_MODEL_CONV_CONV_CUBE_HPP

#include <algorithm>
#include <cstdint>

#include "firmware/nvdla_hw.h"
#include "model/conv/conv_layer.hpp"
#include "support/integers.hpp"

namespace nvdla::model {

struct ConvCube {
  std::uint64_t atom, surfaces, surface_stride, line_stride;
  std::uint64_t run_line;  // bytes of a line of a surface
  std::uint32_t height, grain;

  ConvCube(const nvdla_hw& hw, const ConvLayer& layer) noexcept
      : atom(hw.atom),
        surfaces(arith::ceil_div(std::uint64_t{layer.channels} * precision_bytes(layer.proc),
                                 std::uint64_t{hw.atom})),
        surface_stride(layer.width == 1 && layer.height == 1 && layer.surface_packed
                           ? atom
                           : layer.data.surface),
        line_stride(layer.data.line),
        run_line(layer.width * atom),
        height(layer.height),
        grain(layer.line_packed && !layer.winograd ? std::min(layer.grain, height) : 1) {}

  // Returns the offset of a line from the first byte of the cube.
  std::uint64_t line(std::uint64_t surface, std::uint32_t y) const noexcept {
    return surface * surface_stride + (y - y % grain) * line_stride + y % grain * run_line;
  }
  std::uint64_t extent() const noexcept {
    return (surfaces - 1) * surface_stride + (height - 1) * std::max(line_stride, run_line) +
           run_line;
  }
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_CUBE_HPP
