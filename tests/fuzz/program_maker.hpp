// SPDX-License-Identifier: MIT
//
// Programs out of a fuzzer's bytes: layers that would be valid, then a few fields overwritten.
// Random descriptors alone would never get past the first check.
#ifndef NVDLA_TESTS_FUZZ_PROGRAM_MAKER_HPP
#define NVDLA_TESTS_FUZZ_PROGRAM_MAKER_HPP

#include <cstdint>
#include <vector>

#include "firmware/compile/nvdla_compile.h"
#include "input.hpp"

namespace nvdla::fuzz {

struct Made {
  const nvdla_hw* hw = nullptr;
  std::uint32_t flags = 0;      // NVDLA_PROGRAM_*
  std::uint32_t clock_khz = 0;  // 0: the default
  std::vector<nvdla_slot> slots;
  std::vector<nvdla_lut> luts;
  std::vector<nvdla_transfer> transfers;
  std::vector<nvdla_layer> layers;
  std::vector<std::uint8_t> control;  // of the slot with NVDLA_SLOT_CONTROL
  // What the program says it has beyond what is there, and memory that it is not given.
  std::int32_t excess_layers = 0;
  std::uint32_t excess_slots = 0, excess_luts = 0, excess_transfers = 0, missing_bytes = 0;
  std::vector<nvdla_binding> bindings;  // one for each slot, or so
  std::uint32_t mutations = 0;
};

// Where slot n is bound unless a mutation moves it. Slots are far apart, within 32 address bits.
constexpr std::uint64_t slot_base(std::uint32_t slot) { return 0x10000000ull * (slot + 1); }
constexpr std::uint64_t kSlotSize = slot_base(1) - slot_base(0);

// What a program is to be.
struct Wish {
  std::uint32_t most_layers = 3;
  bool mutated = true;  // or what would be valid, mostly
};

Made make_program(Input& input, const Wish& wish = {});

}  // namespace nvdla::fuzz

#endif  // NVDLA_TESTS_FUZZ_PROGRAM_MAKER_HPP
