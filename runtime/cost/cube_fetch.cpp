// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cost/buffer_fill.hpp"

namespace nvdla::cost {
namespace {

// The first generation, measured. CDMA writes up to two atoms of a group of up to four surfaces in
// a cycle, which takes these cycles for a position; each further group of a grain costs three more.
constexpr double kGroupCycles[] = {0, 0.5, 1.5, 2.5, 3};
constexpr std::uint64_t kGroup = 4;
constexpr double kNextGroup = 3;
// The first beat comes so long after the enable.
constexpr double kDirectBegin = 62, kImageBegin = 40, kWinogradBegin = 36;
// Cycles of a line beyond its beats.
constexpr double kImageLine = 2, kWinogradLine = 13.5;
// Beside kernels a beat takes so many turns of the interface. In Winograd a line costs more.
constexpr double kDirectShared = 2.15, kDirectSharedOwn = 0.25;
constexpr double kWinogradShared = 2, kWinogradSharedLine = 7.5, kWinogradSharedOwn = 3;

// The second generation: cycles for each run of atoms beyond a cycle an atom.
constexpr double kBegin = 48;
constexpr double kRunGap = 1.5;

Reads image_reads(const Machine& machine, const ConvGeometry& layer) {
  Reads reads;
  for (std::uint32_t plane = 0; plane < layer.planes; ++plane) {
    const std::uint64_t bytes =
        std::uint64_t{layer.x_offset + layer.width} * layer.plane_bytes[plane];
    reads += read_lines(machine, layer.data, layer.height, ceil_div(bytes, machine.atom));
  }
  return reads;
}

std::uint64_t surfaces_of(const Machine& machine, const ConvGeometry& layer) {
  return ceil_div(std::uint64_t{layer.channels} * layer.element_bytes, machine.atom);
}

Reads tensor_reads(const Machine& machine, const ConvGeometry& layer) {
  const std::uint64_t surfaces = surfaces_of(machine, layer);
  if (layer.width == 1 && layer.height == 1 && layer.surface_packed)
    return read_lines(machine, layer.data, layer.batches, surfaces);
  const std::uint64_t grain = std::max(layer.grain, 1U);
  const std::uint64_t cubes = surfaces * layer.batches;
  Reads reads = read_lines(machine, layer.data, cubes * (layer.height / grain),
                           std::uint64_t{layer.width} * grain);
  reads += read_lines(machine, layer.data, cubes, layer.width * (layer.height % grain));
  return reads;
}

// Cycles that CDMA of the first generation takes for a cube of a direct convolution.
double direct_cycles(const Machine& machine, const ConvGeometry& layer) {
  const std::uint64_t surfaces = surfaces_of(machine, layer);
  const std::uint64_t whole = surfaces / kGroup, rest = surfaces % kGroup;
  const double position = static_cast<double>(whole) * kGroupCycles[kGroup] + kGroupCycles[rest];
  const double groups = static_cast<double>(ceil_div(surfaces, kGroup));
  const double grains = static_cast<double>(ceil_div(layer.height, std::max(layer.grain, 1U)));
  const double positions = static_cast<double>(std::uint64_t{layer.width} * layer.height);
  return layer.batches * (positions * position + kNextGroup * (groups - 1) * grains);
}

}  // namespace

CubeFetch fetch_cube(const Machine& machine, const ConvGeometry& layer) {
  CubeFetch fetch;
  fetch.reads = layer.image ? image_reads(machine, layer) : tensor_reads(machine, layer);
  const double requests = static_cast<double>(fetch.reads.requests);
  if (!machine.first_generation) {
    fetch.begin = kBegin;
    fetch.own =
        static_cast<double>(fetch.reads.atoms) + kRunGap * static_cast<double>(fetch.reads.runs);
  } else if (layer.image) {
    fetch.begin = kImageBegin;
    fetch.own = static_cast<double>(fetch.reads.beats) + kImageLine * layer.planes * layer.height;
  } else if (layer.winograd) {
    const double lines = static_cast<double>(surfaces_of(machine, layer) * layer.height);
    const double in_line = requests / lines;
    fetch.begin = kWinogradBegin;
    fetch.own = requests + kWinogradLine * lines;
    fetch.shared = kWinogradShared + kWinogradSharedLine / in_line;
    fetch.shared_own = kWinogradSharedOwn / in_line;
  } else {
    fetch.begin = kDirectBegin;
    fetch.own = direct_cycles(machine, layer);
    fetch.shared = kDirectShared;
    fetch.shared_own = kDirectSharedOwn;
  }
  return fetch;
}

}  // namespace nvdla::cost
