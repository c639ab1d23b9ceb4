// SPDX-License-Identifier: MIT
//
// From a task of the hardware to a program in the terms of <drm/nvdla_layer.h>.
#ifndef NVDLA_LOADABLE_READ_CONVERT_HPP
#define NVDLA_LOADABLE_READ_CONVERT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/owned_program.hpp"
#include "firmware/nvdla_hw.h"
#include "loadable/format/reg_field.hpp"
#include "loadable/format/task.hpp"

namespace nvdla::loadable {

// A number that a loadable says and that the compiler works out by itself.
struct Derived {
  std::uint32_t layer = 0;
  RegField where;
  std::uint32_t value = 0;  // as the register has it, less 1
  std::string field;        // "operation 0 (conv), entry_per_slice"
};

struct ConvertedProgram : detail::OwnedProgram {
  // Each slot has a memory of the container; that of the control data has kNoMemory.
  static constexpr std::uint16_t kNoMemory = UINT16_MAX;
  std::vector<std::uint16_t> memories;
  // And what errors call it: "input 'data'", "memory 5".
  std::vector<std::string> slot_names;
  // The names of the layers: "conv 0 + sdp 1".
  std::vector<std::string> names;
  std::vector<Derived> derived;
};

// Returns what errors call a memory; those of the application go by their tensors' names.
std::string memory_name(const Container& c, std::uint16_t index);

// Throws kInvalidArgument for what no device runs, kNotAvailable for what `hw` does not; both name
// the operation.
ConvertedProgram convert_task(const Container& c, const Task& task, const nvdla_hw& hw);

// Compiles for `hw` and compares the derived numbers. Throws what the compiler says, with the names
// of operations, and kInvalidProgram for a number that differs.
void check_program(const ConvertedProgram& program, const nvdla_hw& hw);

// The memory atom that the strides of the surfaces were made for: the largest that all strides
// allow and that at least one packed line needs. None if no line tells.
std::optional<std::uint32_t> implied_atom(const DlaTask& task);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_READ_CONVERT_HPP
