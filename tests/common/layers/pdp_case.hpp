// SPDX-License-Identifier: MIT
//
// A stand-alone PDP layer in all precisions: how it lies in memory, how it is programmed, and what
// it should give, window by window and from the description alone.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/unit_rig.hpp"

namespace nvdla::test {

enum PdpMethod : unsigned { kAverage, kMax, kMin };

inline constexpr std::uint64_t kPdpIn = 0x8000'0000, kPdpOut = 0x8200'0000;
inline constexpr std::uint64_t kPdpRegion = 1 << 18;
inline constexpr std::uint32_t kPdpDone = 1u << 4;

struct PdpCase {
  const nvdla_hw* hw = nullptr;
  unsigned precision = 0, method = kMax;  // int8, int16, fp16
  unsigned width = 1, height = 1, channels = 1, out_width = 1, out_height = 1;
  unsigned kw = 1, kh = 1, sx = 1, sy = 1, left = 0, right = 0, top = 0, bottom = 0;
  unsigned bands = 1, in[3] = {1, 1, 1}, out[3] = {1, 1, 1};  // first, middle, last
  std::uint32_t reciprocal[2] = {0x10000, 0x10000};
  std::uint32_t padding[8] = {};
  bool flush = false;
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

// The columns that a band reads: its own and those that it shares with the one before.
struct PdpColumns {
  unsigned begin, end;
};

struct PdpOutcome {
  std::map<std::uint64_t, std::uint8_t> bytes;  // of the output
  std::uint32_t nan_in = 0, infinite_in = 0, nan_out = 0;
};

// A small layer; everything that is legal may come.
PdpCase random_pdp(const nvdla_hw& hw, Random& random);
// Puts input and output in their places; packed unless `gaps`.
void place_pdp(PdpCase& layer, Random& random, bool gaps);
// Fills the input, in fp16 with numbers of like size mostly.
void fill_pdp(const PdpCase& layer, UnitRig& rig, Random& random);
void program_pdp(const PdpCase& layer, Registers& regs, bool flying = false);
void enable_pdp(Registers& regs);
std::vector<PdpColumns> pdp_columns(const PdpCase& layer);
PdpOutcome pdp_reference(const PdpCase& layer, UnitRig& rig);
// Runs what is in the rig's memory and compares output, counters and, where the recorder is not
// open, what is touched; empty if all is well.
std::string check_pdp(const PdpCase& layer, UnitRig& rig);

}  // namespace nvdla::test
