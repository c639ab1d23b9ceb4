// SPDX-License-Identifier: MIT
//
// Convolution: kernel group by kernel group, each when the input and its kernels are there.
#include <algorithm>
#include <vector>

#include "cost/buffer_fill.hpp"
#include "cost/cube_fetch.hpp"
#include "cost/stripes.hpp"
#include "cost/unit_cycles.hpp"
#include "cost/unit_rates.hpp"

namespace nvdla::cost {
namespace {

// `Pipeline` has the cycles that a layer takes beside those that it works, measured.
struct Pipeline {
  double from_data = 0, from_weights = 0;  // from their arrival to the first multiplication
  double sums = 0;     // from the last multiplication to the first of its sums in SDP
  double out = 0;      // from the last of them to the interrupt
  double operand = 0;  // of that, more with an operand from memory
  double deliver = 0;  // cycles of an atom of sums beyond those that SDP takes
};
constexpr Pipeline kFirstGeneration = {
    .from_data = 40, .from_weights = 44, .sums = 19, .out = 51, .operand = 13, .deliver = 0};
// Winograd's transforms lie on its way.
constexpr Pipeline kWinograd = {
    .from_data = 36, .from_weights = 44, .sums = 19, .out = 48, .operand = 13, .deliver = 0};
constexpr Pipeline kSecondGeneration = {
    .from_data = 0, .from_weights = 0, .sums = 19, .out = 45, .operand = 0, .deliver = 1};

// CACC's buffer between the array and SDP. That of the first generation has room for so many atoms.
// That of the second has it for one stripe: the last step of a stripe begins when the stripe before
// has left, and this long after.
constexpr double kSumsAhead = 256;
constexpr double kCreditTurn = 22;

const Pipeline& pipeline(const Machine& machine, const ConvGeometry& layer) {
  if (!machine.first_generation) return kSecondGeneration;
  return layer.winograd ? kWinograd : kFirstGeneration;
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

// Cycles that the array waits in a kernel group for room in CACC's buffer, if SDP takes `per_atom`
// for an atom of sums. `first` is what of that the first stripe of a layer does not wait.
struct CreditWait {
  double group = 0, first = 0;
};

CreditWait credit_wait(const Machine& machine, const Stripes& stripes, const Pipeline& pipe,
                       double per_atom) {
  CreditWait wait;
  if (machine.first_generation) return wait;
  // The steps but the last go on while the sums of the stripe before leave.
  const auto of_stripe = [&](std::uint64_t outputs) {
    const double step = static_cast<double>(std::max<std::uint64_t>(outputs, machine.atomic_k));
    const double leaves = static_cast<double>(outputs) * (per_atom + pipe.deliver) + kCreditTurn;
    return std::max(leaves - step * static_cast<double>(stripes.steps - 1), 0.0);
  };
  for (const Stripes::Kind& kind : stripes.kinds)
    if (kind.count != 0) wait.group += static_cast<double>(kind.count) * of_stripe(kind.outputs);
  wait.first = of_stripe(stripes.first);
  return wait;
}

// The prefetch of operands takes the interface first.
void add_lead(const Machine& machine, const SdpWork& post, Interface data, Interface weights,
              BufferFill::Start& start) {
  const auto queues = sdp_queues(machine);
  for (unsigned i = 1; i < 4; ++i) {
    const double ahead =
        std::min(static_cast<double>(post.reads[i].requests), static_cast<double>(queues[i].beats));
    if (post.reads[i].interface == data) start.data_lead += ahead;
    if (post.reads[i].interface == weights) start.weights_lead += ahead;
  }
}

std::uint64_t useful_macs(const ConvGeometry& layer) {
  const std::uint64_t positions = std::uint64_t{layer.out_width} * layer.out_height * layer.batches;
  const std::uint64_t kernel = std::uint64_t{layer.taps_x()} * layer.kernel_height * layer.channels;
  // Winograd spares some of the products, which count all the same.
  if (layer.winograd) return positions * layer.kernels * 9 * layer.winograd_channels;
  return positions * layer.kernels * kernel;
}

}  // namespace

LayerCycles conv_cycles(const Machine& machine, const MemoryTiming& memory,
                        const ConvGeometry& layer, const SdpGeometry& sdp, const PdpGeometry* pdp) {
  const std::uint64_t group = std::max(machine.atomic_k / layer.element_bytes, 1U);
  const std::uint64_t groups = ceil_div(layer.kernels, group);
  CubeFetch data = fetch_cube(machine, layer);
  if (!layer.fetches_data) {
    data.reads = {.interface = layer.data};
    data.own = 0;
  }
  const Reads weights = layer.fetches_weights ? weight_reads(machine, layer, groups)
                                              : Reads{.interface = layer.weights};
  const double buffer =
      static_cast<double>(layer.weight_banks) * machine.cbuf_entries * machine.cbuf_entry_bytes;
  const double room =
      layer.weight_bytes == 0 ? 1 : buffer / static_cast<double>(layer.weight_bytes);
  const double share =
      std::min(1.0, static_cast<double>(group) / static_cast<double>(std::max(layer.kernels, 1U)));

  const SdpWork post = sdp_work(machine, sdp);
  BufferFill::Start start;
  add_lead(machine, post, layer.data, layer.weights, start);
  BufferFill fill(memory, data, weights, std::max(room, share), start);
  std::uint64_t per_atom = post.per_atom;
  PdpWork pool;
  if (pdp != nullptr) {
    pool = pdp_work(machine, *pdp);
    per_atom = std::max(per_atom, pool.per_atom);
  }
  const Pipeline& pipe = pipeline(machine, layer);
  const Stripes stripes = cut_stripes(machine, layer, group);
  const double macs = static_cast<double>(stripes.cycles);
  const CreditWait credits = credit_wait(machine, stripes, pipe, static_cast<double>(per_atom));
  const double operands =
      stream_time(memory, post.reads, sdp_queues(machine)) / static_cast<double>(groups);
  const double passed_by_units =
      static_cast<double>(post.atoms * per_atom) / static_cast<double>(groups);
  const double passed = std::max(passed_by_units, operands);
  // From the first multiplication of a group to its first sums.
  const double first_sums =
      static_cast<double>((stripes.steps - 1) * std::max(stripes.first, stripes.least));

  double end = fill.data_end() + (layer.fetches_data ? pipe.from_data : 0);
  double first = 0, waited = 0, sdp_end = 0;
  // The ends of groups; the memory stays for the next layer.
  thread_local std::vector<double> ends;
  ends.clear();
  std::size_t released = 0;
  for (std::uint64_t i = 0; i < groups; ++i) {
    const double needed = std::min(1.0, static_cast<double>(i + 1) * share);
    while (layer.fetches_weights && fill.needs_room(needed) && released < ends.size())
      fill.release(share, ends[released++]);
    const double there =
        layer.fetches_weights ? fill.weights_end(needed) + (i == 0 ? pipe.from_weights : 0) : 0;
    if (i == 0) first = std::max(end, there);
    waited += std::max(there - end, 0.0);
    const double begin = std::max(end, there);
    sdp_end = std::max(sdp_end, begin + first_sums) + passed;
    const double array = macs + credits.group - (i == 0 ? credits.first : 0);
    end = machine.first_generation ? std::max(begin + array, sdp_end - kSumsAhead)
                                   : begin + std::max(array, operands);
    // Nobody asks where all kernels fit.
    if (room < 1) ends.push_back(end);
  }
  // CACC hands the results of a stripe to SDP at once when it ends.
  const double drain = static_cast<double>(stripes.last) *
                       (static_cast<double>(stripes.results * per_atom - 1) + pipe.deliver);
  double last = end + drain;
  if (machine.first_generation) last = std::max(last, sdp_end);
  LayerCycles cycles;
  double total = last + pipe.sums + pipe.out + (memory.write_latency - 1);
  for (unsigned i = 1; i < 4; ++i)
    if (post.reads[i].requests > 1 && sdp.operands[i - 1].per_element) total += pipe.operand;
  const double sdp_out = total;
  if (pdp != nullptr) total += kPdpFlying - kSdpWrite + pool.tail;
  cycles.total = rounded(total);
  cycles.macs = useful_macs(layer);
  cycles.peak = cycles.total * machine.atomic_c * group;
  cycles.data = {0, rounded(fill.data_end())};
  cycles.weights = {0, layer.fetches_weights && groups != 0 ? rounded(fill.weights_end(1)) : 0};
  cycles.mac = {rounded(first), rounded(end)};
  cycles.sdp = {cycles.mac.begin, rounded(pdp == nullptr ? sdp_out : sdp_out - kSdpWrite)};
  if (pdp != nullptr) cycles.pdp = {cycles.mac.begin, cycles.total};
  cycles.read = data.reads.bytes + weights.bytes;
  for (const Reads& reads : post.reads) cycles.read += reads.bytes;
  cycles.written = pdp == nullptr ? post.written : pool.written;
  const double computed = macs * static_cast<double>(groups);
  const Bound behind = passed == operands                                ? Bound::kMemory
                       : pdp != nullptr && pool.per_atom > post.per_atom ? Bound::kPdp
                                                                         : Bound::kSdp;
  cycles.bound = most({{Bound::kMacs, computed},
                       {behind, std::max(last - first - computed - waited, 0.0)},
                       {Bound::kInput, fill.data_end()},
                       {Bound::kWeights, waited},
                       {Bound::kStart, total - last}});
  const double starved =
      std::max(operands - std::max(passed_by_units, macs), 0.0) * static_cast<double>(groups);
  for (unsigned i = 0; i < 4; ++i)
    if (post.reads[i].requests != 0) cycles.stalls.sdp[i] = rounded(starved);
  cycles.stalls.data = rounded(fill.data_stall());
  cycles.stalls.weights = rounded(fill.weight_stall());
  cycles.stalls.data_latency = data.reads.requests * memory.latency;
  cycles.stalls.weight_latency = weights.requests * memory.latency;
  return cycles;
}

}  // namespace nvdla::cost
