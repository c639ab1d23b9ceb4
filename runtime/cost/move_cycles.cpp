// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cost/unit_cycles.hpp"

namespace nvdla::cost {
namespace {

// From one memory through the unit into another, measured; CDP's has the table in it.
constexpr double kCdp = 160;
constexpr double kMove = 61;
// RUBIK's cycles of a beat that it writes in split, and beyond one of a beat of two atoms.
constexpr double kSplitBeat = 3;
constexpr double kFullBeat = 1. / 3;

// `Move` is what a unit reads and writes, and how.
struct Move {
  Reads reads;
  Queue queue = {};
  Interface destination = Interface::kPrimary;
  std::uint64_t written = 0;  // bytes
  double pass = 0;            // cycles of the unit for all of it
  double fixed = kMove;
  Bound unit = Bound::kMemory;
};

LayerCycles move_cycles(const MemoryTiming& memory, const Move& move, std::uint64_t& stall) {
  Traffic traffic;
  traffic.add(move.reads);
  traffic.add(move.destination, move.written);
  const double wait = memory.behind(move.reads.interface).latency - 1;
  const double stream =
      std::max(Stream(memory, move.reads, move.queue).all(), traffic.cycles(memory) + wait);
  const double busy = std::max(move.pass + wait, stream);
  LayerCycles cycles;
  cycles.total = rounded(move.fixed + busy + (memory.behind(move.destination).write_latency - 1));
  cycles.read = move.reads.bytes;
  cycles.written = move.written;
  cycles.bound =
      most({{move.unit, move.pass}, {Bound::kMemory, stream}, {Bound::kStart, move.fixed}});
  // Reading takes so much beyond the beats themselves.
  stall = rounded(busy - std::max(move.pass, static_cast<double>(move.reads.beats)));
  return cycles;
}

}  // namespace

LayerCycles cdp_cycles(const Machine& machine, const MemoryTiming& memory,
                       const CdpGeometry& layer) {
  const std::uint64_t surfaces =
      ceil_div(std::uint64_t{layer.channels} * layer.element_bytes, machine.atom);
  const Reads reads = read_lines(machine, layer.source, surfaces * layer.height, layer.width);
  const double pass =
      static_cast<double>(reads.atoms * ceil_div(machine.atom, machine.cdp_throughput));
  std::uint64_t stall = 0;
  LayerCycles cycles = move_cycles(memory,
                                   {.reads = reads,
                                    .queue = {machine.queues.cdp, machine.queues.turn},
                                    .destination = layer.destination,
                                    .written = reads.bytes,
                                    .pass = pass,
                                    .fixed = kCdp,
                                    .unit = Bound::kCdp},
                                   stall);
  cycles.cdp = {0, cycles.total};
  cycles.stalls.cdp = stall;
  return cycles;
}

LayerCycles rubik_cycles(const Machine& machine, const MemoryTiming& memory,
                         const RubikGeometry& layer) {
  const std::uint64_t surfaces = ceil_div(layer.out_channels * layer.element_bytes, machine.atom);
  const std::uint64_t line = ceil_div(layer.width * layer.element_bytes, machine.atom);
  Reads reads;
  const std::uint64_t plane_beats = layer.out_channels * layer.height *
                                    ceil_div(layer.width * layer.element_bytes, machine.bus_bytes);
  std::uint64_t written = 0;  // atoms
  switch (layer.mode) {
    case RubikMode::kContract:
      reads = read_lines(machine, layer.source,
                         surfaces * layer.stride_width * layer.stride_height * layer.height,
                         layer.width);
      written = reads.atoms;
      break;
    case RubikMode::kSplit:
      reads = read_lines(machine, layer.source, surfaces * layer.height, layer.width);
      written = layer.out_channels * layer.height * line;
      break;
    case RubikMode::kMerge:
      reads = read_lines(machine, layer.source, layer.out_channels * layer.height, line);
      written = surfaces * layer.height * layer.width;
      break;
  }
  // A beat of both atoms takes a third longer to read than one of a single atom; in split each beat
  // that is written takes three cycles.
  const double full = static_cast<double>(reads.atoms - reads.beats);
  double pass = static_cast<double>(reads.beats) + kFullBeat * full;
  if (layer.mode == RubikMode::kSplit)
    pass = std::max(pass, kSplitBeat * static_cast<double>(plane_beats));
  std::uint64_t stall = 0;
  LayerCycles cycles = move_cycles(memory,
                                   {.reads = reads,
                                    .queue = {machine.queues.rubik, machine.queues.turn},
                                    .destination = layer.destination,
                                    .written = written * machine.atom,
                                    .pass = pass},
                                   stall);
  cycles.rubik = {0, cycles.total};
  cycles.stalls.rubik = stall;
  return cycles;
}

LayerCycles bdma_cycles(const MemoryTiming& memory, const Reads& reads, Interface destination) {
  std::uint64_t stall = 0;
  LayerCycles cycles = move_cycles(
      memory, {.reads = reads, .destination = destination, .written = reads.bytes}, stall);
  cycles.bdma = {0, cycles.total};
  cycles.stalls.bdma = stall;
  return cycles;
}

}  // namespace nvdla::cost
