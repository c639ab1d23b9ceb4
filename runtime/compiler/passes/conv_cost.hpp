// SPDX-License-Identifier: MIT
//
// This file predicts what forms of a convolution cost, for passes that choose between them.
#ifndef NVDLA_COMPILER_PASSES_CONV_COST_HPP
#define NVDLA_COMPILER_PASSES_CONV_COST_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <optional>

#include "compiler/graph/nodes.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Returns the cycles that a convolution is predicted to take for one cube of its batch, on a memory
// without latency, with SDP behind it and cut into bands as cut_bands() does it; nothing if no band
// fits the convolution buffer. `conv` has the form that is asked about, and no places.
std::optional<std::uint64_t> predict_conv(const DeviceInfo& info, const nvdla_conv& conv,
                                          const SdpNode& sdp);

// Returns true if `form` is predicted to take fewer cycles than `other`, or if only `form` fits.
bool is_faster(const DeviceInfo& info, const nvdla_conv& form, const nvdla_conv& other,
               const SdpNode& sdp);

// Returns how many kernel lines of a convolution of pixels lie side by side in an atom: as many as
// fit, but not more than there are, or what the layer asks for.
std::uint32_t kernel_lines(const DeviceInfo& info, const ConvNode& part);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_CONV_COST_HPP
