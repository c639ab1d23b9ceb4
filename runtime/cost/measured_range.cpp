// SPDX-License-Identifier: MIT
#include "cost/sequence_cycles.hpp"

namespace nvdla::cost {
namespace {

const char* beyond_measured(const ConvGeometry& conv) noexcept {
  if (conv.compressed) return "compressed weights";
  if (conv.batches > 1) return "several cubes at once";
  if (conv.planes > 1) return "images of two planes";
  if (conv.image && conv.element_bytes > 1) return "pixels of 16 bits";
  if (conv.taps_x() > 8 || conv.kernel_height > 8) return "kernels of more than 8 x 8";
  if (conv.channels > 8192) return "more than 8192 channels";
  if (conv.kernels > 1024) return "more than 1024 kernels";
  return nullptr;
}

// `memory` is that behind one interface.
const char* beyond_measured_behind(const Machine& machine, const MemoryTiming& memory) noexcept {
  const unsigned longest = machine.first_generation ? 400 : 128;
  if (memory.latency > longest || memory.write_latency > longest)
    return machine.first_generation ? "a latency of more than 400 cycles"
                                    : "a latency of more than 128 cycles";
  if (memory.outstanding != 0 && memory.outstanding < 8)
    return "fewer than 8 requests on their way";
  const double rate = memory.bandwidth == 0 ? machine.bus_bytes : memory.bandwidth;
  if (memory.beat_gap > 4 || memory.request_gap > 2 || rate * 4 < machine.bus_bytes)
    return "less than a quarter of the interface's bandwidth";
  return nullptr;
}

}  // namespace

const char* beyond_measured(const Machine& machine, const MemoryTiming& memory) noexcept {
  const bool full = machine.first_generation;
  const bool small =
      !full && machine.atomic_c == 8 && machine.atomic_k == 8 && machine.bus_bytes == 8;
  if (!full && !small) return "another configuration than nv_full and nv_small";
  const char* const primary = beyond_measured_behind(machine, memory.behind(Interface::kPrimary));
  return primary != nullptr ? primary
                            : beyond_measured_behind(machine, memory.behind(Interface::kSecondary));
}

const char* beyond_measured(const LayerGeometry& layer) noexcept {
  using Kind = LayerGeometry::Kind;
  if (layer.kind == Kind::kBdma) return "copies by BDMA";
  if ((layer.kind == Kind::kPdp || layer.pooled) && layer.pdp.split)
    return "a pooling cut into columns";
  return layer.kind == Kind::kConv ? beyond_measured(layer.conv) : nullptr;
}

}  // namespace nvdla::cost
