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

// What fills and loads leave in memory, whichever RAM they name; zero where nothing does.
std::vector<std::uint8_t> initial_contents(const Plan& plan, std::uint64_t address,
                                           std::size_t size);

}  // namespace nvdla::test
