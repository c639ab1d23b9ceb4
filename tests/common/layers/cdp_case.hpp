// SPDX-License-Identifier: MIT
//
// A CDP layer in all precisions with its tables: how it lies in memory, how it is programmed, and
// what it should give, one element at a time and from the description alone.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/unit_rig.hpp"

namespace nvdla::test {

inline constexpr std::uint64_t kCdpIn = 0x8000'0000, kCdpOut = 0x8200'0000;
inline constexpr std::uint64_t kCdpRegion = 1 << 16;
inline constexpr std::uint32_t kCdpDone = 1u << 2;

// Entries and scales are int16, or fp16 patterns; start and end integers, or fp32 patterns.
struct CdpTable {
  bool exponential = false;
  int offset = 0, select = 0;
  std::int64_t start = 0, end = 0;
  int under_scale = 0, over_scale = 0, under_shift = 0, over_shift = 0;
  std::vector<int> entries;
};

struct CdpCase {
  const nvdla_hw* hw = nullptr;
  unsigned precision = 0;  // int8, int16, fp16
  unsigned width = 1, height = 1, channels = 1, reach = 1;
  bool bypass_sum = false, bypass_mul = false, flush = false;
  std::int64_t in_offset = 0, in_scale = 1, out_offset = 0, out_scale = 1;
  unsigned in_shift = 0, out_shift = 0;
  CdpTable le, lo;
  unsigned priority[3] = {0, 0, 0};  // underflow, overflow, hybrid
  bool count = true;
  bool reference_model = false;  // what it does otherwise than the logic
  Cube source, destination;

  bool real() const { return precision == 2; }
  unsigned bytes() const { return precision == 0 ? 1 : 2; }
  unsigned lanes() const { return hw->atom / bytes(); }
  unsigned surfaces() const { return (channels + lanes() - 1) / lanes(); }
  std::uint64_t at(const Cube& cube, unsigned x, unsigned y, unsigned c) const {
    return cube.base + c / lanes() * cube.surface + y * cube.line + x * hw->atom +
           c % lanes() * bytes();
  }
};

struct CdpOutcome {
  std::map<std::uint64_t, std::uint8_t> bytes;  // of the output
  unsigned saturated = 0, under = 0, over = 0, hybrid = 0, le = 0, lo = 0;
  unsigned nan_in = 0, infinite_in = 0, nan_out = 0;
};

// A small layer of one of the precisions that there are; everything that is legal may come.
CdpCase random_cdp(const nvdla_hw& hw, Random& random, unsigned precision);
CdpTable random_table(Random& random, bool le, unsigned precision);
void place_cdp(CdpCase& layer, Random& random);
// Fills the input, in fp16 with numbers of like size mostly.
void fill_cdp(const CdpCase& layer, UnitRig& rig, Random& random);
void program_cdp(const CdpCase& layer, Registers& regs);
void enable_cdp(Registers& regs);
CdpOutcome cdp_reference(const CdpCase& layer, UnitRig& rig);
// Runs what is in the rig's memory and compares output and saturation; empty if all is well.
std::string check_cdp_output(const CdpCase& layer, const CdpOutcome& want, UnitRig& rig);
// The same of the first layer on a rig, with pointers and all counters.
std::string check_cdp(const CdpCase& layer, UnitRig& rig);

}  // namespace nvdla::test
