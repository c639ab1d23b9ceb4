// SPDX-License-Identifier: MIT
//
// A target whose every move a test decides: what happens in each step, what blocks.
#ifndef NVDLA_TESTS_TOOLS_FAKE_TARGET_HPP
#define NVDLA_TESTS_TOOLS_FAKE_TARGET_HPP

#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "tools/replay/target.hpp"

namespace nvdla::replay {

class FakeTarget : public Target {
 public:
  // Offset of S_INTR_STATUS in the second generation's map.
  static constexpr std::uint32_t kStatus = 0x100c;
  static constexpr std::uint32_t kMask = 0x1004;

  std::uint32_t read(std::uint32_t offset) override { return registers[offset]; }

  void write(std::uint32_t offset, std::uint32_t value) override {
    writes.emplace_back(offset, value);
    if (offset == kStatus)
      registers[offset] &= ~value;
    else
      registers[offset] = value;
  }

  void load(model::Ram, std::uint64_t address, std::span<const std::byte> bytes) override {
    for (std::size_t i = 0; i < bytes.size(); ++i) memory[address + i] = bytes[i];
  }

  void fill(model::Ram, std::uint64_t address, std::uint64_t size, std::uint8_t byte) override {
    for (std::uint64_t i = 0; i < size; ++i) memory[address + i] = std::byte{byte};
  }

  void fetch(model::Ram, std::uint64_t address, std::span<std::byte> bytes) override {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto found = memory.find(address + i);
      bytes[i] = found == memory.end() ? std::byte{0} : found->second;
    }
  }

  bool step() override {
    if (endless) return true;
    if (steps.empty()) return false;
    const auto next = std::move(steps.front());
    steps.pop_front();
    next();
    return true;
  }

  bool step_until_due() override {
    if (step()) return true;
    const std::uint32_t raised = std::exchange(late_interrupt, 0);
    registers[kStatus] |= raised;
    return raised != 0;
  }

  bool idle() override { return is_idle; }
  std::vector<std::string> blocked() override { return reasons; }
  std::string refusals() override { return refused; }

  void raise_in_a_step(std::uint32_t bits) {
    steps.push_back([this, bits] { registers[kStatus] |= bits; });
  }

  std::map<std::uint32_t, std::uint32_t> registers;
  std::map<std::uint64_t, std::byte> memory;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;
  std::deque<std::function<void()>> steps;
  std::uint32_t late_interrupt = 0;  // that comes after all steps, if it is waited for
  bool endless = false;
  bool is_idle = true;
  std::vector<std::string> reasons;
  std::string refused;
};

}  // namespace nvdla::replay

#endif  // NVDLA_TESTS_TOOLS_FAKE_TARGET_HPP
