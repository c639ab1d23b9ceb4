// SPDX-License-Identifier: MIT
//
// This file predicts what layers of all units take together, in the order of a schedule.
#ifndef NVDLA_COMPILER_PASSES_SCHEDULE_CYCLES_HPP
#define NVDLA_COMPILER_PASSES_SCHEDULE_CYCLES_HPP

#include "compiler/lower/schedule.hpp"
#include "compiler/passes/layer_geometry.hpp"
#include "cost/sequence_cycles.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Returns the layers of a segment as the cost model takes them, none of them the CPU's.
std::vector<cost::SequenceLayer> sequence_of(const Schedule& schedule,
                                             const Schedule::Segment& segment,
                                             const DeviceInfo& info,
                                             const InterfaceOf& interface_of);

// Predicts a sequence on the device that will run it.
cost::SequenceCycles predict_sequence(const DeviceInfo& info,
                                      std::span<const cost::SequenceLayer> sequence);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_SCHEDULE_CYCLES_HPP
