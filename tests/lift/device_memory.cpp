// SPDX-License-Identifier: MIT
#include "lift/device_memory.hpp"

#include <algorithm>
#include <cstring>

namespace nvdla::test {

DeviceMemory::DeviceMemory(const Device& device, const Plan& plan, const CompiledPlan& compiled)
    : one_memory_(plan.one_memory), memories_(compiled.memories) {
  for (const nvdla_slot& slot : compiled.lifted.slots) {
    if (slot.access == NVDLA_SLOT_CONTROL)
      buffers_.emplace_back();
    else
      buffers_.push_back(device.allocate(slot.size, static_cast<Memory>(slot.memory)));
  }
}

std::vector<Binding> DeviceMemory::bindings() const { return {buffers_.begin(), buffers_.end()}; }

void DeviceMemory::visit(replay::Ram ram, std::uint64_t address, std::uint64_t size, MapMode mode,
                         const Visit& visit) const {
  const std::uint32_t kind = ram == replay::Ram::kPrimary ? NVDLA_MEMORY_DRAM : NVDLA_MEMORY_SRAM;
  for (std::size_t i = 0; i < memories_.size(); i++) {
    const LaunchMemory& memory = memories_[i];
    if (!one_memory_ && memory.memory != kind) continue;
    const std::uint64_t begin = std::max(address, memory.address);
    const std::uint64_t end = std::min(address + size, memory.address + memory.size);
    if (begin >= end) continue;
    const Map map = buffers_[i].map(mode);
    visit(map.bytes().subspan(begin - memory.address, end - begin), begin - address);
  }
}

void DeviceMemory::fill(replay::Ram ram, std::uint64_t address, std::uint64_t size,
                        std::uint8_t byte) {
  visit(ram, address, size, MapMode::kWrite, [&](std::span<std::byte> part, std::uint64_t) {
    std::memset(part.data(), byte, part.size());
  });
}

void DeviceMemory::load(replay::Ram ram, std::uint64_t address, std::span<const std::byte> bytes) {
  visit(ram, address, bytes.size(), MapMode::kWrite,
        [&](std::span<std::byte> part, std::uint64_t from) {
          std::memcpy(part.data(), bytes.data() + from, part.size());
        });
}

std::vector<std::byte> DeviceMemory::fetch(replay::Ram ram, std::uint64_t address,
                                           std::uint64_t size) const {
  std::vector<std::byte> bytes(size);
  visit(ram, address, size, MapMode::kRead, [&](std::span<std::byte> part, std::uint64_t from) {
    std::memcpy(bytes.data() + from, part.data(), part.size());
  });
  return bytes;
}

}  // namespace nvdla::test
