// SPDX-License-Identifier: MIT
//
// A stand-alone SDP layer in all precisions with its three operators and the table: how it lies in
// memory, how it is programmed, and what it should give, one element at a time and from the
// description alone.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/layers/reference.hpp"
#include "common/unit_rig.hpp"

namespace nvdla::test {

enum : unsigned { kRefInt8 = 0, kRefInt16 = 1, kRefFp16 = 2 };
constexpr unsigned ref_bytes(unsigned precision) { return precision == kRefInt8 ? 1 : 2; }

struct SdpPart {
  bool active = false;
  Source source = Source::kRegister;
  std::uint32_t value = 0;  // the register
  // Of Y's operands in memory.
  bool bypass_converter = true;
  std::int32_t offset = 0;
  std::int32_t scale = 1;
  unsigned truncate = 0;

  bool in_memory() const { return active && source != Source::kRegister; }
};

// X1, X2 or Y.
struct SdpUnit {
  bool active = false;
  unsigned algorithm = 2;  // 0 max, 1 min, 2 sum, 3 equal
  SdpPart alu, mul;
  unsigned alu_shift = 0;  // X only
  unsigned mul_shift = 0;
  bool prelu = false;
  bool relu = false;  // X only
  bool lut = false;   // Y only
  bool two_bytes = true;
  Cube operands;

  bool in_memory() const { return active && (alu.in_memory() || mul.in_memory()); }
  unsigned components() const { return alu.in_memory() && mul.in_memory() ? 2 : 1; }
  unsigned element_bytes() const { return components() * (two_bytes ? 2 : 1); }
  Source source() const { return alu.in_memory() ? alu.source : mul.source; }
};

struct SdpTable {
  bool exponential = false;
  int offset = 0, select = 0;
  std::uint32_t start = 0, end = 0;  // integers or fp32
  std::uint16_t under_scale = 0, over_scale = 0;
  int under_shift = 0, over_shift = 0;
  std::vector<std::uint16_t> entries;
};

struct SdpCase {
  const nvdla_hw* hw = nullptr;
  unsigned in = kRefInt8, proc = kRefInt8, out = kRefInt8;
  unsigned width = 1, height = 1, channels = 1;
  SdpUnit units[3];
  bool flush_nan = false;
  std::int32_t offset = 0;
  std::int32_t scale = 1;
  unsigned shift = 0;
  SdpTable le, lo;
  unsigned under_priority = 0, over_priority = 0, hybrid_priority = 0;
  bool count_saturation = true, count_specials = true, count_input = true, count_lut = true;
  Cube source, destination;

  unsigned column() const { return hw->atom / ref_bytes(proc); }
  unsigned lanes() const { return (channels + column() - 1) / column() * column(); }
  bool equal() const { return units[2].active && units[2].alu.active && units[2].algorithm == 3; }
  bool uses_lut() const { return units[2].active && units[2].lut; }
  std::uint64_t at(const Cube& cube, unsigned bytes, unsigned x, unsigned y, unsigned c) const;
  std::uint64_t operand_at(const SdpUnit& unit, unsigned x, unsigned y, unsigned c) const;
};

struct SdpOutcome {
  std::map<std::uint64_t, std::uint8_t> bytes;  // of the output
  std::uint32_t saturated = 0, nan_out = 0, nan_in = 0, infinite_in = 0;
  std::uint32_t under = 0, over = 0, hit = 0, le_hit = 0, lo_hit = 0;
  bool unequal = false;
};

inline constexpr std::uint64_t kSdpIn = 0x8000'0000, kSdpOut = 0x8200'0000;
constexpr std::uint64_t sdp_operands(unsigned unit) { return 0x8300'0000 + unit * 0x0100'0000ull; }

// Puts everything in its place; packed unless `gaps`.
void place_sdp(SdpCase& layer, Random& random, bool gaps);
// Bytes that random filling has to cover, at kSdpIn and at each operand.
std::uint64_t sdp_region(const SdpCase& layer);
void program_sdp(const SdpCase& layer, Registers& regs);
void enable_sdp(Registers& regs);
SdpOutcome sdp_reference(const SdpCase& layer, UnitRig& rig);
// Runs what is in the rig's memory and compares output, counters and, where the recorder is not
// open, what is touched; empty if all is well.
std::string check_sdp(const SdpCase& layer, UnitRig& rig);

}  // namespace nvdla::test
