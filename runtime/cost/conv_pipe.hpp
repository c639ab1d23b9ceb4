// SPDX-License-Identifier: MIT
//
// The convolution pipeline from one layer to the next: CDMA fetches a layer while the array
// computes the one before, as far as the convolution buffer has room.
#ifndef NVDLA_COST_CONV_PIPE_HPP
#define NVDLA_COST_CONV_PIPE_HPP

#include <cstdint>
#include <vector>

#include "cost/geometry.hpp"
#include "cost/layer_cycles.hpp"
#include "cost/machine.hpp"
#include "cost/memory_timing.hpp"

namespace nvdla::cost {

// `ConvPipe` has what earlier layers of a sequence leave behind; times are cycles since it began.
struct ConvPipe {
  // `Held` is a part of the buffer that is in use until `until`, in entries or bytes.
  struct Held {
    double size = 0, until = 0;
  };

  bool used = false;
  bool followed = true;  // by a layer that asks for the lists below
  double fetched = 0;    // when CDMA had all of the layer before
  double array_end = 0;  // its last multiplication
  double sdp_end = 0;    // and its last sums
  std::uint32_t data_banks = 0, weight_banks = 0;
  std::vector<Held> data, weights;  // oldest first
  Backlog memory = {};
};

// `ConvOnTheFly` is a convolution with what takes its results on the fly; `pdp` may be null.
struct ConvOnTheFly {
  const ConvGeometry& conv;
  const SdpGeometry& sdp;
  const PdpGeometry* pdp = nullptr;
};

// Predicts a layer that is enabled at `enabled`, behind those that `pipe` has seen, and adds it to
// these. All spans and the total count from the beginning of the sequence.
LayerCycles run_conv(const Machine& machine, const MemoryTiming& memory, const ConvOnTheFly& layer,
                     double enabled, ConvPipe& pipe);

}  // namespace nvdla::cost

#endif  // NVDLA_COST_CONV_PIPE_HPP
