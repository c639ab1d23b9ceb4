// SPDX-License-Identifier: MIT
//
/// @file
/// Normalisation across channels.
#ifndef NVDLA_OPERATORS_NORMALIZATION_HPP
#define NVDLA_OPERATORS_NORMALIZATION_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "nvdla/types/conversion.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla {

/// x' = input converter(x); y = output converter(x' * lut(sum of x'^2 of the channels around)), in
/// the precision of the input. Channels outside count as 0. fp16 has no converters.
struct Normalization {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::uint32_t window = 5;  ///< channels in a sum: 3, 5, 7 or 9
  /// The table sees x' instead of the sum; the window is not used.
  bool bypass_square_sum = false;
  /// The result of the table is not multiplied by x'.
  bool bypass_multiply = false;
  Converter input = {};   ///< int8: offset of 8 bits; int16: of 16; shift 0..31
  Converter output = {};  ///< int8: offset of 25 bits; shift 0..63
  /// Needed; copied when the layer is added. nvdla_lut.unit is NVDLA_LUT_CDP.
  const nvdla_lut* lut = nullptr;
  /// It says what the elements of an integer result stand for, where the network is to know that;
  /// Lut::apply() sets it.
  std::optional<Quantization> quantization = {};
  /// fp16: NaN of the input reads as zero.
  bool nan_to_zero = false;
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_NORMALIZATION_HPP
