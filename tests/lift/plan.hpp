// SPDX-License-Identifier: MIT
//
// A register case or trace as something that can be lifted: programs of
// launches, and what happens to memory and counters between them.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "common/lift/launches.hpp"
#include "tools/replay/script.hpp"

namespace nvdla::test {

// Launches [first, end) of the plan, submitted together.
struct PlannedProgram {
  std::size_t first = 0;
  std::size_t end = 0;
};

// A counter of a layer, as a register that is compared after it has run.
struct CheckCounter {
  std::size_t launch = 0;
  std::uint32_t counter = 0;  // enum nvdla_counter
  replay::CheckRegister check;
};

using Step = std::variant<replay::FillMemory, replay::LoadMemory, replay::CompareMemory,
                          replay::CheckCrc, PlannedProgram, CheckCounter>;

struct Plan {
  bool one_memory = false;  // RAM types reach the same bytes
  std::vector<LaunchRegisters> launches;
  std::vector<std::uint32_t> units;               // of each launch
  std::vector<std::vector<std::uint32_t>> waits;  // of each launch, as the index in its program
  std::vector<Step> steps;
};

// A program ends where memory is touched or counters are read. A layer waits
// for those that the script has waited for before it enables the layer.
// Throws LiftError for units that are enabled and never run.
Plan make_plan(const replay::Script& script);

// The counter that a register of the map holds; nullopt if it is none.
std::optional<std::uint32_t> counter_of(model::RegisterMap map, std::uint32_t byte_address);
// Whether the registers of a launch enable the counter; most of them can be off.
bool counts(const LaunchRegisters& launch, std::uint32_t counter);

}  // namespace nvdla::test
