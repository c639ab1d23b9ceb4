// SPDX-License-Identifier: MIT
//
// Tests a device step by step, and reports what each step checks, what it saw and, where that is
// wrong, the likely causes. Leaves the device reset.
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

// Returns the steps in the order in which they run.
std::vector<StepInfo> list_steps();

struct Report {
  struct Entry {
    StepInfo step;
    Result result;
  };
  std::string configuration;  // as identified; empty if that failed
  std::vector<Entry> entries;

  bool passed() const noexcept;
};

struct Options {
  // Names of the steps to run; empty: all. The device is identified in any case.
  std::vector<std::string> steps = {};
  // A limit on the host's clock for one work of the device, since the device's clock may stand
  // still.
  std::chrono::nanoseconds limit = std::chrono::seconds(60);
  // The clock of the core, for a device behind a driver; 0: unknown.
  std::uint32_t clock_khz = 0;
  // Called with the result of each step.
  std::function<void(const Report::Entry&)> progress = {};
};

// Tests a device by its registers. `named` is the configuration that the user states, or nullptr.
Report test(detail::BareDevice& device, const nvdla_hw* named, const Options& options);
// Tests a device behind a driver. Steps that need registers are left out and reported as such.
Report test(const Device& device, const Options& options);

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_SELFTEST_HPP
