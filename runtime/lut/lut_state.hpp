// SPDX-License-Identifier: MIT
//
// The state of a Lut, and functions that its factories share.
#ifndef NVDLA_LUT_LUT_STATE_HPP
#define NVDLA_LUT_LUT_STATE_HPP

#include "nvdla/lowlevel/lut.hpp"
#include "support/element_range.hpp"

namespace nvdla {

struct Lut::State {
  nvdla_lut table = {};
  LutReport report;
  LutFormat format;
  // Conversions of the layer; all zero in fp16.
  nvdla_convert input = {};  // CDP only
  nvdla_convert output = {};
  std::uint32_t window = 0;  // CDP only
};

namespace detail {

// Throws kInvalidArgument for an invalid precision, scale or zero point.
void check_format(const LutFormat& format);

}  // namespace detail
}  // namespace nvdla

#endif  // NVDLA_LUT_LUT_STATE_HPP
