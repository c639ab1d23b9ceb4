// SPDX-License-Identifier: MIT
//
// Convolution: kernel group by kernel group, each when the input and its kernels are there.
#include <algorithm>
#include <vector>

#include "cost/buffer_fill.hpp"
#include "cost/unit_cycles.hpp"
#include "cost/unit_rates.hpp"

namespace nvdla::cost {
namespace {

// The way of the last sums to SDP and of what it makes of them into memory, measured.
constexpr double kLastSums = 64;

Reads data_reads(const Machine& machine, const ConvGeometry& layer) {
  if (layer.image) {
    Reads reads;
    for (std::uint32_t plane = 0; plane < layer.planes; ++plane) {
      const std::uint64_t bytes =
          std::uint64_t{layer.x_offset + layer.width} * layer.plane_bytes[plane];
      reads += read_lines(machine, layer.data, layer.height, ceil_div(bytes, machine.atom));
    }
    return reads;
  }
  const std::uint64_t surfaces =
      ceil_div(std::uint64_t{layer.channels} * layer.element_bytes, machine.atom);
  if (layer.width == 1 && layer.height == 1 && layer.surface_packed)
    return read_lines(machine, layer.data, layer.batches, surfaces);
  return read_lines(machine, layer.data, surfaces * layer.batches * layer.height, layer.width);
}

Reads weight_reads(const Machine& machine, const ConvGeometry& layer, std::uint64_t groups) {
  const auto in_a_line = [&](std::uint64_t bytes) {
    return read_lines(machine, layer.weights, 1, ceil_div(bytes, machine.atom));
  };
  Reads reads = in_a_line(layer.weight_bytes);
  if (!layer.compressed) return reads;
  reads += in_a_line(layer.mask_bytes);
  reads += in_a_line(groups * sizeof(std::uint32_t));
  return reads;
}

// Cycles of the array for one kernel group.
struct Steps {
  std::uint64_t steps = 0;    // channel block and kernel position
  std::uint64_t outputs = 0;  // each of which takes a cycle of each step
  std::uint64_t least = 0;    // of a step, in which the next kernels are loaded

