// SPDX-License-Identifier: MIT
//
// Runs a compiled program on the device model and watches every byte that it touches.
#ifndef NVDLA_TESTS_FUZZ_PROGRAM_RUNNER_HPP
#define NVDLA_TESTS_FUZZ_PROGRAM_RUNNER_HPP

#include "firmware/compile/nvdla_compile.h"

namespace nvdla::fuzz {

// Aborts with a message when the program does not end, or touches what its accesses do not name.
void run_program(const nvdla_program& program);

}  // namespace nvdla::fuzz

#endif  // NVDLA_TESTS_FUZZ_PROGRAM_RUNNER_HPP
