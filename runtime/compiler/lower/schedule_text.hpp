// SPDX-License-Identifier: MIT
//
// Schedules as text, for tests of passes, `nvdla dump --schedule` and reports of errors.
//
//   schedule
//   allocation 0 "input 'image'" size=1024 alignment=32 access=read dedicated
//   allocation 1 "the constants of layer 0 'conv'" size=384 access=read contents=omitted(384, 0x1f)
//   allocation 2 "output 'scores'" size=512 alignment=32 access=read|write dedicated
//   layer 0 "conv" conv+sdp
//     operation suffix=" 1/2" macs=27648 whole
//     conv width=8 height=8 channels=3 ... input=@0[line_stride=256] weights=@1[bytes=256]
//     sdp out_cvt.scale=1 output=@2[line_stride=64 surface_stride=512]
//   ---
//   layer 1 "softmax" cpu waits 0
//     softmax input={scale=0.5 zero_point=3}
//     source @2[line_stride=64] : int8 16x8x8 line_stride=64 surface_stride=512
//     destination @2[line_stride=64] : int8 16x8x8 line_stride=64 surface_stride=512
//
// Below a layer stand what the schedule knows of it beside its descriptor and the parts of that,
// with the fields that are not zero, as support/fields.hpp lists them; "@2+64[...]" is byte 64 of
// allocation 2. "waits" names the layers that the descriptor waits for. A line "---" begins a
// segment. The bytes of constants are not in the text: they are read as zeros. Blanks at the
// beginning of a line mean nothing.
#ifndef NVDLA_COMPILER_LOWER_SCHEDULE_TEXT_HPP
#define NVDLA_COMPILER_LOWER_SCHEDULE_TEXT_HPP

#include <string>
#include <string_view>
#include <vector>

#include "compiler/lower/schedule.hpp"
#include "compiler/text/list_text.hpp"
#include "device/compiled_impl.hpp"

namespace nvdla::detail {

// `ScheduleWithLuts` is a schedule with the look-up tables that its layers name by their numbers.
struct ScheduleWithLuts {
  Schedule schedule;
  std::vector<nvdla_lut> luts;
};

// Long constants of operations and look-up tables that no generator makes are left out, unless the
// options ask for all values.
std::string print_schedule(const ScheduleWithLuts& schedule,
                           const text::PrintOptions& options = {});

// Reads what print_schedule() prints. Throws kInvalidArgument, with line and column, for anything
// else. Layers wait for earlier ones only; places name allocations that the text has, if it has
// any.
ScheduleWithLuts parse_schedule(std::string_view text, const text::ParseOptions& options = {});

// Returns the first difference, as "layer 3 'conv': sdp.x1.alu"; empty if the schedules are equal.
std::string schedule_difference(const ScheduleWithLuts& a, const ScheduleWithLuts& b);

// The layers of all programs and of the CPU, one behind the other: a program is a segment. Slots
// are allocations; tables of compressed weights, which a program brings, have one for each program.
ScheduleWithLuts schedule_of(const CompiledNetwork::Impl& compiled);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_SCHEDULE_TEXT_HPP
