// SPDX-License-Identifier: MIT
//
// The memory that a plan names.
#pragma once

#include <vector>

#include "lift/plan.hpp"

namespace nvdla::test {

// Disjoint and in order; what overlaps is one, what only meets is not.
std::vector<LaunchMemory> merged(std::vector<LaunchMemory> memories);

// Of all commands that fill or load, if @written, and that compare.
std::vector<LaunchMemory> named_memories(const Plan& plan, bool written);

}  // namespace nvdla::test