  std::uint64_t cycles() const noexcept { return steps * std::max(outputs, least); }
};

Steps group_steps(const Machine& machine, const ConvGeometry& layer, std::uint64_t group) {
  const std::uint64_t positions = std::uint64_t{layer.out_width} * layer.out_height;
  // The buffer gives an entry of kernels a cycle.
  const std::uint64_t loaded =
      ceil_div(group * machine.atomic_c * layer.element_bytes, machine.cbuf_entry_bytes);
  Steps steps{.outputs = positions * layer.batches, .least = loaded};
  if (layer.winograd) {
    // A step takes four channels of a tile of 4 x 4 and gives four results.
    steps.steps = ceil_div(layer.winograd_channels, machine.atomic_c / 16);
    steps.outputs = ceil_div(positions, 4);
  } else if (layer.image) {
    // Rows of the kernel are channels, some of them side by side. Stripes end with their line.
    steps.steps = ceil_div(layer.kernel_height, layer.post_lines) *
                  ceil_div(layer.weight_channels * layer.post_lines, machine.atomic_c);
    steps.outputs = layer.out_height * std::max<std::uint64_t>(layer.out_width, loaded);
  } else {
    steps.steps = ceil_div(layer.channels, machine.atomic_c) *
                  (std::uint64_t{layer.kernel_width} * layer.kernel_height);
  }
  return steps;
}

std::uint64_t useful_macs(const ConvGeometry& layer) {
  const std::uint64_t positions = std::uint64_t{layer.out_width} * layer.out_height * layer.batches;
  const std::uint64_t kernel = std::uint64_t{layer.taps_x()} * layer.kernel_height * layer.channels;
  // What 3 x 3 positions of each channel would take.
  if (layer.winograd) return positions * layer.kernels * 9 * layer.winograd_channels;
  return positions * layer.kernels * kernel;
}

}  // namespace

LayerCycles conv_cycles(const Machine& machine, const MemoryTiming& memory,
                        const ConvGeometry& layer, const SdpGeometry& sdp, const PdpGeometry* pdp) {
  const std::uint64_t group = std::max(machine.atomic_k / layer.element_bytes, 1U);
  const std::uint64_t groups = ceil_div(layer.kernels, group);
  const Reads data =
      layer.fetches_data ? data_reads(machine, layer) : Reads{.interface = layer.data};
  const Reads weights = layer.fetches_weights ? weight_reads(machine, layer, groups)
                                              : Reads{.interface = layer.weights};
  const double buffer =
      static_cast<double>(layer.weight_banks) * machine.cbuf_entries * machine.cbuf_entry_bytes;
  const double room =
      layer.weight_bytes == 0 ? 1 : buffer / static_cast<double>(layer.weight_bytes);
  const double share =
      std::min(1.0, static_cast<double>(group) / static_cast<double>(std::max(layer.kernels, 1U)));
  BufferFill fill(memory, data, weights, std::max(room, share));

  const SdpWork post = sdp_work(machine, sdp);
  std::uint64_t per_atom = post.per_atom;
  PdpWork pool;
  if (pdp != nullptr) {
    pool = pdp_work(machine, *pdp);
    per_atom = std::max(per_atom, pool.per_atom);
  }
  const Steps steps = group_steps(machine, layer, group);
  const double macs = static_cast<double>(steps.cycles());
  const double operands = stream_time(memory, post.reads, 4) / static_cast<double>(groups);
  const double passed_by_units =
      static_cast<double>(post.atoms * per_atom) / static_cast<double>(groups);
  const double passed = std::max(passed_by_units, operands);
  const double slowest = std::max(macs, passed);

  double end = fill.data_end(), first = 0, waited = 0;
  // Of groups; the memory stays for the next layer.
  thread_local std::vector<double> ends;
  ends.clear();
  std::size_t released = 0;
  for (std::uint64_t i = 0; i < groups; ++i) {
    const double needed = std::min(1.0, static_cast<double>(i + 1) * share);
    while (layer.fetches_weights && fill.needs_room(needed) && released < ends.size())
      fill.release(share, ends[released++]);
    const double there = layer.fetches_weights ? fill.weights_end(needed) : 0;
    if (i == 0) first = std::max(end, there);
    waited += std::max(there - end, 0.0);
    end = std::max(end, there) + slowest;
    // Nobody asks where all kernels fit.
    if (room < 1) ends.push_back(end);
  }

  LayerCycles cycles;
  // CACC hands the results of a stripe to SDP at once when it ends.
  const double drain =
      kLastSums + static_cast<double>((per_atom - 1) * std::min(steps.outputs, kStripe));
  double total = end + drain;
  if (pdp != nullptr) total += kPdpFlying - kSdpWrite + pool.tail;
  cycles.total = rounded(total);
  cycles.macs = useful_macs(layer);
  cycles.peak = cycles.total * machine.atomic_c * group;
  cycles.data = {0, rounded(fill.data_end())};
  cycles.weights = {0, layer.fetches_weights && groups != 0 ? rounded(fill.weights_end(1)) : 0};
  cycles.mac = {rounded(first), rounded(end)};
  const double sdp_end = pdp == nullptr ? total : end + drain - kSdpWrite;
  cycles.sdp = {cycles.mac.begin, rounded(sdp_end)};
  if (pdp != nullptr) cycles.pdp = {cycles.mac.begin, cycles.total};
  cycles.read = data.bytes + weights.bytes;
  for (const Reads& reads : post.reads) cycles.read += reads.bytes;
  cycles.written = pdp == nullptr ? post.written : pool.written;
  const double array = macs * static_cast<double>(groups);
  const Bound behind = passed == operands                                ? Bound::kMemory
                       : pdp != nullptr && pool.per_atom > post.per_atom ? Bound::kPdp
                                                                         : Bound::kSdp;
  cycles.bound = most({{Bound::kMacs, array},
                       {behind, (slowest - macs) * static_cast<double>(groups)},
                       {Bound::kInput, fill.data_end()},
                       {Bound::kWeights, waited},
                       {Bound::kStart, total - end}});
  const double starved =
      std::max(operands - std::max(passed_by_units, macs), 0.0) * static_cast<double>(groups);
  for (unsigned i = 0; i < 4; ++i)
    if (post.reads[i].requests != 0) cycles.stalls.sdp[i] = rounded(starved);
  cycles.stalls.data = rounded(fill.data_stall());
  cycles.stalls.weights = rounded(fill.weight_stall());
  cycles.stalls.data_latency = data.requests * memory.latency;
  cycles.stalls.weight_latency = weights.requests * memory.latency;
  return cycles;
}

}  // namespace nvdla::cost
