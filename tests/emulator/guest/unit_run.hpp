// SPDX-License-Identifier: MIT
//
// One layer on a device of the runtime: buffers of exactly the slots' sizes, what they hold before
// is the same on every device, what they hold afterwards is the outcome.
#ifndef NVDLA_TESTS_EMULATOR_GUEST_UNIT_RUN_HPP
#define NVDLA_TESTS_EMULATOR_GUEST_UNIT_RUN_HPP

#include <nvdla/nvdla.hpp>
#include <vector>

#include "unit/compile/unit_layers.hpp"

namespace nvdla::emulator_test {

struct Outcome {
  std::vector<std::vector<std::byte>> slots;
  std::vector<nvdla_layer_stats> statistics;
};

inline ProgramDesc desc_of(const test::Base& base) {
  return {.layers = {&base.layer, 1},
          .slots = base.slots,
          .luts = base.luts,
          .transfers = base.transfers,
          .statistics = true};
}

// Small numbers of both signs in what is read, so that not everything saturates.
inline Outcome run(const Device& device, const test::Base& base) {
  const Program program = device.create_program(desc_of(base));
  std::vector<Binding> bindings;
  std::uint32_t random = 1;
  for (const nvdla_slot& slot : base.slots) {
    const Buffer buffer = device.allocate(slot.size, static_cast<Memory>(slot.memory));
    const Map map = buffer.map(MapMode::kWrite);
    for (std::byte& byte : map.bytes()) {
      random = random * 1664525 + 1013904223;
      byte = static_cast<std::byte>(static_cast<int>(random >> 28) - 8);
    }
    bindings.push_back({buffer, 0});
  }
  const Fence fence = device.submit(program, bindings);
  fence.wait();
  Outcome outcome;
  for (const Binding& binding : bindings) {
    const Map map = binding.buffer.map(MapMode::kRead);
    outcome.slots.emplace_back(map.bytes().begin(), map.bytes().end());
  }
  const auto statistics = fence.statistics();
  outcome.statistics.assign(statistics.begin(), statistics.end());
  return outcome;
}

}  // namespace nvdla::emulator_test

#endif  // NVDLA_TESTS_EMULATOR_GUEST_UNIT_RUN_HPP
