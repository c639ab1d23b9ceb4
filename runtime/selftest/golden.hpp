// SPDX-License-Identifier: MIT
//
// Golden layers that are built in: each unit in each precision of each configuration, what is
// expected computed by tests/golden from the documented arithmetic.
#ifndef NVDLA_SELFTEST_GOLDEN_HPP
#define NVDLA_SELFTEST_GOLDEN_HPP

#include <cstdint>
#include <span>
#include <string_view>

#include "selftest/work.hpp"

namespace nvdla::selftest {

struct Golden {
  std::string_view configuration;
  std::string_view unit;  // "conv", "sdp", "pdp", "cdp", "bdma", "rubik"
  std::string_view name;  // "int8", "fp16_average"
  std::string_view what;
  std::span<const std::span<const std::uint8_t>> inputs;  // of the first slots
  std::span<const std::uint8_t> output;                   // of the slot behind them
  void (*describe)(nvdla_layer& layer, nvdla_lut& lut, nvdla_transfer& transfer);
  bool has_lut;
  bool has_transfer;
};

std::span<const Golden> goldens() noexcept;

// The layer as a device runs it; the last region is the output, as it is before.
Work work_of(const Golden& golden);

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_GOLDEN_HPP
