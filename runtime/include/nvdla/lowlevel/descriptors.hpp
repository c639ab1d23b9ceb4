// SPDX-License-Identifier: MIT
//
/// @file
/// Thin help with the layer descriptors of <drm/nvdla_layer.h>, which are the real interface:
/// values that fields have when nothing special is wanted, and numbers that follow from others.
#ifndef NVDLA_LOWLEVEL_DESCRIPTORS_HPP
#define NVDLA_LOWLEVEL_DESCRIPTORS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "nvdla/buffer.hpp"
#include "nvdla/device.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/operators/sdp_operators.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

/// The converter for saturate(round(x * f + z)), halves away from zero, once: f is the multiple of
/// 2^-shift nearest to `factor` (0 < factor < 32767.5) of 15 significant bits, shift at most 63.
///
/// The hardware subtracts before it multiplies, so z is a multiple of f: that nearest to
/// `zero_point`, at most f / 2 beside it. Up to a sixteenth of a step of the result is taken, which
/// all factors up to 1/8 keep; more is refused: requantize_exactly() has no such error.
/// Throws kInvalidArgument for a factor out of range, or a zero point that is refused, saying what
/// it would be.
NVDLA_API Converter requantize(double factor, std::int32_t zero_point = 0);

/// A requantisation in two steps: one operator multiplies, then the converter adds and shifts.
struct Requantization {
  std::int16_t factor = 1;  ///< Factor that the operator multiplies with.
  Converter output = {};    ///< Converter behind the operator.

  /// The last operator of the layer, X1 or X2, which also merges with a bias before it. Refers to
  /// this object, which must live until the layer is added.
  Operator multiply() const { return scale({&factor, 1}); }
};

/// saturate(round(x * f + zero_point)) to the elements of `result`, int8 or int16, halves away from
/// zero, once, for every x of 32 bits: f is the multiple of 2^-22 (int8) or 2^-15 (int16) nearest
/// to `factor`, of at most 15 significant bits. ReLU of the layer comes before the zero point.
/// @code
///   const auto q = nvdla::requantize_exactly(0.7, -3);
///   layer.x1 = q.multiply();
///   layer.output = q.output;
/// @endcode
/// Throws kInvalidArgument for a zero point that the result does not have, and unless
/// 2^-11 (int8) or 2^-4 (int16) <= factor < 32767.5; with smaller ones requantize() is as good.
NVDLA_API Requantization requantize_exactly(double factor, std::int32_t zero_point,
                                            Precision result = Precision::kInt8);

/// Returns a slot for a buffer of that many bytes, aligned to the atom.
NVDLA_API nvdla_slot make_slot(const DeviceInfo& info, std::uint64_t bytes, std::uint32_t access,
                               Memory memory = Memory::kDram);

/// A direct convolution with strides, dilations, batch and post extension of 1, without padding.
NVDLA_API nvdla_conv make_conv(const TensorDesc& input, const WeightsDesc& weights);
/// Output size of a convolution: kernels, height, width. What a stride leaves over at the bottom or
/// on the right takes part in nothing. Throws kInvalidArgument if the kernel does not fit.
NVDLA_API Shape conv_output(const nvdla_conv& conv);
/// Entries of the convolution buffer that one line of the input takes; in Winograd mode of
/// the lines that are left after folding.
NVDLA_API std::uint64_t conv_entries_per_line(const DeviceInfo& info, const nvdla_conv& conv);
/// Fills data_banks and weight_banks: all data and all weights; else, unless the device has
/// DeviceInfo::has_weight_gating, all data and two kernel groups, or all data and one. Throws
/// kNotAvailable if that does not fit: split it, as Network does.
NVDLA_API void choose_banks(const DeviceInfo& info, nvdla_conv& conv);

/// An SDP that passes everything: no operator, converter 1.
NVDLA_API nvdla_sdp make_sdp();

/// A layer of one launch, which waits for none: a convolution with its SDP, or SDP alone.
NVDLA_API nvdla_layer make_layer(const nvdla_conv& conv, const nvdla_sdp& sdp);
/// Returns a layer of one launch of SDP alone, which waits for none.
NVDLA_API nvdla_layer make_layer(const nvdla_sdp& sdp);
/// Makes `layer` wait for an earlier one. Throws kInvalidArgument beyond NVDLA_MAX_WAITS.
NVDLA_API void add_wait(nvdla_layer& layer, std::uint32_t earlier);

}  // namespace nvdla

#endif  // NVDLA_LOWLEVEL_DESCRIPTORS_HPP
