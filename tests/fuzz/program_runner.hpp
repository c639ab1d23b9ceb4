// SPDX-License-Identifier: MIT
//
// Runs a compiled program on the device model and watches every byte that it touches.
#ifndef NVDLA_TESTS_FUZZ_PROGRAM_RUNNER_HPP
#define NVDLA_TESTS_FUZZ_PROGRAM_RUNNER_HPP

#include <cstdint>
#include <span>
#include <string>

#include "firmware/compile/nvdla_compile.h"

namespace nvdla::fuzz {

// What is wrong when the program does not end, or a client touches what its accesses do not name;
// empty if all is well. Memory reads as noise that depends on the address alone, and keeps nothing;
// but in the slot with NVDLA_SLOT_CONTROL is `control`.
std::string run_program(const nvdla_program& program, std::span<const nvdla_binding> bindings,
                        std::span<const std::uint8_t> control);

}  // namespace nvdla::fuzz

#endif  // NVDLA_TESTS_FUZZ_PROGRAM_RUNNER_HPP
