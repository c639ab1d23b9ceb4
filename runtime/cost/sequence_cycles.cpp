// SPDX-License-Identifier: MIT
#include "cost/sequence_cycles.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cost/conv_pipe.hpp"
#include "cost/unit_cycles.hpp"
#include "cost/unit_rates.hpp"

namespace nvdla::cost {
namespace {

// Units that work on one layer at a time and have two register groups.
enum Unit : unsigned { kConvUnit, kSdpUnit, kPdpUnit, kCdpUnit, kRubikUnit, kBdmaUnit, kUnits };

// The first atom of a layer leaves SDP so long after the end of the one before, if it waits there:
// measured on each generation.
constexpr double kNextOfFirst = 25, kNextOfSecond = 19;

using Units = std::array<bool, kUnits>;

Units units_of(const LayerGeometry& layer) {
  Units units = {};
  using Kind = LayerGeometry::Kind;
  units[kConvUnit] = layer.kind == Kind::kConv;
  units[kSdpUnit] = layer.kind == Kind::kConv || layer.kind == Kind::kSdp;
  units[kPdpUnit] = layer.kind == Kind::kPdp || layer.pooled;
  units[kCdpUnit] = layer.kind == Kind::kCdp;
  units[kRubikUnit] = layer.kind == Kind::kRubik;
  units[kBdmaUnit] = layer.kind == Kind::kBdma;
  return units;
}

void shift(LayerCycles& cycles, std::uint64_t by) {
  cycles.total += by;
  for (Span* span : {&cycles.data, &cycles.weights, &cycles.mac, &cycles.sdp, &cycles.pdp,
                     &cycles.cdp, &cycles.rubik, &cycles.bdma}) {
    if (span->empty()) continue;
    span->begin += by;
    span->end += by;
  }
}

class Sequence {
 public:
  Sequence(const Machine& machine, const MemoryTiming& memory, const EngineTiming& engine)
      : machine_(machine), memory_(memory), engine_(engine) {}

  void add(const SequenceLayer& layer) {
    const Units units = units_of(layer.layer);
    const double enabled = enable(layer, units);
    LayerCycles cycles = run(layer.layer, units, enabled);
    for (unsigned i = 0; i < kUnits; ++i) {
      if (!units[i]) continue;
      ++count_[i];
      before_[i] = last_[i];
      last_[i] = static_cast<double>(cycles.total);
    }
    if (units[kSdpUnit]) read_by_sdp_ = layer.layer.kind == LayerGeometry::Kind::kSdp;
    done_.total = std::max(done_.total, cycles.total);
    done_.layers.push_back(cycles);
  }

  SequenceCycles take() { return std::move(done_); }

 private:
  // Returns when the layer is enabled.
  double enable(const SequenceLayer& layer, const Units& units) {
    double group = 0, unit = 0;
    bool writes = false;
    for (unsigned i = 0; i < kUnits; ++i) {
      if (!units[i]) continue;
      // The registers of both groups of a unit are written before it all begins.
      writes |= count_[i] >= (engine_.goes_on ? 1U : 2U);
      group = std::max(group, before_[i]);
      unit = std::max(unit, last_[i]);
    }
    if (writes) written_ = std::max(written_, group + engine_.interrupt) + engine_.registers;
    double enabled = writes ? written_ : 0;
    const auto after = [&](double end) {
      if (end > 0) enabled = std::max(enabled, end + engine_.interrupt);
    };
    for (const std::uint32_t other : layer.waits)
      after(static_cast<double>(done_.layers[other].total));
    if (!engine_.ahead || (units[kConvUnit] && !engine_.convolutions_ahead)) after(unit);
    return enabled;
  }

  LayerCycles run(const LayerGeometry& layer, const Units& units, double enabled) {
    if (layer.kind == LayerGeometry::Kind::kConv) {
      const PdpGeometry* const pdp = layer.pooled ? &layer.pdp : nullptr;
      return run_conv(machine_, memory_, {.conv = layer.conv, .sdp = layer.sdp, .pdp = pdp},
                      enabled, pipe_);
    }
    LayerCycles cycles = layer_cycles(machine_, memory_, layer);
    // Other units begin a layer when they have ended the one before.
    double begin = enabled;
    for (unsigned i = 0; i < kUnits; ++i)
      if (units[i]) begin = std::max(begin, last_[i]);
    begin -= std::min(begin - enabled, read_ahead(layer, cycles));
    shift(cycles, rounded(begin));
    Traffic traffic;
    traffic.add(source_of(layer), cycles.read);
    traffic.add(destination_of(layer), cycles.written);
    const double passed = traffic.add_to(pipe_.memory, memory_, begin);
    cycles.total = std::max(cycles.total, rounded(passed));
    if (units[kSdpUnit]) pipe_.sdp_end = std::max(pipe_.sdp_end, static_cast<double>(cycles.total));
    return cycles;
  }

