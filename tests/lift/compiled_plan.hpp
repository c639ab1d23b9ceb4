// SPDX-License-Identifier: MIT
//
// A plan, lifted to descriptors, compiled, and compared with the registers that
// it came from.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "lift/plan.hpp"

namespace nvdla::test {

// No descriptor says this, or a proof fails.
class Refused : public std::runtime_error {
 public:
  Refused(std::string rule, const std::string& text)
      : std::runtime_error(text), rule_(std::move(rule)) {}
  // The name of a rule of the compiler, or of what else stands against it.
  const std::string& rule() const noexcept { return rule_; }

 private:
  std::string rule_;
};

struct CompiledPlan {
  Lifted lifted;  // layers with their waits
  // What slots stand for; a slot may be larger.
  std::vector<LaunchMemory> memories;
  // Registers that compile to other values than those of the plan; "launch N: ...".
  std::vector<std::string> differences;
};

// Slots of a case are its memory exactly, so that the proofs are held against
// it. A trace names no memory for what it leaves zero: there, slots are what the
// layers can touch, rounded to 64 bytes.
// Throws Refused.
CompiledPlan compile_plan(const nvdla_hw& hw, const Plan& plan);

}  // namespace nvdla::test
