// SPDX-License-Identifier: MIT
//
// The rates of a device that predicted cycles depend on.
#ifndef NVDLA_COST_MACHINE_HPP
#define NVDLA_COST_MACHINE_HPP

#include <cstdint>

namespace nvdla::cost {

// `ReadQueues` counts the beats for which the read clients of a unit have room: as many are on
// their way at once, and each takes the memory's latency and `turn` cycles. 0 where no limit was
// measured.
struct ReadQueues {
  std::uint32_t sdp = 0;  // the cube
  std::uint32_t x = 0, y = 0;
  std::uint32_t pdp = 0, cdp = 0, rubik = 0, bdma = 0;
  std::uint32_t turn = 0;
};

struct Machine {
  bool first_generation = false;
  std::uint32_t atom = 0;          // bytes
  std::uint32_t atomic_c = 0;      // channels of one step of the multipliers
  std::uint32_t atomic_k = 0;      // int8 kernels of a kernel group
  std::uint32_t cbuf_entries = 0;  // of a bank
  std::uint32_t cbuf_entry_bytes = 0;
  std::uint32_t bus_bytes = 0;   // of a beat
  std::uint32_t burst = 0;       // beats of a request, at most
  std::uint32_t sram_burst = 0;  // the same to the secondary memory
  // Elements a cycle.
  std::uint32_t sdp_x_throughput = 0;  // X1 and X2
  std::uint32_t sdp_throughput = 0;    // the slowest operator that is built
  std::uint32_t pdp_throughput = 0;
  std::uint32_t cdp_throughput = 0;
  ReadQueues queues = {};
};

// Returns how far read clients go ahead of their unit, as measured: on nv_full, which is the first
// generation, on nv_small of 2018, which is also what an unknown revision is taken for, and on that
// of 2019.
constexpr ReadQueues queues_of(bool first_generation, std::uint32_t revision) noexcept {
  if (first_generation) {
    return {
        .sdp = 72, .x = 160, .y = 80, .pdp = 61, .cdp = 61, .rubik = 72, .bdma = 245, .turn = 5};
  }
  if (revision == 2019) return {.sdp = 8, .x = 8, .y = 8, .pdp = 8, .cdp = 8, .turn = 16};
  return {.sdp = 80, .x = 160, .y = 80, .pdp = 80, .cdp = 80, .turn = 16};
}

// Returns the rates of a configuration; `Hardware` has fields of the same names (nvdla_hw.h).
template <typename Hardware>
constexpr Machine machine_of(const Hardware& hw, bool first_generation) noexcept {
  return {.first_generation = first_generation,
          .atom = hw.atom,
          .atomic_c = hw.atomic_c,
          .atomic_k = hw.atomic_k,
          .cbuf_entries = hw.cbuf_entries,
          .cbuf_entry_bytes = hw.cbuf_entry_bytes,
          .bus_bytes = hw.bus_bytes,
          .burst = hw.burst,
          .sram_burst = hw.sram_burst,
          .sdp_x_throughput = hw.sdp_x_throughput,
          .sdp_throughput = hw.sdp_throughput,
          .pdp_throughput = hw.pdp_throughput,
          .cdp_throughput = hw.cdp_throughput,
          .queues = queues_of(first_generation, hw.revision)};
}

// Positions of a stripe, which share the kernels that the multipliers loaded last.
inline constexpr std::uint64_t kStripe = 16;

// Returns a / b, rounded up.
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) noexcept {
  return (a + b - 1) / b;
}

}  // namespace nvdla::cost

#endif  // NVDLA_COST_MACHINE_HPP