  // Returns the cycles of a layer of SDP that go by under the one before: SDP's read client turns
  // to the next layer when it has read all of one, so that data waits for SDP.
  double read_ahead(const LayerGeometry& layer, const LayerCycles& alone) const {
    if (layer.kind != LayerGeometry::Kind::kSdp || layer.pooled || !read_by_sdp_) return 0;
    const SdpWork work = sdp_work(machine_, layer.sdp);
    const double next = machine_.first_generation ? kNextOfFirst : kNextOfSecond;
    const double ahead = work.through - next + memory_.behind(layer.sdp.source).latency - 1;
    if (alone.bound != Bound::kMemory) return ahead;
    // Reads that SDP waits for anyway gain no more than the client's queue takes.
    const std::uint64_t queued =
        std::uint64_t{machine_.queues.sdp} * machine_.bus_bytes / machine_.atom * work.per_atom;
    return std::max(ahead - static_cast<double>(queued), 0.0);
  }

  const Machine& machine_;
  const MemoryTiming& memory_;
  const EngineTiming engine_;
  bool read_by_sdp_ = false;  // the last layer of SDP came from memory
  ConvPipe pipe_;
  unsigned count_[kUnits] = {};                     // layers of each unit so far
  double before_[kUnits] = {}, last_[kUnits] = {};  // ends of the two last layers of each unit
  double written_ = 0;                              // when the engine last had written registers
  SequenceCycles done_;
};

}  // namespace

Interface source_of(const LayerGeometry& layer) {
  switch (layer.kind) {
    case LayerGeometry::Kind::kSdp:
      return layer.sdp.source;
    case LayerGeometry::Kind::kPdp:
      return layer.pdp.source;
    case LayerGeometry::Kind::kCdp:
      return layer.cdp.source;
    case LayerGeometry::Kind::kRubik:
      return layer.rubik.source;
    case LayerGeometry::Kind::kBdma:
      return layer.moved.interface;
    case LayerGeometry::Kind::kConv:
      break;
  }
  return layer.conv.data;
}

Interface destination_of(const LayerGeometry& layer) {
  switch (layer.kind) {
    case LayerGeometry::Kind::kPdp:
      return layer.pdp.destination;
    case LayerGeometry::Kind::kCdp:
      return layer.cdp.destination;
    case LayerGeometry::Kind::kRubik:
      return layer.rubik.destination;
    case LayerGeometry::Kind::kBdma:
      return layer.moved_to;
    case LayerGeometry::Kind::kConv:
    case LayerGeometry::Kind::kSdp:
      break;
  }
  return layer.pooled ? layer.pdp.destination : layer.sdp.destination;
}

LayerCycles layer_cycles(const Machine& machine, const MemoryTiming& memory,
                         const LayerGeometry& layer) {
  const PdpGeometry* const pdp = layer.pooled ? &layer.pdp : nullptr;
  switch (layer.kind) {
    case LayerGeometry::Kind::kConv:
      return conv_cycles(machine, memory, layer.conv, layer.sdp, pdp);
    case LayerGeometry::Kind::kSdp:
      return sdp_cycles(machine, memory, layer.sdp, pdp);
    case LayerGeometry::Kind::kPdp:
      return pdp_cycles(machine, memory, layer.pdp);
    case LayerGeometry::Kind::kCdp:
      return cdp_cycles(machine, memory, layer.cdp);
    case LayerGeometry::Kind::kRubik:
      return rubik_cycles(machine, memory, layer.rubik);
    case LayerGeometry::Kind::kBdma:
      break;
  }
  return bdma_cycles(memory, layer.moved, layer.moved_to);
}

SequenceCycles sequence_cycles(const Machine& machine, const MemoryTiming& memory,
                               std::span<const SequenceLayer> layers, const EngineTiming& engine) {
  Sequence sequence(machine, memory, engine);
  for (const SequenceLayer& layer : layers) sequence.add(layer);
  return sequence.take();
}

}  // namespace nvdla::cost
