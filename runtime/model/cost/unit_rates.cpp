// SPDX-License-Identifier: MIT
#include "model/cost/unit_rates.hpp"

#include <algorithm>
#include <vector>

#include "support/integers.hpp"

namespace nvdla::model::cycles {
namespace {

// A cube of `surfaces`; one position is one run of atoms.
Reads read_cube(const nvdla_hw& hw, Ram ram, std::uint64_t surfaces, std::uint64_t height,
                std::uint64_t width) {
  if (width == 1 && height == 1) return read_lines(hw, ram, 1, surfaces);
  return read_lines(hw, ram, surfaces * height, width);
}

// Surfaces of SDP's cubes: where int8 processing meets 16 bits they go in pairs.
std::uint64_t sdp_surfaces(const nvdla_hw& hw, const SdpLayer& layer, Precision precision) {
  const std::uint64_t columns =
      arith::ceil_div(layer.channels, hw.atom / precision_bytes(layer.proc));
  return precision_bytes(precision) > precision_bytes(layer.proc) ? 2 * columns : columns;
}

// Windows that end behind the input come out when the input has passed: of `outputs` at `stride`,
// those but the first that take the last of `size` positions behind a border of `before`. Until the
// next line or surface has its first window they hold up nobody.
std::uint64_t late_windows(std::uint64_t outputs, std::uint64_t stride, std::uint64_t kernel,
                           std::uint64_t before, std::uint64_t size) {
  const std::uint64_t last = before + size - 1;
  // Windows that end before the last position.
  const std::uint64_t early = last + 1 > kernel ? arith::ceil_div(last + 1 - kernel, stride) : 0;
  return outputs > early + 1 ? outputs - early - 1 : 0;
}

}  // namespace

SdpWork sdp_work(const nvdla_hw& hw, const SdpLayer& layer) {
  const std::uint64_t bytes = precision_bytes(layer.proc);
  const std::uint64_t lanes = hw.atom / bytes;
  const std::uint64_t columns = arith::ceil_div(layer.channels, lanes);
  const std::uint64_t positions = std::uint64_t{layer.width} * layer.height;
  const std::uint64_t passed =
      layer.y.active ? std::min(hw.sdp_throughput, hw.sdp_x_throughput) : hw.sdp_x_throughput;
  SdpWork work;
  work.atoms = positions * layer.batches * columns;
  work.per_atom = arith::ceil_div(lanes, passed);
  work.through =
      kSdpThrough + kSdpOperator * (layer.x[0].active + layer.x[1].active + layer.y.active);
  if (layer.has_rdma && !layer.flying) {
    work.reads[0] = read_cube(hw, layer.rdma.source.ram, sdp_surfaces(hw, layer, layer.rdma.in),
                              layer.height, layer.width);
  }
  for (unsigned i = 0; layer.has_rdma && i < 3; ++i) {
    const OperandDma& dma = layer.rdma.operands[i];
    if (dma.disabled) continue;
    // A column of operands is so many atoms.
    const std::uint64_t atoms = (dma.use == 2 ? 2 : 1) * (dma.two_bytes ? 2 : 1) / bytes;
    const std::uint64_t column = std::max<std::uint64_t>(atoms, 1);
    work.reads[i + 1] =
        dma.per_element && positions > 1
            ? read_lines(hw, dma.memory.ram, columns * layer.height, layer.width * column)
            : read_lines(hw, dma.memory.ram, 1, columns * column);
  }
  if (!layer.to_pdp && !layer.y.equal) {
    work.written = sdp_surfaces(hw, layer, layer.out) * positions * layer.batches * hw.atom;
    work.through += kSdpWrite;
  }
  return work;
}

PdpWork pdp_work(const nvdla_hw& hw, const PdpLayer& layer) {
  const std::uint64_t surfaces =
      arith::ceil_div(std::uint64_t{layer.channels} * precision_bytes(layer.precision), hw.atom);
  PdpWork work;
  work.per_atom = arith::ceil_div(hw.atom, hw.pdp_throughput);
  std::uint64_t columns = 0, out_columns = layer.out_width;
  if (layer.from_memory && layer.bands > 1) {
    std::vector<Columns> bands;
    input_columns(layer.rdma, bands);
    for (const Columns& band : bands) {
      work.reads += read_cube(hw, layer.rdma.source.ram, surfaces, layer.height, band.count);
      columns += band.count;
    }
    out_columns = layer.out.first + (layer.bands - 2) * layer.out.middle + layer.out.last;
  } else {
    columns = layer.width;
    if (layer.from_memory)
      work.reads = read_cube(hw, layer.rdma.source.ram, surfaces, layer.height, layer.width);
  }
  const std::uint64_t in = surfaces * layer.height * columns;
  const std::uint64_t out = surfaces * layer.out_height * out_columns;
  work.written = out * hw.atom;

  const auto first = [](std::uint64_t kernel, std::uint64_t before) {
    return kernel > before ? kernel - before : 1;
  };
  // Bands end where the next one begins.
  const std::uint64_t across =
      layer.bands > 1
          ? 0
          : late_windows(out_columns, layer.stride_x, layer.kernel_width, layer.left, layer.width);
  const std::uint64_t down =
      late_windows(layer.out_height, layer.stride_y, layer.kernel_height, layer.top, layer.height);
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

double stream_time(const MemoryTiming& memory, const Reads* reads, unsigned count) noexcept {
  double most = 0;
  for (const Ram ram : {Ram::kPrimary, Ram::kSecondary}) {
    Reads all;
    for (unsigned i = 0; i < count; ++i)
      if (reads[i].ram == ram) all += reads[i];
    if (all.requests != 0) most = std::max(most, Stream(memory, all).all());
  }
  return most;
}

}  // namespace nvdla::model::cycles
