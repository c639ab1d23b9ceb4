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
  // Why the script failed or was skipped; for a failure the first entry of `failures`.
  std::string reason;
  // The result of replaying a dump.
  std::string note;
  std::vector<std::string> failures;
  std::vector<std::string> warnings;
  // The layer of a dump or record that did not end.
  std::optional<std::uint32_t> stuck;
  std::uint64_t writes = 0;
  std::uint64_t register_checks = 0;
  // Registers that were not compared: counters that are not exact, or all of them with memory_only.
  std::uint64_t registers_left_out = 0;
  std::uint64_t bytes_compared = 0;
  std::uint64_t steps = 0;
};

struct PlayerOptions {
  // A target that reports progress for more steps than this counts as hung.
  std::uint64_t max_steps = 100'000'000;
  // Compares only memory; polls of registers still wait.
  bool memory_only = false;
  // The configuration of a real device, of whose counters only exact ones are compared. nullptr:
  // compares all.
  const nvdla_hw* real = nullptr;
};

// Plays a script. Never throws because of the target, whose exceptions become failures.
Outcome play(const Script& script, Target& target, const PlayerOptions& options = {});

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_PLAYER_HPP
