// SPDX-License-Identifier: MIT
#include "model/cost/move_cycles.hpp"

#include <algorithm>

#include "support/integers.hpp"

namespace nvdla::model::cycles {
namespace {

// From one memory through the unit into another, measured; CDP's has the table in it.
constexpr double kCdp = 160;
constexpr double kMove = 61;

LayerCycles moved(const MemoryTiming& memory, const Reads& reads, std::uint64_t written,
                  double pass, double fixed, Bound unit) {
  const double stream = Stream(memory, reads).all();
  const double busy = std::max(pass + memory.latency - 1, stream);
  LayerCycles cycles;
  cycles.total = rounded(fixed + busy);
  cycles.read = reads.bytes;
  cycles.written = written;
  cycles.bound = most({{unit, pass}, {Bound::kMemory, stream}, {Bound::kStart, fixed}});
  return cycles;
}

// What reading takes beyond the beats themselves.
std::uint64_t stall(const MemoryTiming& memory, const Reads& reads, double pass) {
  const double stream = std::max(pass + memory.latency - 1, Stream(memory, reads).all());
  return rounded(stream - std::max(pass, static_cast<double>(reads.beats)));
}

}  // namespace

LayerCycles cdp_cycles(const nvdla_hw& hw, const MemoryTiming& memory, const CdpLayer& layer) {
  const CdpRdma& rdma = layer.rdma;
  const std::uint64_t surfaces =
      arith::ceil_div(std::uint64_t{rdma.channels} * precision_bytes(layer.precision), hw.atom);
  const Reads reads = read_lines(hw, rdma.source.ram, surfaces * rdma.height, rdma.width);
  const double pass =
      static_cast<double>(reads.atoms * arith::ceil_div(hw.atom, hw.cdp_throughput));
  LayerCycles cycles = moved(memory, reads, reads.bytes, pass, kCdp, Bound::kCdp);
  cycles.cdp = {0, cycles.total};
  cycles.stalls.cdp = stall(memory, reads, pass);
  return cycles;
}

LayerCycles rubik_cycles(const nvdla_hw& hw, const MemoryTiming& memory, const RubikLayer& layer) {
  const std::uint64_t bytes = precision_bytes(layer.precision);
  const auto surfaces = [&](std::uint64_t channels) {
    return arith::ceil_div(channels * bytes, hw.atom);
  };
  const std::uint64_t line = arith::ceil_div(layer.width * bytes, hw.atom);
  const Ram ram = layer.input.ram;
  Reads reads;
  std::uint64_t written = 0;  // atoms
  switch (layer.mode) {
    case RubikMode::kContract:
      reads = read_lines(
          hw, ram, surfaces(layer.channels_out) * layer.stride_x * layer.stride_y * layer.height,
          layer.width);
      written = reads.atoms;
      break;
    case RubikMode::kSplit:
      reads = read_lines(hw, ram, surfaces(layer.channels_out) * layer.height, layer.width);
      written = layer.channels_out * layer.height * line;
      break;
    case RubikMode::kMerge:
      reads = read_lines(hw, ram, layer.channels_out * layer.height, line);
      written = surfaces(layer.channels_out) * layer.height * layer.width;
      break;
  }
  // An atom a cycle on either side.
  const double pass = static_cast<double>(std::max(reads.atoms, written));
  LayerCycles cycles = moved(memory, reads, written * hw.atom, pass, kMove, Bound::kMemory);
  cycles.rubik = {0, cycles.total};
  cycles.stalls.rubik = stall(memory, reads, pass);
  return cycles;
}

LayerCycles bdma_cycles(const MemoryTiming& memory, const Reads& reads) {
  LayerCycles cycles = moved(memory, reads, reads.bytes, 0, kMove, Bound::kMemory);
  cycles.bdma = {0, cycles.total};
  cycles.stalls.bdma = stall(memory, reads, 0);
  return cycles;
}

}  // namespace nvdla::model::cycles
