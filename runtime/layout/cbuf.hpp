// SPDX-License-Identifier: MIT
//
// How much of the convolution buffer a convolution takes, and how one that takes too much is cut
// into bands of lines.
#ifndef NVDLA_LAYOUT_CBUF_HPP
#define NVDLA_LAYOUT_CBUF_HPP

#include <cstdint>
#include <vector>

#include "nvdla/layer.hpp"

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

// Banks for all lines of the input: the sequencer starts only when they are all there.
std::uint64_t data_banks(const DeviceInfo& info, const nvdla_conv& conv);
// Banks for that many kernels, with the margin for a group that starts inside an entry.
std::uint64_t weight_banks(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t kernels);
// Kernels that are worked on together.
std::uint64_t kernel_group(const DeviceInfo& info, const nvdla_conv& conv);

// Banks for data and weights: the mask of compressed weights has the last one.
std::uint64_t usable_banks(const DeviceInfo& info, const nvdla_conv& conv);

// Whether the weights are all in the banks that were chosen for them, and may stay there for the
// next convolution.
bool holds_all_weights(const DeviceInfo& info, const nvdla_conv& conv);

// The most kernels, up to a kernel group, that fit beside a band of the input; 0 if not even one.
std::uint32_t kernels_that_fit(const DeviceInfo& info, const nvdla_conv& conv);

// Some lines of the output and what makes them.
struct Band {
  nvdla_conv conv = {};           // height and vertical paddings of the band, banks chosen
  std::uint32_t input_line = 0;   // first line read
  std::uint32_t output_line = 0;  // first line written
  std::uint32_t output_lines = 0;
};

// The fewest bands, from the top; one where everything fits. Bands have the same banks: where all
// weights fit beside the data, they stay in the buffer from band to band; with `keep_lines` the
// lines that two bands have in common do, too. Throws kNotAvailable if the lines of a single output
// line do not fit.
std::vector<Band> split_lines(const DeviceInfo& info, const nvdla_conv& conv, bool keep_lines);

}  // namespace nvdla::detail

#endif  // NVDLA_LAYOUT_CBUF_HPP
