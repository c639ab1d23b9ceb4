// SPDX-License-Identifier: MIT
//
// The steps, in the order in which they run: from a register that can be read to layers that
// leave nothing behind.
#ifndef NVDLA_SELFTEST_STEPS_HPP
#define NVDLA_SELFTEST_STEPS_HPP

#include <chrono>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/device.hpp"
#include "selftest/bench.hpp"
#include "selftest/result.hpp"

namespace nvdla::selftest {

struct Step {
  std::string_view name;
  std::string_view checks;
  bool registers;  // it reaches for them
  Result (*run)(Bench& bench);
};

// All but "identify", which finds out what the others need.
std::span<const Step> steps() noexcept;

inline constexpr std::string_view kIdentify = "identify";
inline constexpr std::string_view kIdentifyChecks =
    "the version register, memory atom and interfaces are those of the configuration";

struct Identified {
  Result result;
  const nvdla_hw* hw = nullptr;  // none: nothing else can be tested
};

// `named`: what the device is said to be, nullptr if nobody says.
Identified identify(detail::BareDevice& device, const nvdla_hw* named,
                    std::chrono::nanoseconds limit);
Identified identify(const Device& device, std::chrono::nanoseconds limit);

Result check_reset_values(Bench& bench);
Result check_write_masks(Bench& bench);
Result check_groups(Bench& bench);
Result check_that_it_resets(Bench& bench);
Result check_interrupt(Bench& bench);
Result check_copy(Bench& bench);
Result check_address(Bench& bench);
Result check_conv(Bench& bench);
Result check_sdp(Bench& bench);
Result check_pdp(Bench& bench);
Result check_cdp(Bench& bench);
Result check_bdma(Bench& bench);
Result check_rubik(Bench& bench);
Result check_left_over(Bench& bench);
Result check_gating(Bench& bench);
Result check_timing(Bench& bench);

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_STEPS_HPP
