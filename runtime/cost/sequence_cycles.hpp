// SPDX-License-Identifier: MIT
//
// Cycles of layers that run one behind the other and side by side.
#ifndef NVDLA_COST_SEQUENCE_CYCLES_HPP
#define NVDLA_COST_SEQUENCE_CYCLES_HPP

#include <cstdint>
#include <span>
#include <vector>

#include "cost/geometry.hpp"
#include "cost/layer_cycles.hpp"
#include "cost/machine.hpp"
#include "cost/memory_timing.hpp"

namespace nvdla::cost {

// `LayerGeometry` is one layer of any unit. Which members count follows from `kind`; a convolution
// has `sdp` behind it, and either may have `pdp` if it is `pooled`.
struct LayerGeometry {
  enum class Kind : std::uint8_t { kConv, kSdp, kPdp, kCdp, kRubik, kBdma };

  Kind kind = Kind::kConv;
  ConvGeometry conv = {};
  SdpGeometry sdp = {};
  PdpGeometry pdp = {};
  bool pooled = false;
  CdpGeometry cdp = {};
  RubikGeometry rubik = {};
  Reads moved = {};  // by BDMA
  Interface moved_to = Interface::kPrimary;
};

// Return the interface that the layer's first unit reads its input through, and that it writes to.
Interface source_of(const LayerGeometry& layer);
Interface destination_of(const LayerGeometry& layer);

// Predicts a layer by itself.
LayerCycles layer_cycles(const Machine& machine, const MemoryTiming& memory,
                         const LayerGeometry& layer);

// `EngineTiming` describes what starts the layers. The defaults are those of the firmware's engine
// on a host that writes a register every few cycles, as measured.
struct EngineTiming {
  double interrupt = 42;   // cycles from an end to the enable of what waited for it
  double registers = 360;  // to write those of a layer, where its register group was in use
  // Layers are enabled while their units still work on others; false for all units, or for
  // convolutions where the logic would lose weights.
  bool ahead = true, convolutions_ahead = true;
  // Other layers ran before, so that only the registers of the first layer of a unit are written:
  // the last of them had the other group.
  bool goes_on = false;
};

// `SequenceLayer` is a layer and those, by their places, that have to end before it starts.
struct SequenceLayer {
  LayerGeometry layer;
  std::vector<std::uint32_t> waits = {};
};

struct SequenceCycles {
  std::uint64_t total = 0;  // from the first enable to the last interrupt
  // One for each layer: spans and totals count from the first enable.
  std::vector<LayerCycles> layers;
};

// Predicts layers that are started in their order, each as soon as it may: units have two register
// groups, so that one more layer of each is ready to begin.
SequenceCycles sequence_cycles(const Machine& machine, const MemoryTiming& memory,
                               std::span<const SequenceLayer> layers,
                               const EngineTiming& engine = {});

// The constants of predictions rest on measurements of the published logic. These return what lies
// beyond all that was measured, for people: "kernels of more than 8 x 8"; nullptr
// for a device with its memory, or a layer, whose like was measured.
const char* beyond_measured(const Machine& machine, const MemoryTiming& memory) noexcept;
const char* beyond_measured(const LayerGeometry& layer) noexcept;

}  // namespace nvdla::cost

#endif  // NVDLA_COST_SEQUENCE_CYCLES_HPP
