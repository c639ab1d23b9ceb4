// SPDX-License-Identifier: MIT
#include "cost/unit_rates.hpp"

#include <algorithm>

namespace nvdla::cost {
namespace {

// A cube of `surfaces`; one position is one run of atoms.
Reads read_cube(const Machine& machine, Interface interface, std::uint64_t surfaces,
                std::uint64_t height, std::uint64_t width) {
  if (width == 1 && height == 1) return read_lines(machine, interface, 1, surfaces);
  return read_lines(machine, interface, surfaces * height, width);
}

// Surfaces of SDP's cubes: where int8 processing meets 16 bits they go in pairs.
std::uint64_t sdp_surfaces(const Machine& machine, const SdpGeometry& layer, std::uint32_t bytes) {
  const std::uint64_t columns = ceil_div(layer.channels, machine.atom / layer.element_bytes);
  return bytes > layer.element_bytes ? 2 * columns : columns;
}

// Windows that end behind the input come out when the input has passed: of `outputs` at `stride`,
// those but the first that take the last of `size` positions behind a border of `before`. Until the
// next line or surface has its first window they hold up nobody.
std::uint64_t late_windows(std::uint64_t outputs, std::uint64_t stride, std::uint64_t kernel,
                           std::uint64_t before, std::uint64_t size) {
  const std::uint64_t last = before + size - 1;
  // Windows that end before the last position.
  const std::uint64_t early = last + 1 > kernel ? ceil_div(last + 1 - kernel, stride) : 0;
  return outputs > early + 1 ? outputs - early - 1 : 0;
}

}  // namespace

SdpWork sdp_work(const Machine& machine, const SdpGeometry& layer) {
  const std::uint64_t lanes = machine.atom / layer.element_bytes;
  const std::uint64_t columns = ceil_div(layer.channels, lanes);
  const std::uint64_t positions = std::uint64_t{layer.width} * layer.height;
  const std::uint64_t passed = layer.y ? std::min(machine.sdp_throughput, machine.sdp_x_throughput)
                                       : machine.sdp_x_throughput;
  SdpWork work;
  work.atoms = positions * layer.batches * columns;
  work.per_atom = ceil_div(lanes, passed);
  work.through = kSdpThrough + kSdpOperator * (layer.x1 + layer.x2 + layer.y);
  if (layer.reads_cube) {
    work.reads[0] = read_cube(machine, layer.source, sdp_surfaces(machine, layer, layer.in_bytes),
                              layer.height, layer.width);
  }
  for (unsigned i = 0; i < 3; ++i) {
    const OperandGeometry& operand = layer.operands[i];
    if (!operand.read) continue;
    // A column of operands is so many atoms.
    const std::uint64_t atoms =
        (operand.both ? 2 : 1) * (operand.two_bytes ? 2 : 1) / std::uint64_t{layer.element_bytes};
    const std::uint64_t column = std::max<std::uint64_t>(atoms, 1);
    work.reads[i + 1] =
        operand.per_element && positions > 1
            ? read_lines(machine, operand.interface, columns * layer.height, layer.width * column)
            : read_lines(machine, operand.interface, 1, columns * column);
  }
  if (layer.writes_cube) {
    work.written =
        sdp_surfaces(machine, layer, layer.out_bytes) * positions * layer.batches * machine.atom;
    work.through += kSdpWrite;
  }
  return work;
}

PdpWork pdp_work(const Machine& machine, const PdpGeometry& layer) {
  const std::uint64_t surfaces =
      ceil_div(std::uint64_t{layer.channels} * layer.element_bytes, machine.atom);
  PdpWork work;
  work.per_atom = ceil_div(machine.atom, machine.pdp_throughput);
  std::uint64_t columns = 0;
  if (layer.bands.empty()) {
    columns = layer.width;
    if (layer.reads_cube)
      work.reads = read_cube(machine, layer.source, surfaces, layer.height, layer.width);
  } else {
    for (const std::uint32_t band : layer.bands) {
      work.reads += read_cube(machine, layer.source, surfaces, layer.height, band);
      columns += band;
    }
  }
  const std::uint64_t out_columns = layer.out_width;
  const std::uint64_t in = surfaces * layer.height * columns;
  const std::uint64_t out = surfaces * layer.out_height * out_columns;
  work.written = out * machine.atom;

  const auto first = [](std::uint64_t kernel, std::uint64_t before) {
    return kernel > before ? kernel - before : 1;
  };
  // Bands end where the next one begins.
  const std::uint64_t across = layer.split
                                   ? 0
                                   : late_windows(out_columns, layer.stride_width,
                                                  layer.kernel_width, layer.left, layer.width);
  const std::uint64_t down = late_windows(layer.out_height, layer.stride_height,
                                          layer.kernel_height, layer.top, layer.height);
  const std::uint64_t free_columns = first(layer.kernel_width, layer.left) - 1;
  const std::uint64_t free_atoms =
      (first(layer.kernel_height, layer.top) - 1) * columns + free_columns;
  const auto beyond = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
  const std::uint64_t held = surfaces * layer.height * beyond(across, free_columns) +
                             (surfaces - 1) * beyond(down * out_columns, free_atoms);
  work.pass = static_cast<double>((std::max(in, out) + held) * work.per_atom);
  work.tail = static_cast<double>((down * out_columns + across + 1) * work.per_atom);
  return work;
}

double stream_time(const MemoryTiming& memory, std::span<const Reads> reads,
                   std::span<const Queue> queues) noexcept {
  double most = 0;
  for (const Interface interface : {Interface::kPrimary, Interface::kSecondary}) {
    Reads all;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      if (reads[i].interface != interface || reads[i].requests == 0) continue;
      all += reads[i];
      most = std::max(most, Stream(memory, reads[i], queues[i]).all());
    }
    if (all.requests != 0) most = std::max(most, Stream(memory, all).all());
  }
  return most;
}

std::array<Queue, 4> sdp_queues(const Machine& machine) noexcept {
  const ReadQueues& queues = machine.queues;
  return {{{queues.sdp, queues.turn},
           {queues.x, queues.turn},
           {queues.x, queues.turn},
           {queues.y, queues.turn}}};
}

}  // namespace nvdla::cost
