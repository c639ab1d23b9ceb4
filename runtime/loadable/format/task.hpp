// SPDX-License-Identifier: MIT
//
// The tasks of a loadable, decoded: operations, surfaces and tables of the hardware (DLA1), or
// operations of the CPU (EMU1, and our own). Addresses are resolved to memories; what operations
// mean is not looked at here.
#ifndef NVDLA_LOADABLE_FORMAT_TASK_HPP
#define NVDLA_LOADABLE_FORMAT_TASK_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loadable/format/container.hpp"
#include "loadable/format/cpu_task.hpp"
#include "loadable/format/descriptors.hpp"

namespace nvdla::loadable {

struct ConvPart {
  ConvOp op;
  ConvSurface surface;
};
struct SdpPart {
  SdpOp op;
  SdpSurface surface;
};
struct PdpPart {
  PdpOp op;
  PairSurface surface;
};
struct CdpPart {
  CdpOp op;
  PairSurface surface;
};
struct RubikPart {
  RubikOp op;
  PairSurface surface;
};
struct BdmaPart {
  BdmaOp op;
  BdmaSurface surface;
};

struct Operation {
  CommonDesc common;
  // In the order of OpType.
  std::variant<BdmaPart, ConvPart, SdpPart, PdpPart, CdpPart, RubikPart> part;

  std::uint8_t type() const { return static_cast<std::uint8_t>(part.index()); }
};

struct DlaTask {
  Revision revision = Revision::kNew;
  NetworkDesc network;
  std::vector<Operation> operations;
  std::vector<LutParam> luts;
};

// One operation of the CPU, from one buffer to another.
struct EmuBuffer {
  std::int16_t address = -1;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint16_t format = 0;  // 0 int8, 1 int8 in atoms of 8, 2 int16, 3 fp16, 4 uint8, 5 uint16
  std::uint16_t width = 0, height = 0, channel = 0;
  std::uint32_t line_stride = 0, surf_stride = 0;
};

enum EmuType : std::uint8_t { kPower = 0, kSoftmax = 1 };

struct EmuOperation {
  std::uint8_t type = kPower;
  float input_scale = 1, output_scale = 1;
  float power = 1, scale = 1, shift = 0;
  std::uint8_t axis = 0;
  EmuBuffer source, destination;
};

struct EmuTask {
  Revision revision = Revision::kNew;  // of the structures, told by the size of the list
  std::vector<EmuOperation> operations;
};

// A task of any interface, with its number for messages.
struct Task {
  std::uint16_t index = 0;
  std::variant<DlaTask, EmuTask, CpuTask> work;

  bool of_hardware() const { return std::holds_alternative<DlaTask>(work); }
  // Counts the operations of the CPU: none in a task of the hardware.
  std::size_t cpu_operations() const {
    if (const auto* emu = std::get_if<EmuTask>(&work)) return emu->operations.size();
    return of_hardware() ? 0 : 1;
  }
};

// Place in a memory that a position of the task's address list means.
struct Place {
  std::uint16_t memory = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // bytes from there to the end of the entry, or of the memory
};

// Throws kInvalidArgument naming `what` for a position that the task does not have.
Place resolve_address(const Container& c, const TaskEntry& task, std::int16_t position,
                      std::string_view what);

// Throws kInvalidArgument.
Task decode_task(const Container& c, std::uint16_t index);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_TASK_HPP
