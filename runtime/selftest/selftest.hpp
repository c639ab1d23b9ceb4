// SPDX-License-Identifier: MIT
//
// Tests a device step by step: what each checks, what it saw, and where it is not what was
// expected, the likely causes. Leaves the device reset.
#ifndef NVDLA_SELFTEST_SELFTEST_HPP
#define NVDLA_SELFTEST_SELFTEST_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/registers/bare_device.hpp"
#include "nvdla/device.hpp"
#include "selftest/result.hpp"

namespace nvdla::selftest {

struct StepInfo {
  std::string_view name;
  std::string_view checks;
  bool registers;  // only where registers can be reached
};

// In the order in which they run.
std::vector<StepInfo> list_steps();

struct Report {
  struct Entry {
    StepInfo step;
    Result result;
  };
  std::string configuration;  // as found; empty if it was not
  std::vector<Entry> entries;

  bool passed() const noexcept;
};

struct Options {
  // Names of steps; none: all. What they need to know of the device is found out in any case.
  std::vector<std::string> steps = {};
  // Of the host's time, for one work of the device. It passes where the device's clock stands.
  std::chrono::nanoseconds limit = std::chrono::seconds(60);
  // Of the core of a device behind a driver; 0: not known.
  std::uint32_t clock_khz = 0;
  // Told of each step when it has ended.
  std::function<void(const Report::Entry&)> progress = {};
};

// By registers. `named`: the configuration that the device is said to be, nullptr if nobody says.
Report test(detail::BareDevice& device, const nvdla_hw* named, const Options& options);
// What can be done behind a driver; the other steps are left out, and say so.
Report test(const Device& device, const Options& options);

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_SELFTEST_HPP
