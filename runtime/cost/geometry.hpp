// SPDX-License-Identifier: MIT
//
// Sizes of layers, as far as their time depends on them: plain numbers that registers and
// descriptors both can fill.
#ifndef NVDLA_COST_GEOMETRY_HPP
#define NVDLA_COST_GEOMETRY_HPP

#include <cstdint>
#include <vector>

namespace nvdla::cost {

// The memory interface that a client uses.
enum class Interface : std::uint8_t { kPrimary, kSecondary };

// `ConvSizes` has what registers hold of a convolution as it is.
struct ConvSizes {
  std::uint32_t width = 0, height = 0, channels = 0, batches = 1;  // what CDMA fetches
  std::uint32_t x_offset = 0;
  bool surface_packed = false;
  std::uint32_t kernels = 0, kernel_width = 0, kernel_height = 0;
  std::uint64_t weight_bytes = 0;
  bool compressed = false;
  std::uint64_t mask_bytes = 0;  // of compressed weights
  std::uint32_t data_banks = 0, weight_banks = 0;
  std::uint32_t weight_channels = 0;  // of a kernel's line, as CSC counts them
  bool image = false, winograd = false;
  std::uint32_t post_lines = 1;  // lines of an image that one step takes
  std::uint32_t out_width = 0, out_height = 0;

  // Taps of a kernel in x: an image has them among its channels.
  std::uint32_t taps_x() const noexcept {
    return image ? weight_channels / channels : kernel_width;
  }
};

struct ConvGeometry : ConvSizes {
  // An image has one or two planes with so many bytes for a pixel; a tensor has none.
  std::uint32_t planes = 0, plane_bytes[2] = {};
  std::uint32_t element_bytes = 1;
  std::uint32_t grain = 1;  // lines that are fetched at once
  Interface data = Interface::kPrimary;
  std::uint64_t data_entries = 0;  // of the convolution buffer, of all the input
  Interface weights = Interface::kPrimary;
  std::uint32_t winograd_channels = 0;  // CSC's, strides folded in
  // False where earlier layers kept it in the convolution buffer.
  bool fetches_data = true, fetches_weights = true;
};

// An operand that SDP reads.
struct OperandGeometry {
  bool read = false;
  bool both = false;  // for ALU and multiplier
  bool two_bytes = false;
  bool per_element = false;
  Interface interface = Interface::kPrimary;
};

struct SdpGeometry {
  std::uint32_t width = 0, height = 0, channels = 0, batches = 1;
  std::uint32_t element_bytes = 1, in_bytes = 1, out_bytes = 1;
  bool reads_cube = false;  // false on the fly of the convolution
  Interface source = Interface::kPrimary, destination = Interface::kPrimary;
  OperandGeometry operands[3];  // X1, X2, Y
  bool x1 = false, x2 = false, y = false;
  bool writes_cube = true;  // false where PDP takes the results, or a comparison leaves none
};

// `PdpSizes` has what registers hold of a pooling as it is.
struct PdpSizes {
  std::uint32_t width = 0, height = 0, channels = 0;
  std::uint32_t out_width = 0, out_height = 0;  // of all bands together
  std::uint32_t kernel_width = 1, kernel_height = 1, stride_width = 1, stride_height = 1;
  std::uint32_t left = 0, top = 0;
};

struct PdpGeometry : PdpSizes {
  std::uint32_t element_bytes = 1;
  bool reads_cube = false;  // false on the fly of SDP
  Interface source = Interface::kPrimary, destination = Interface::kPrimary;
  std::vector<std::uint32_t> bands = {};  // columns that each band reads; empty for one band
  bool split = false;                     // into several bands
};

struct CdpGeometry {
  std::uint32_t width = 0, height = 0, channels = 0;
  std::uint32_t element_bytes = 1;
  Interface source = Interface::kPrimary, destination = Interface::kPrimary;
};

enum class RubikMode : std::uint8_t { kContract, kSplit, kMerge };

struct RubikGeometry {
  RubikMode mode = RubikMode::kContract;
  std::uint64_t width = 0, height = 0, out_channels = 0;
  std::uint64_t stride_width = 1, stride_height = 1;
  std::uint32_t element_bytes = 1;
  Interface source = Interface::kPrimary, destination = Interface::kPrimary;
};

}  // namespace nvdla::cost

#endif  // NVDLA_COST_GEOMETRY_HPP
