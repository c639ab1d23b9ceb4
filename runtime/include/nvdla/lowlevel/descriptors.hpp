// SPDX-License-Identifier: MIT
//
/// @file
/// Thin help with the layer descriptors of <drm/nvdla_layer.h>, which are the real interface:
/// values that fields have when nothing special is wanted, and numbers that follow from others.
#ifndef NVDLA_LOWLEVEL_DESCRIPTORS_HPP
#define NVDLA_LOWLEVEL_DESCRIPTORS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {

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
