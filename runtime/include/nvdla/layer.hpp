// SPDX-License-Identifier: MIT
//
// Thin help with the layer descriptors of <drm/nvdla_layer.h>, which are the real interface: values
// that fields have when nothing special is wanted, and numbers that follow from others.
#ifndef NVDLA_LAYER_HPP
#define NVDLA_LAYER_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "nvdla/buffer.hpp"
#include "nvdla/device.hpp"
#include "nvdla/export.hpp"
#include "nvdla/operators.hpp"
#include "nvdla/tensor.hpp"
#include "nvdla/weights.hpp"

namespace nvdla {

// The converter nearest to multiplication by `factor` (0 < factor < 32768): scale of 15 bits.
// Then adds `zero_point` as far as an offset before the multiplication can.
// Throws kInvalidArgument for a factor out of range.
NVDLA_API Converter requantize(double factor, std::int32_t zero_point = 0);

// A slot for a buffer of that many bytes. Alignment is the atom's.
NVDLA_API nvdla_slot make_slot(const DeviceInfo& info, std::uint64_t bytes, std::uint32_t access,
                               Memory memory = Memory::kDram);

// A direct convolution with strides, dilations, batch and post extension of 1, without padding.
NVDLA_API nvdla_conv make_conv(const TensorDesc& input, const WeightsDesc& weights);
// Output size of a convolution: kernels, height, width. What a stride leaves over at the bottom or
// on the right takes part in nothing. Throws kInvalidArgument if the kernel does not fit.
NVDLA_API Shape conv_output(const nvdla_conv& conv);
// Entries of the convolution buffer that one line of the input takes; in Winograd mode of
// the lines that are left after folding.
NVDLA_API std::uint64_t conv_entries_per_line(const DeviceInfo& info, const nvdla_conv& conv);
// Fills data_banks and weight_banks: all data and all weights; else all data and two kernel
// groups; else all data and one. Throws kNotAvailable if the input does not fit: split it,
// as Network does.
NVDLA_API void choose_banks(const DeviceInfo& info, nvdla_conv& conv);

// An SDP that passes everything: no operator, converter 1.
NVDLA_API nvdla_sdp make_sdp();

NVDLA_API nvdla_layer make_layer(const nvdla_conv& conv, const nvdla_sdp& sdp);
NVDLA_API nvdla_layer make_layer(const nvdla_sdp& sdp);
// Makes `layer` wait for an earlier one. Throws kInvalidArgument beyond NVDLA_MAX_WAITS.
NVDLA_API void add_wait(nvdla_layer& layer, std::uint32_t earlier);

}  // namespace nvdla

#endif  // NVDLA_LAYER_HPP
