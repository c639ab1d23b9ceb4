// SPDX-License-Identifier: MIT
//
// This is as much of Verilator's run time as the harness uses, for a top that Verilator has not
// made.
#ifndef NVDLA_TESTS_STANDIN_VERILATED_H
#define NVDLA_TESTS_STANDIN_VERILATED_H

#include <cstddef>
#include <cstdint>

using CData = std::uint8_t;
using SData = std::uint16_t;
using IData = std::uint32_t;
using QData = std::uint64_t;

template <std::size_t kWords>
struct VlWide {
  std::uint32_t m_storage[kWords];
};

class VerilatedContext {
 public:
  void commandArgs(int count, const char* const* /*words*/) { has_arguments_ = count > 0; }
  bool has_arguments() const { return has_arguments_; }
  void randReset(int kind) { rand_reset_ = kind; }
  int randReset() const { return rand_reset_; }
  void randSeed(int seed) { rand_seed_ = seed; }
  int randSeed() const { return rand_seed_; }

 private:
  bool has_arguments_ = false;
  int rand_reset_ = 0;
  int rand_seed_ = 0;
};

#endif  // NVDLA_TESTS_STANDIN_VERILATED_H
