// SPDX-License-Identifier: MIT
//
// A convolution takes some of the convolution buffer, and leaves something there for the next.
#ifndef NVDLA_PACKING_CBUF_HPP
#define NVDLA_PACKING_CBUF_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla::detail {

// The kernels of a convolution.
inline WeightsDesc weights_desc(const nvdla_conv& conv) {
  WeightsDesc desc;
  desc.kernels = conv.kernels;
  desc.channels = conv.channels;
  desc.kernel_height = conv.kernel_height;
  desc.kernel_width = conv.kernel_width;
  desc.precision = static_cast<Precision>(conv.proc_precision);
  return desc;
}

// Lines that are in the buffer at once: with padding in tiles.
std::uint64_t buffer_lines(const nvdla_conv& conv);
// Banks for all lines of the input: the sequencer starts only when they are all there.
std::uint64_t data_banks(const DeviceInfo& info, const nvdla_conv& conv);
// Returns the bytes of a kernel as it is packed.
std::uint64_t kernel_bytes(const DeviceInfo& info, const nvdla_conv& conv);
std::uint64_t bank_bytes(const DeviceInfo& info);
// Banks for that many of its kernels, with the margin for a group that starts inside an entry.
// Kernels of a single group may fill theirs.
std::uint64_t weight_banks(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t kernels);
// Kernels that are worked on together.
std::uint64_t kernel_group(const DeviceInfo& info, const nvdla_conv& conv);

// Banks for data and weights: the mask of compressed weights has the last one.
std::uint64_t usable_banks(const DeviceInfo& info, const nvdla_conv& conv);

// Returns true if the weights are all in the banks that were chosen for them, and may stay there
// for the next convolution.
bool holds_all_weights(const DeviceInfo& info, const nvdla_conv& conv);

// Lets `layer` fetch all that it works on, and the convolution before it keep nothing. False if it
// did so before. The memory must hold what was kept, as it does for bands, cubes and parts of one
// layer.
bool fetch_again(std::span<nvdla_layer> layers, std::size_t layer);

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_CBUF_HPP
