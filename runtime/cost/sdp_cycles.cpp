// SPDX-License-Identifier: MIT
//
// SDP from memory, alone or with PDP behind it, and PDP from memory.
#include <algorithm>

#include "cost/unit_cycles.hpp"
#include "cost/unit_rates.hpp"

namespace nvdla::cost {
namespace {

// Returns the cycles from the first request to the last atom, when the unit takes `pass` for all of
// them: it takes them as they come. What it writes shares the bandwidth of `traffic`.
double from_memory(const MemoryTiming& source, double pass, double stream, double traffic) {
  return std::max({pass + source.latency - 1, stream, traffic + source.latency - 1});
}

}  // namespace

LayerCycles sdp_cycles(const Machine& machine, const MemoryTiming& memory, const SdpGeometry& layer,
                       const PdpGeometry* pdp) {
  const SdpWork work = sdp_work(machine, layer);
  const double stream = stream_time(memory, work.reads, sdp_queues(machine));
  PdpWork pool;
  std::uint64_t per_atom = work.per_atom;
  double pass = work.pass();
  if (pdp != nullptr) {
    pool = pdp_work(machine, *pdp);
    per_atom = std::max(per_atom, pool.per_atom);
    pass = std::max(pass, pool.pass);
  }
  Traffic traffic;
  for (const Reads& reads : work.reads) traffic.add(reads);
  const Interface destination = pdp == nullptr ? layer.destination : pdp->destination;
  traffic.add(destination, pdp == nullptr ? work.written : pool.written);
  const MemoryTiming source = memory.behind(layer.source);
  const double shared = traffic.cycles(memory);
  const double busy = from_memory(source, pass, stream, shared);
  double total = work.through + busy;
  LayerCycles cycles;
  cycles.sdp = {0, rounded(total)};
  if (pdp != nullptr) {
    total += kPdpFlying + pool.tail;
    cycles.pdp = {static_cast<std::uint64_t>(source.latency), rounded(total)};
  }
  total += memory.behind(destination).write_latency - 1;
  cycles.total = rounded(total);
  for (const Reads& reads : work.reads) cycles.read += reads.bytes;
  cycles.written = pdp == nullptr ? work.written : pool.written;
  cycles.bound = most({{per_atom > work.per_atom ? Bound::kPdp : Bound::kSdp, pass},
                       {Bound::kMemory, std::max(stream, shared)},
                       {Bound::kStart, total - busy}});
  const double stall = busy - pass;
  for (unsigned i = 0; i < 4; ++i)
    if (work.reads[i].requests != 0) cycles.stalls.sdp[i] = rounded(stall);
  return cycles;
}

LayerCycles pdp_cycles(const Machine& machine, const MemoryTiming& memory,
                       const PdpGeometry& layer) {
  const PdpWork work = pdp_work(machine, layer);
  const double stream = stream_time(memory, {&work.reads, 1},
                                    std::array{Queue{machine.queues.pdp, machine.queues.turn}});
  Traffic traffic;
  traffic.add(work.reads);
  traffic.add(layer.destination, work.written);
  const double shared = traffic.cycles(memory);
  const double busy = from_memory(memory.behind(layer.source), work.pass, stream, shared);
  const double total =
      kPdpMemory + busy + work.tail + (memory.behind(layer.destination).write_latency - 1);
  LayerCycles cycles;
  cycles.total = rounded(total);
  cycles.pdp = {0, cycles.total};
  cycles.read = work.reads.bytes;
  cycles.written = work.written;
  cycles.bound = most({{Bound::kPdp, work.pass + work.tail},
                       {Bound::kMemory, std::max(stream, shared)},
                       {Bound::kStart, kPdpMemory}});
  cycles.stalls.pdp = rounded(busy - work.pass);
  return cycles;
}

}  // namespace nvdla::cost
