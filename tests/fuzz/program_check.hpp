// SPDX-License-Identifier: MIT
//
// What holds for every program, however it was made: a refusal says why; what compiles never hangs
// the device and never touches a byte outside the extents that the compiler declared; these
// extents are what the check of slots uses, to the byte; and a buffer can be bound exactly if it
// fits.
#ifndef NVDLA_TESTS_FUZZ_PROGRAM_CHECK_HPP
#define NVDLA_TESTS_FUZZ_PROGRAM_CHECK_HPP

#include <cstdint>
#include <string>

#include "program_maker.hpp"

namespace nvdla::fuzz {

// Larger programs are compiled but not run: what finds faults is many runs.
struct Budget {
  std::uint64_t cycles = 3'000'000;
  std::uint64_t bytes = 16 << 20;
};

struct Checked {
  nvdla_error error{};                           // why it did not compile
  std::uint32_t binding_rule = NVDLA_RULE_NONE;  // why its buffers could not be bound
  bool ran = false;
  std::string failure;  // what does not hold; empty if all does
};

Checked check_program(const Made& made, const Budget& budget);

}  // namespace nvdla::fuzz

#endif  // NVDLA_TESTS_FUZZ_PROGRAM_CHECK_HPP
