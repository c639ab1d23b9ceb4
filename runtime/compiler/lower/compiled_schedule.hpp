// SPDX-License-Identifier: MIT
//
// The schedule of a network that is compiled, to print it.
#ifndef NVDLA_COMPILER_LOWER_COMPILED_SCHEDULE_HPP
#define NVDLA_COMPILER_LOWER_COMPILED_SCHEDULE_HPP

#include "compiler/lower/schedule_text.hpp"
#include "device/compiled_impl.hpp"

namespace nvdla::detail {

// The layers of all programs and of the CPU, one behind the other: a program is a segment. Slots
// are allocations; tables of compressed weights, which a program brings, have one for each program.
ScheduleWithLuts schedule_of(const CompiledNetwork::Impl& compiled);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_COMPILED_SCHEDULE_HPP
