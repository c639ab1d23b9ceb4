// SPDX-License-Identifier: MIT
//
// Buffers that stand for the memory of a plan, reached by its addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nvdla/device.hpp>
#include <span>
#include <vector>

#include "lift/compiled_plan.hpp"

namespace nvdla::test {

class DeviceMemory {
 public:
  DeviceMemory(const Device& device, const Plan& plan, const CompiledPlan& compiled);

  // One for each slot.
  std::vector<Binding> bindings() const;

  void fill(replay::Ram ram, std::uint64_t address, std::uint64_t size, std::uint8_t byte);
  void load(replay::Ram ram, std::uint64_t address, std::span<const std::byte> bytes);
  // Zeros where there is no buffer: nothing reaches that.
  std::vector<std::byte> fetch(replay::Ram ram, std::uint64_t address, std::uint64_t size) const;

 private:
  // Part of a buffer, and where it begins in the range that was asked for.
  using Visit = std::function<void(std::span<std::byte>, std::uint64_t)>;
  void visit(replay::Ram ram, std::uint64_t address, std::uint64_t size, MapMode mode,
             const Visit& visit) const;

  bool one_memory_;
  std::span<const LaunchMemory> memories_;
  std::vector<Buffer> buffers_;
};

}  // namespace nvdla::test
