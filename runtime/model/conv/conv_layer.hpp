// SPDX-License-Identifier: MIT
//
// A convolution as the registers of CDMA, CSC, CMAC and CACC describe it, what earlier layers left
// in the convolution buffer, and whether hardware would finish the layer.
#ifndef NVDLA_MODEL_CONV_CONV_LAYER_HPP
#define NVDLA_MODEL_CONV_CONV_LAYER_HPP

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cost/geometry.hpp"
#include "firmware/nvdla_hw.h"
#include "model/conv/cdma_pixel.hpp"
#include "model/conv/weight_ring.hpp"
#include "model/core/bus.hpp"
#include "model/core/options.hpp"
#include "model/core/register_file.hpp"
#include "model/sdp/sdp_layer.hpp"

namespace nvdla::model {

// `ConvLayer` has the values of the registers. Several units hold copies of some; the rest of the
// model reads one copy after the check has found them equal.
struct ConvLayer : cost::ConvSizes {
  // CDMA
  Precision in = Precision::kInt8, proc = Precision::kInt8;
  bool data_reuse = false, weight_reuse = false, keep_data = false, keep_weights = false;
  std::uint64_t batch_stride = 0;
  Surface data;
  bool line_packed = false;
  std::uint32_t entries = 0;  // of a line in the convolution buffer
  std::uint32_t grain = 0;
  std::uint32_t kernel_bytes = 0;
  Ram weight_ram = Ram::kPrimary;
  std::uint64_t weight_address = 0, mask_address = 0, group_address = 0;
  InputConverter converter;
  bool flush_nan = false;
  // All borders of CDMA. It adds the left and right one of images and all of Winograd, and ignores
  // the others.
  std::uint32_t fetch_left = 0, fetch_top = 0;
  std::uint32_t pad_right = 0, pad_bottom = 0;
  std::int16_t fetch_pad_value = 0;
  // Image input. PIXEL_Y_OFFSET, packed bits and the grain have no effect there.
  std::uint32_t pixel_code = 0;
  bool pixel_mapping = false;
  Surface second_plane;
  // Winograd: strides that become channels, and the size of the folded cube.
  std::uint32_t fold_x = 1, fold_y = 1;
  std::uint32_t fetch_width_ext = 0, fetch_height_ext = 0;
  // CSC
  std::uint32_t csc_height = 0;  // lines that the layer processes
  std::uint32_t csc_width = 0, csc_channels = 0;
  unsigned pra_truncate = 0;  // shift after Winograd's transform of the input
  std::uint32_t atomics = 0, release = 0;
  std::uint32_t stride_width = 1, stride_height = 1, dilation_width = 1, dilation_height = 1;
  std::uint32_t pad_left = 0, pad_top = 0;
  std::int16_t pad_value = 0;
  // CACC
  unsigned clip = 0;

  std::string mismatch;  // between two units' copies; empty if all agree

  // Return the positions of a line and their channels in the convolution buffer.
  std::uint32_t buffer_width() const noexcept {
    return winograd ? csc_width : image ? fetch_left + width + pad_right : width;
  }
  std::uint32_t buffer_channels() const noexcept { return winograd ? csc_channels : channels; }
  // Returns the lines that the layer adds to the convolution buffer if it fetches.
  std::uint32_t fetched_lines() const noexcept { return winograd ? fetch_height_ext : height; }
  // Return the padded positions that the outputs cover; not for Winograd.
  std::uint64_t reach_x() const noexcept {
    return std::uint64_t{out_width - 1} * stride_width + (taps_x() - 1) * dilation_width + 1;
  }
  std::uint64_t reach_y() const noexcept {
    return std::uint64_t{out_height - 1} * stride_height + (kernel_height - 1) * dilation_height +
           1;
  }
  // Return how many of these lie behind the input. CSC pads everything that is not in the buffer,
  // as far as the outputs reach; it has no register for a right or a bottom border.
  std::uint64_t behind_x() const noexcept { return beyond(reach_x(), pad_left + width); }
  std::uint64_t behind_y() const noexcept { return beyond(reach_y(), pad_top + csc_height); }
  // Returns the number of products of one output.
  std::uint64_t products() const noexcept {
    return std::uint64_t{kernel_width} * kernel_height * weight_channels;
  }
  // Returns the greatest magnitude of an integer that goes to SDP.
  std::uint64_t largest_sum() const noexcept {
    constexpr std::uint64_t kAny = std::uint64_t{1} << 31, kProduct = 128 * 128;
    const bool bytes = proc == Precision::kInt8 && !winograd;
    return bytes ? std::min(kAny, products() * kProduct) : kAny;
  }

 private:
  static std::uint64_t beyond(std::uint64_t reach, std::uint64_t end) noexcept {
    return reach > end ? reach - end : 0;
  }
};

// The state of the convolution buffer after a layer.
struct CbufState {
  bool winograd = false;
  bool pixel = false;
  std::uint32_t data_banks = 16, weight_banks = 16;

  std::uint32_t lines = 0;  // in the data banks, oldest first
  // The lines that CSC counts as kept, and frees when a layer starts that does not reuse them. If a
  // layer works on fewer lines than were kept for it, CSC counts fewer than there are.
  std::uint32_t kept_lines = 0;
  bool all_lines_kept = false;  // SKIP_DATA_RLS: a layer that reuses them fetches nothing
  Precision proc = Precision::kInt8;
  std::uint32_t width = 0, channels = 0, entries = 0, batches = 1;
  // [batch][line][x][channel] in 8 or 16 bits.
  std::vector<std::byte> data;

  WeightRing weights;
  // The weights of the last layer.
  std::uint32_t kernels = 0, kernel_bytes = 0;
  std::uint64_t weight_bytes = 0, wmb_bytes = 0;
  bool compressed = false;
};

// Plans what the layer fetches into the convolution buffer, and what it finds there.
struct ConvFetch {
  bool data = true;
  bool weights = true;
  std::uint32_t freed_lines = 0;  // when the layer starts
  std::uint32_t held_lines = 0;   // lines that precede the fetched ones
  std::uint32_t kept_lines = 0;   // those among them that were kept for the layer
  std::uint32_t lines = 0;        // in the buffer when CSC works
};

// The time at which CDMA was enabled for a convolution.
struct ConvStart {
  bool fetch_first = true;  // CDMA was enabled before CSC
  bool ahead = false;       // while the previous convolution was in the pipeline
};

ConvLayer read_conv(const RegisterFile& registers);
ConvFetch plan_fetch(const ConvLayer& layer, const CbufState& cbuf);

// Returns what the layer's time depends on, for a layer that fetches all its data and weights.
cost::ConvGeometry geometry(const ConvLayer& layer);

// Returns why the layer never ends on hardware, or is not modelled yet; empty if it ends. `sdp` is
// the layer that takes the results. The reference model does not stop at some faults:
// Quirks::kCmodel.
std::string conv_fault(const nvdla_hw& hw, Quirks quirks, const ConvLayer& layer,
                       const CbufState& cbuf, const SdpLayer& sdp);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_LAYER_HPP
