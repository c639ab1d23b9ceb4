// SPDX-License-Identifier: MIT
//
// Runs a script on a target and compares.
#ifndef NVDLA_TOOLS_REPLAY_PLAYER_HPP
#define NVDLA_TOOLS_REPLAY_PLAYER_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "tools/replay/script.hpp"
#include "tools/replay/target.hpp"

namespace nvdla::replay {

enum class Verdict : std::uint8_t { kPass, kFail, kSkip };

struct Outcome {
  Verdict verdict = Verdict::kPass;
  // Why it failed or was skipped; for a failure the first entry of `failures`.
  std::string reason;
  // What came of a dump that was played.
  std::string note;
  std::vector<std::string> failures;
  std::vector<std::string> warnings;
  // Of a dump or record: the layer that did not end.
  std::optional<std::uint32_t> stuck;
  std::uint64_t writes = 0;
  std::uint64_t register_checks = 0;
  // Registers that were not compared: counters that are not exact, or all with memory_only.
  std::uint64_t registers_left_out = 0;
  std::uint64_t bytes_compared = 0;
  std::uint64_t steps = 0;
};

struct PlayerOptions {
  // A target that claims to make progress for longer than this is taken for hung.
  std::uint64_t max_steps = 100'000'000;
  // Compare memory alone; polls of registers are still waited for.
  bool memory_only = false;
  // A real device: of its counters only those that are exact are compared. nullptr: all.
  const nvdla_hw* real = nullptr;
};

// Never throws for what the target does; exceptions of the target become failures.
Outcome play(const Script& script, Target& target, const PlayerOptions& options = {});

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_PLAYER_HPP
