// SPDX-License-Identifier: MIT
//
// From positions of a task's address list to slots.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "loadable/read/task_converter.hpp"

namespace nvdla::loadable {
namespace {

// Planes lie on 64 bytes; buffers of devices do anyway.
constexpr std::uint32_t kSlotAlign = 64;
constexpr std::size_t kTableAlign = 128;

}  // namespace

std::string memory_name(const Container& c, std::uint16_t index) {
  const MemoryEntry& memory = c.memories[index];
  if (memory.input() || memory.output()) {
    const std::string& name = c.tensors[memory.tensor].name;
    const char* const kind = memory.input() ? "input" : "output";
    return name.empty() ? fmt::format("{}{}", kind, memory.bind_id)
                        : fmt::format("{} '{}'", kind, name);
  }
  return fmt::format("memory {}", index);
}

Place TaskConverter::locate(std::uint16_t type, std::int16_t address, std::uint64_t offset,
                            const char* field) const {
  if (type > kCubeSram) throw_error("{}: type {} is neither 0 (DRAM) nor 1 (SRAM)", field, type);
  Place at = resolve_address(c_, entry_, address, what_ + ", " + field);
  const MemoryEntry& memory = c_.memories[at.memory];
  if ((memory.domain == kDomainSram) != (type == kCubeSram)) {
    throw_error("{}: it says {}, but memory {} is {}", field, type == kCubeSram ? "SRAM" : "DRAM",
                at.memory, memory.domain == kDomainSram ? "SRAM" : "DRAM");
  }
  if (memory.domain == kDomainSram) need(NVDLA_HW_SRAM, "a secondary memory (SRAM)");
  if (offset > memory.size || at.offset > memory.size - offset) {
    throw_error("{}: offset {} is beyond memory {} of {} bytes", field, offset, at.memory,
                memory.size);
  }
  at.offset += offset;
  return at;
}

std::pair<std::uint32_t, std::uint64_t> TaskConverter::place(std::uint16_t type,
                                                             std::int16_t address,
                                                             std::uint64_t offset,
                                                             std::uint32_t access,
                                                             const char* field) {
  const Place at = locate(type, address, offset, field);
  const MemoryEntry& memory = c_.memories[at.memory];
  auto [found, added] =
      slot_of_.try_emplace(at.memory, static_cast<std::uint32_t>(program_.slots.size()));
  if (added) {
    nvdla_slot slot = {};
    slot.size = whole_pages(memory.size);
    if (slot.size < memory.size) throw_error("memory {}: {} bytes", at.memory, memory.size);
    slot.alignment = kSlotAlign;
    slot.memory = memory.domain == kDomainSram ? NVDLA_MEMORY_SRAM : NVDLA_MEMORY_DRAM;
    program_.slots.push_back(slot);
    program_.memories.push_back(at.memory);
    program_.slot_names.push_back(memory_name(c_, at.memory));
  }
  program_.slots[found->second].access |= access;
  return {found->second, at.offset};
}

nvdla_surface TaskConverter::surface(const DataCube& cube, std::uint32_t access,
                                     const char* field) {
  nvdla_surface s = {};
  std::tie(s.slot, s.offset) = place(cube.type, cube.address, cube.offset, access, field);
  s.line_stride = cube.line_stride;
  s.surface_stride = cube.surf_stride;
  return s;
}

nvdla_span TaskConverter::span(const DataCube& cube, const char* field) {
  nvdla_span s = {};
  std::tie(s.slot, s.offset) = place(cube.type, cube.address, cube.offset, NVDLA_SLOT_READ, field);
  s.bytes = cube.size;
  return s;
}

nvdla_span TaskConverter::table(const DataCube& cube, const char* field) {
  const Place at = locate(cube.type, cube.address, cube.offset, field);
  const MemoryEntry& memory = c_.memories[at.memory];
  std::vector<std::byte>& control = program_.control;
  if (cube.size > memory.size - at.offset) {
    throw_error("{}: {} bytes from {} on are beyond memory {} of {} bytes", field, cube.size,
                at.offset, at.memory, memory.size);
  }
  if (memory.bindable() || memory.contents.empty()) {
    throw_error("{}: memory {} has no contents in the file, and tables of compressed weights must",
                field, at.memory);
  }
  // Read in whole atoms, and laid out as wide as anybody asks for.
  const std::size_t bytes = arith::round_up(cube.size, kTableAlign);
  if (bytes > NVDLA_MAX_CONTROL_BYTES - control.size()) {
    throw_error("{}: with its {} bytes the tables of compressed weights exceed {}", field,
                cube.size, NVDLA_MAX_CONTROL_BYTES);
  }
  nvdla_span span = {control.size(), 0, cube.size};
  control.resize(control.size() + bytes);
  for (const Content& content : memory.contents) {
    const auto data = c_.blobs[content.blob].data;
    const std::uint64_t begin = std::max(at.offset, content.offset);
    const std::uint64_t end = std::min(at.offset + cube.size, content.offset + data.size());
    if (begin < end) {
      std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(begin - content.offset), end - begin,
                  control.begin() + static_cast<std::ptrdiff_t>(span.offset + begin - at.offset));
    }
  }
  return span;
}

void TaskConverter::add_control_slot() {
  nvdla_slot slot = {};
  slot.size = program_.control.size();
  slot.alignment = kSlotAlign;
  slot.access = NVDLA_SLOT_CONTROL;
  for (nvdla_layer& layer : program_.layers) {
    if ((layer.conv.flags & NVDLA_CONV_COMPRESSED) == 0) continue;
    layer.conv.wgs.slot = layer.conv.wmb.slot = static_cast<std::uint32_t>(program_.slots.size());
    // The tables are where the weights are: one register says it of all three.
    slot.memory = program_.slots[layer.conv.weights.slot].memory;
  }
  program_.slots.push_back(slot);
  program_.memories.push_back(ConvertedProgram::kNoMemory);
  program_.slot_names.emplace_back("the tables of compressed weights");
}

}  // namespace nvdla::loadable
