// SPDX-License-Identifier: MIT
//
// A slow, obvious convolution and SDP for integers, written from the description of the hardware
// and sharing nothing with the model: plain tensors, 128-bit intermediates, one element at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "common/integers.hpp"

namespace nvdla::test {

enum class Source : std::uint8_t { kRegister, kPerChannel, kPerElement };

// ALU or multiplier of BS or BN. Operands in memory are [y][x][lane] or [lane].
struct RefPart {
  bool active = false;
  Source source = Source::kRegister;
  std::int32_t value = 0;
  std::vector<std::int32_t> values;
};

struct RefX {
  bool active = false;
  unsigned algorithm = 2;  // 0 max, 1 min, 2 sum
  RefPart alu, mul;
  unsigned alu_shift = 0, mul_shift = 0;
  bool relu = false, prelu = false;
  bool two_bytes = true;  // of operands in memory
};

// A convolution followed by SDP, or SDP alone (kernels == channels, no weights).
struct RefLayer {
  bool convolution = true;
  bool wide_input = false;   // 16 bits in
  bool wide_proc = false;    // 16 bits processed
  bool wide_output = false;  // 16 bits out
  bool first_generation = true;
  unsigned width = 1, height = 1, channels = 1;
  unsigned kernels = 1, kernel_width = 1, kernel_height = 1;
  unsigned stride_width = 1, stride_height = 1, dilation_width = 1, dilation_height = 1;
  unsigned left = 0, right = 0, top = 0, bottom = 0;
  int pad_value = 0;
  unsigned clip = 0;
  std::vector<std::int32_t> input;    // [y][x][channel]
  std::vector<std::int32_t> weights;  // [kernel][r][s][channel]
  RefX x[2];
  std::int32_t offset = 0;
  std::int32_t scale = 1;
  unsigned shift = 0;
  unsigned lanes = 1;  // kernels rounded up to a processing atom

  unsigned out_width() const;
  unsigned out_height() const;
};

struct RefResult {
  std::vector<std::int32_t> output;  // [y][x][lane]
  std::uint64_t cacc_saturated = 0;
  std::uint64_t sdp_saturated = 0;
};

RefResult reference(const RefLayer& layer);

// Whether SDP's converter counts a product that is shifted to 17 bits as saturated.
bool counts_as_saturated(bool first_generation, Wide product, unsigned shift);

}  // namespace nvdla::test
