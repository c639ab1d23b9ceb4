// SPDX-License-Identifier: MIT
//
// What holds for every script that a parser of cases or traces lets pass: its numbers are in their
// ranges, and a player comes to an end with it.
#ifndef NVDLA_TESTS_FUZZ_REPLAY_CHECK_HPP
#define NVDLA_TESTS_FUZZ_REPLAY_CHECK_HPP

#include "tools/replay/script.hpp"

namespace nvdla::fuzz {

// Aborts with a message where it does not hold.
void check_script(replay::Script script);

}  // namespace nvdla::fuzz

#endif  // NVDLA_TESTS_FUZZ_REPLAY_CHECK_HPP
