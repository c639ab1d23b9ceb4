// SPDX-License-Identifier: MIT
//
// SDP and PDP add to a layer what is described here, whoever feeds them.
#ifndef NVDLA_COST_UNIT_RATES_HPP
#define NVDLA_COST_UNIT_RATES_HPP

#include <array>
#include <cstdint>
#include <span>

#include "cost/geometry.hpp"
#include "cost/memory_timing.hpp"

namespace nvdla::cost {

// The way of the first atom through SDP, and from there into memory, measured.
inline constexpr double kSdpThrough = 46;
inline constexpr double kSdpOperator = 7;
inline constexpr double kSdpWrite = 11;

// Cubes and operands that SDP works through.
struct SdpWork {
  std::uint64_t atoms = 0;     // that pass, each a column of channels of one position
  std::uint64_t per_atom = 1;  // cycles of its slowest operator
  double through = 0;          // cycles of one atom through the unit
  Reads reads[4];              // cube, operands of BS, BN and EW
  std::uint64_t written = 0;   // bytes

  double pass() const noexcept { return static_cast<double>(atoms * per_atom); }
};
SdpWork sdp_work(const Machine& machine, const SdpGeometry& layer);

struct PdpWork {
  std::uint64_t per_atom = 1;
  double pass = 0;  // cycles for the cube
  double tail = 0;  // what comes out when everything is in
  Reads reads;      // from memory
  std::uint64_t written = 0;
};
PdpWork pdp_work(const Machine& machine, const PdpGeometry& layer);
// The way of an atom into memory, from SDP or from memory, measured.
inline constexpr double kPdpFlying = 20;
inline constexpr double kPdpMemory = 57;

// All that one interface has to bring for a unit: streams of several interfaces go on at once.
// Each client keeps as many beats on their way as `queues` has room for.
double stream_time(const MemoryTiming& memory, std::span<const Reads> reads,
                   std::span<const Queue> queues) noexcept;
// The queues of what SDP reads: the cube, operands of BS, BN and EW.
std::array<Queue, 4> sdp_queues(const Machine& machine) noexcept;

}  // namespace nvdla::cost

#endif  // NVDLA_COST_UNIT_RATES_HPP
