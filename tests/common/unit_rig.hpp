// SPDX-License-Identifier: MIT
//
// A device with a recorded memory, for tests of its stand-alone units: programs cubes by name,
// runs, looks at what was touched.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/layers/model_layer.hpp"
#include "common/recorder.hpp"
#include "model/core/memory.hpp"
#include "model/device.hpp"

namespace nvdla::test {

inline constexpr std::uint8_t kUntouched = 0xa5;

// By the number in the registers.
inline constexpr const char* kPrecisionNames[] = {"int8", "int16", "fp16"};

struct UnitRig {
  explicit UnitRig(const nvdla_hw& config, const model::Options& options = {})
      : hw(config), recorder(memory), device(config, recorder, options), regs(device) {}

  void run() {
    while (device.step()) {
    }
  }

  // Why it does not go on; empty if all has ended.
  std::string blocked() {
    if (device.idle()) return {};
    std::string text;
    for (const model::Blocked& one : device.blocked()) text += one.reason + "; ";
    return text.empty() ? "no reason" : text;
  }

  // Fills memory with random bytes.
  void randomise(std::uint64_t address, std::uint64_t size, Random& random) {
    std::vector<std::byte> bytes(size);
    Random data = random.fork();
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(data());
    memory.load(model::Ram::kPrimary, address, bytes);
  }

  std::uint8_t byte(std::uint64_t address) {
    return std::to_integer<std::uint8_t>(*memory.map(model::Ram::kPrimary, address, 1, false).data);
  }
  // At an even address.
  std::uint16_t half(std::uint64_t address) {
    const std::byte* at = memory.map(model::Ram::kPrimary, address, 2, false).data;
    return static_cast<std::uint16_t>(std::to_integer<unsigned>(at[0]) |
                                      std::to_integer<unsigned>(at[1]) << 8);
  }

  // Bytes of a region that are neither untouched nor as expected; empty if all is well.
  std::string compare(std::uint64_t begin, std::uint64_t size,
                      const std::map<std::uint64_t, std::uint8_t>& expected) {
    const auto got = memory.read(model::Ram::kPrimary, begin, size);
    auto next = expected.lower_bound(begin);
    for (std::uint64_t i = 0; i < size; ++i) {
      const bool named = next != expected.end() && next->first == begin + i;
      const std::uint8_t want = named ? next->second : kUntouched;
      if (named) ++next;
      if (std::to_integer<std::uint8_t>(got[i]) != want)
        return "byte " + std::to_string(i) + " is " +
               std::to_string(std::to_integer<unsigned>(got[i])) + ", not " + std::to_string(want);
    }
    return {};
  }

  // Registers that do not have their value; empty if all have.
  std::string compare_registers(std::span<const std::pair<const char*, std::uint32_t>> expected) {
    for (const auto& [name, want] : expected)
      if (const std::uint32_t got = regs.read(name); got != want)
        return std::string(name) + " is " + std::to_string(got) + ", not " + std::to_string(want);
    return {};
  }
  std::string compare_registers(
      std::initializer_list<std::pair<const char*, std::uint32_t>> expected) {
    return compare_registers(std::span(expected.begin(), expected.size()));
  }

  // Whether exactly these bytes were touched; empty if so.
  std::string compare_access(const Bytes& reads, const Bytes& writes) const {
    if (recorder.reads.merged() != reads.merged()) return "it reads other bytes than it should";
    if (recorder.writes.merged() != writes.merged()) return "it writes other bytes than it should";
    return {};
  }

  const nvdla_hw& hw;
  model::Memory memory;
  Recorder recorder;
  model::Device device;
  Registers regs;
};

// n surfaces x H lines x `run` bytes.
inline void add_cube(Bytes& bytes, const Cube& cube, std::uint64_t surfaces, std::uint64_t lines,
                     std::uint64_t run) {
  for (std::uint64_t s = 0; s < surfaces; ++s)
    for (std::uint64_t y = 0; y < lines; ++y)
      bytes.add(cube.base + s * cube.surface + y * cube.line, run);
}

}  // namespace nvdla::test
