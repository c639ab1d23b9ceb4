// SPDX-License-Identifier: MIT
//
// `LayerCycles` is the prediction for one layer.
#ifndef NVDLA_COST_LAYER_CYCLES_HPP
#define NVDLA_COST_LAYER_CYCLES_HPP

#include <cstdint>
#include <initializer_list>

namespace nvdla::cost {

// `Bound` names what takes most of a layer's time.
enum class Bound : std::uint8_t {
  kMacs,     // multiply-accumulates
  kInput,    // nothing is computed before all input is in the convolution buffer
  kWeights,  // kernels that are not in the buffer when their turn comes
  kMemory,   // operands and cubes of the other units
  kSdp,      // how many elements a unit passes
  kPdp,
  kCdp,
  kStart,  // what every layer costs, whatever its size
};
const char* bound_name(Bound bound) noexcept;

struct Part {
  Bound bound;
  double cycles;
};
// Returns the longest part of a layer's time, of equals the first.
Bound most(std::initializer_list<Part> parts) noexcept;

// Returns whole cycles.
std::uint64_t rounded(double cycles) noexcept;

// When a part of the device works on the layer, in cycles since it was enabled; empty for none.
struct Span {
  std::uint64_t begin = 0, end = 0;

  bool empty() const noexcept { return end == begin; }
};

// `Stalls` has what the registers of units count.
struct Stalls {
  std::uint64_t data = 0, weights = 0;  // requests of CDMA that wait for the interface
  std::uint64_t data_latency = 0, weight_latency = 0;   // of all its reads together
  std::uint64_t sdp[4] = {};                            // SDP_RDMA: cube, BS, BN, EW
  std::uint64_t pdp = 0, cdp = 0, rubik = 0, bdma = 0;  // reads of these units
};

struct LayerCycles {
  std::uint64_t total = 0;              // from OP_ENABLE to the interrupt
  std::uint64_t macs = 0;               // multiply-accumulates that the result needs
  std::uint64_t peak = 0;               // and that the array could have done in this time
  std::uint64_t read = 0, written = 0;  // bytes
  Bound bound = Bound::kStart;
  Span data, weights, mac, sdp, pdp, cdp, rubik, bdma;
  Stalls stalls;
};

}  // namespace nvdla::cost

#endif  // NVDLA_COST_LAYER_CYCLES_HPP
