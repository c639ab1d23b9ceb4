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

LayerCycles moved(const MemoryTiming& memory, const Queue& queue, const Reads& reads,
                  std::uint64_t written, double pass, double fixed, Bound unit) {
  const double stream = Stream(memory, reads, queue).all();
  const double busy = std::max(pass + memory.latency - 1, stream);
  LayerCycles cycles;
  cycles.total = rounded(fixed + busy + (memory.write_latency - 1));
  cycles.read = reads.bytes;
  cycles.written = written;
  cycles.bound = most({{unit, pass}, {Bound::kMemory, stream}, {Bound::kStart, fixed}});
  return cycles;
}

// Returns what reading takes beyond the beats themselves.
std::uint64_t stall(const MemoryTiming& memory, const Reads& reads, double pass) {
  const double stream = std::max(pass + memory.latency - 1, Stream(memory, reads).all());
  return rounded(stream - std::max(pass, static_cast<double>(reads.beats)));
}

}  // namespace

LayerCycles cdp_cycles(const Machine& machine, const MemoryTiming& memory,
                       const CdpGeometry& layer) {
  const std::uint64_t surfaces =
      ceil_div(std::uint64_t{layer.channels} * layer.element_bytes, machine.atom);
  const Reads reads = read_lines(machine, layer.source, surfaces * layer.height, layer.width);
  const double pass =
      static_cast<double>(reads.atoms * ceil_div(machine.atom, machine.cdp_throughput));
  LayerCycles cycles = moved(memory, {machine.queues.cdp, machine.queues.turn}, reads, reads.bytes,
                             pass, kCdp, Bound::kCdp);
  cycles.cdp = {0, cycles.total};
  cycles.stalls.cdp = stall(memory, reads, pass);
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
  LayerCycles cycles = moved(memory, {machine.queues.rubik, machine.queues.turn}, reads,
                             written * machine.atom, pass, kMove, Bound::kMemory);
  cycles.rubik = {0, cycles.total};
  cycles.stalls.rubik = stall(memory, reads, pass);
  return cycles;
}

LayerCycles bdma_cycles(const MemoryTiming& memory, const Reads& reads) {
  LayerCycles cycles = moved(memory, {}, reads, reads.bytes, 0, kMove, Bound::kMemory);
  cycles.bdma = {0, cycles.total};
  cycles.stalls.bdma = stall(memory, reads, 0);
  return cycles;
}

}  // namespace nvdla::cost
