// SPDX-License-Identifier: MIT
//
// Runs lifted layers on a device, as any application would, and compares memory
// and counters with what the case or trace expects.
#pragma once

#include <nvdla/device.hpp>
#include <string>
#include <vector>

#include "lift/compiled_plan.hpp"

namespace nvdla::test {

struct RunResult {
  std::vector<std::string> differences;
  std::uint64_t bytes_compared = 0;
  unsigned counters_compared = 0;
};

// Throws nvdla::Error for what the device does not do.
RunResult run_plan(const Device& device, const Plan& plan, const CompiledPlan& compiled);

}  // namespace nvdla::test
