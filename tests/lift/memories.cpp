// SPDX-License-Identifier: MIT
#include "lift/memories.hpp"

#include <algorithm>
#include <tuple>

namespace nvdla::test {

std::vector<LaunchMemory> merged(std::vector<LaunchMemory> memories) {
  std::sort(memories.begin(), memories.end(), [](const auto& a, const auto& b) {
    return std::tie(a.memory, a.address) < std::tie(b.memory, b.address);
  });
  std::vector<LaunchMemory> result;
  for (const auto& memory : memories) {
    if (memory.size == 0) continue;
    const bool joins = !result.empty() && result.back().memory == memory.memory &&
                       memory.address < result.back().address + result.back().size;
    if (!joins) {
      result.push_back(memory);
      continue;
    }
    LaunchMemory& last = result.back();
    last.size = std::max(last.address + last.size, memory.address + memory.size) - last.address;
  }
  return result;
}

std::vector<LaunchMemory> named_memories(const Plan& plan, bool written) {
  std::vector<LaunchMemory> memories;
  const auto add = [&](replay::Ram ram, std::uint64_t address, std::uint64_t size) {
    LaunchMemory memory{address, size};
    if (!plan.one_memory)
      memory.memory = ram == replay::Ram::kPrimary ? NVDLA_MEMORY_DRAM : NVDLA_MEMORY_SRAM;
    memories.push_back(memory);
  };
  for (const Step& step : plan.steps) {
    if (const auto* compare = std::get_if<replay::CompareMemory>(&step))
      add(compare->ram, compare->address, compare->size);
    if (const auto* crc = std::get_if<replay::CheckCrc>(&step))
      add(crc->ram, crc->address, crc->size);
    if (!written) continue;
    if (const auto* fill = std::get_if<replay::FillMemory>(&step))
      add(fill->ram, fill->address, fill->size);
    if (const auto* load = std::get_if<replay::LoadMemory>(&step)) {
      std::uint64_t size = load->size;
      for (const auto& segment : load->file.data ? *load->file.data : replay::Blob{})
        if (load->size == 0) size = std::max(size, segment.offset + segment.bytes.size());
      add(load->ram, load->address, size);
    }
  }
  return memories;
}

std::vector<std::uint8_t> initial_contents(const Plan& plan, std::uint64_t address,
                                           std::size_t size) {
  std::vector<std::uint8_t> contents(size);
  const auto put = [&](std::uint64_t at, std::uint64_t count, const auto& byte) {
    for (std::uint64_t i = std::max(at, address); i < std::min(at + count, address + size); i++)
      contents[i - address] = byte(i - at);
  };
  for (const Step& step : plan.steps) {
    if (const auto* fill = std::get_if<replay::FillMemory>(&step))
      put(fill->address, fill->size, [&](std::uint64_t) { return fill->byte; });
    const auto* load = std::get_if<replay::LoadMemory>(&step);
    if (load == nullptr || !load->file.data) continue;
    for (const auto& segment : *load->file.data)
      put(load->address + segment.offset, segment.bytes.size(),
          [&](std::uint64_t i) { return std::to_integer<std::uint8_t>(segment.bytes[i]); });
  }
  return contents;
}

}  // namespace nvdla::test
