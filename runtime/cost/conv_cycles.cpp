// SPDX-License-Identifier: MIT
//
// Convolution: kernel group by kernel group, each when the input and its kernels are there.
#include <algorithm>
#include <vector>

#include "cost/buffer_fill.hpp"
#include "cost/conv_pipe.hpp"
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
// In the second, what has left gives its room to the array this long after.
constexpr double kSumsAhead = 256;
constexpr double kCreditTurn = 38;

// These count from the last multiplication of a layer: to the first one of the next, and until what
// the layer held of the buffer can be fetched anew.
constexpr double kNextArray = 74;
constexpr double kFreed = 50;

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

// `SumsBuffer` follows the array and CACC's buffer of the second generation, stripe by stripe: the
// last step of a stripe waits until its sums have room beside those that have not left yet.
class SumsBuffer {
 public:
  SumsBuffer(const Machine& machine, const Stripes& stripes, double per_atom)
      : stripes_(stripes),
        room_(static_cast<double>(stripes.room)),
        least_(static_cast<double>(machine.atomic_k)),
        per_atom_(per_atom) {}

  // Returns when the array is done with one more kernel group.
  double group() {
    for (const Stripes::Kind& kind : stripes_.kinds) {
      // Further ones take as long as the last of these.
      const std::uint64_t some = std::min<std::uint64_t>(kind.count, kSettled);
      double before = array_;
      for (std::uint64_t i = 0; i < some; ++i) {
        before = array_;
        stripe(static_cast<double>(kind.outputs));
      }
      const double more = static_cast<double>(kind.count - some) * (array_ - before);
      array_ += more;
      left_ += more;
    }
    return array_;
  }

 private:
  static constexpr std::uint64_t kSettled = 8;

  void stripe(double outputs) {
    const double step = std::max(outputs, least_);
    const double summed = array_ + step * static_cast<double>(stripes_.steps - 1);
    const double has_room = left_ - (room_ - outputs) * per_atom_ + kCreditTurn;
    const double last = left_ > 0 ? std::max(summed, has_room) : summed;
    array_ = last + step;
    left_ = std::max(left_, last) + outputs * per_atom_;
  }

  const Stripes& stripes_;
  const double room_, least_, per_atom_;
  double array_ = 0, left_ = 0;  // when the array and SDP are done with what there was so far
};

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

// `ConvRun` is one layer in the pipeline: what it fetches, and then its kernel groups one by one.
class ConvRun {
 public:
  ConvRun(const Machine& machine, const MemoryTiming& memory, const ConvOnTheFly& layer,
          double enabled, ConvPipe& pipe);

  LayerCycles cycles() const;

 private:
  BufferFill::Start start(double enabled);
  void wait_for_banks(BufferFill::Start& start) const;
  void wait_for_data(BufferFill::Start& start);
  void wait_for_weights(const BufferFill::Start& start);
  void compute(BufferFill& fill);
  void leave(const BufferFill& fill);
  double begin() const noexcept { return std::min(data_begin_, weights_begin_); }
  double shared_data_end() const noexcept;
  void set_stalls(LayerCycles& cycles) const;
  Bound bound(double total) const;

  Interface destination() const noexcept {
    return pdp_ == nullptr ? sdp_.destination : pdp_->destination;
  }
  std::uint64_t written() const noexcept { return pdp_ == nullptr ? post_.written : pool_.written; }
  double groups() const noexcept { return static_cast<double>(groups_); }

  const Machine& machine_;
  const MemoryTiming& memory_;
  const ConvGeometry& conv_;
  const SdpGeometry& sdp_;
  const PdpGeometry* pdp_;
  ConvPipe& before_;
  const Pipeline& pipe_;
  const std::uint64_t group_, groups_;
  const Stripes stripes_;
  const SdpWork post_;
  PdpWork pool_;
  std::uint64_t per_atom_;
  CubeFetch data_;
  Reads weights_;
  double share_ = 1;                           // of the kernels, in a group
  double weight_room_ = 1;                     // share of them that has room at first
  double operands_ = 0, passed_by_units_ = 0;  // of a group: cycles that SDP waits and works
  // The weights' banks and the data's become free in these parts, oldest first.
  std::vector<BufferFill::Room>& frees_;
  std::vector<BufferFill::Room>& data_frees_;
  std::size_t freed_ = 0;
  // Times.
  double data_begin_ = 0, weights_begin_ = 0;
  double data_end_ = 0, weights_end_ = 0, first_ = 0, end_ = 0, last_ = 0, waited_ = 0;
  double unshared_ = 0;  // `last_` with all the bandwidth that there could be
  double data_stall_ = 0, weight_stall_ = 0;
};

// Their memory stays for the next layer.
std::vector<BufferFill::Room>& kept_frees() {
  thread_local std::vector<BufferFill::Room> frees;
  frees.clear();
  return frees;
}

std::vector<BufferFill::Room>& kept_data_frees() {
  thread_local std::vector<BufferFill::Room> frees;
  frees.clear();
  return frees;
}

ConvRun::ConvRun(const Machine& machine, const MemoryTiming& memory, const ConvOnTheFly& layer,
                 double enabled, ConvPipe& pipe)
    : machine_(machine),
      memory_(memory),
      conv_(layer.conv),
      sdp_(layer.sdp),
      pdp_(layer.pdp),
      before_(pipe),
      pipe_(pipeline(machine, conv_)),
      group_(std::max(machine.atomic_k / conv_.element_bytes, 1U)),
      groups_(ceil_div(conv_.kernels, group_)),
      stripes_(cut_stripes(machine, conv_, group_)),
      post_(sdp_work(machine, sdp_)),
      per_atom_(post_.per_atom),
      data_(fetch_cube(machine, conv_)),
      frees_(kept_frees()),
      data_frees_(kept_data_frees()) {
  if (pdp_ != nullptr) {
    pool_ = pdp_work(machine, *pdp_);
    per_atom_ = std::max(per_atom_, pool_.per_atom);
  }
  if (!conv_.fetches_data) {
    data_.reads = {.interface = conv_.data};
    data_.own = 0;
  }
  weights_ = conv_.fetches_weights ? weight_reads(machine, conv_, groups_)
                                   : Reads{.interface = conv_.weights};
  share_ =
      std::min(1.0, static_cast<double>(group_) / static_cast<double>(std::max(conv_.kernels, 1U)));
  operands_ = stream_time(memory, post_.reads, sdp_queues(machine)) / groups();
  passed_by_units_ = static_cast<double>(post_.atoms * per_atom_) / groups();
  const BufferFill::Start start = this->start(enabled);
  data_begin_ = start.data;
  weights_begin_ = start.weights;
  BufferFill fill(memory, data_, weights_, weight_room_, start);
  compute(fill);
  leave(fill);
}

// When CDMA may ask for the input and the kernels, and how much of them has room.
BufferFill::Start ConvRun::start(double enabled) {
  BufferFill::Start start;
  add_lead(machine_, post_, conv_.data, conv_.weights, start);
  start.data = start.weights = std::max(enabled, before_.fetched);
  wait_for_banks(start);
  wait_for_data(start);
  wait_for_weights(start);
  return start;
}

// CDMA fetches nothing for another number of banks before the array is done with the layer before;
// the number for data counts for both, as the weights lie behind it.
void ConvRun::wait_for_banks(BufferFill::Start& start) const {
  if (!before_.used) return;
  const double empty = before_.array_end + kFreed;
  const bool same_data = conv_.data_banks == before_.data_banks;
  if (!same_data) start.data = std::max(start.data, empty);
  if (!same_data || conv_.weight_banks != before_.weight_banks)
    start.weights = std::max(start.weights, empty);
}

void ConvRun::wait_for_data(BufferFill::Start& start) {
  const double entries = static_cast<double>(conv_.data_entries);
  if (!conv_.fetches_data || entries == 0) return;
  double room = static_cast<double>(conv_.data_banks) * machine_.cbuf_entries;
  for (const ConvPipe::Held& held : before_.data) {
    if (held.until + kFreed <= start.data) continue;
    room -= held.size;
    data_frees_.push_back({held.size / entries, held.until + kFreed});
  }
  start.data_room = room / entries;
  start.data_rooms = data_frees_;
}

void ConvRun::wait_for_weights(const BufferFill::Start& start) {
  const double bytes = static_cast<double>(conv_.weight_bytes);
  if (bytes == 0) return;
  double room =
      static_cast<double>(conv_.weight_banks) * machine_.cbuf_entries * machine_.cbuf_entry_bytes;
  for (const ConvPipe::Held& held : before_.weights) {
    if (held.until <= start.weights) continue;
    room -= held.size;
    frees_.push_back({held.size / bytes, held.until});
  }
  weight_room_ = std::max(room / bytes, frees_.empty() ? share_ : 0);
}

void ConvRun::compute(BufferFill& fill) {
  const double macs = static_cast<double>(stripes_.cycles);
  double first_group = macs, next_group = macs;
  if (!machine_.first_generation) {
    SumsBuffer sums(machine_, stripes_, static_cast<double>(per_atom_) + pipe_.deliver);
    first_group = sums.group();
    next_group = sums.group() - first_group;
  }
  const double passed = std::max(passed_by_units_, operands_);
  // The first sums of a group come so long after its first multiplication.
  const double first_sums =
      static_cast<double>((stripes_.steps - 1) * std::max(stripes_.first, stripes_.least));
  data_end_ = std::max(fill.data_end(), shared_data_end());
  double end = data_end_ + (conv_.fetches_data ? pipe_.from_data : 0);
  if (before_.used) end = std::max(end, before_.array_end + kNextArray);
  double sdp_end = before_.sdp_end;
  for (std::uint64_t i = 0; i < groups_; ++i) {
    const double needed = std::min(1.0, static_cast<double>(i + 1) * share_);
    while (conv_.fetches_weights && fill.needs_room(needed) && freed_ < frees_.size()) {
      fill.release(frees_[freed_].share, frees_[freed_].time);
      ++freed_;
    }
    const double there =
        conv_.fetches_weights ? fill.weights_end(needed) + (i == 0 ? pipe_.from_weights : 0) : 0;
    if (i == 0) first_ = std::max(end, there);
    waited_ += std::max(there - end, 0.0);
    const double begin = std::max(end, there);
    sdp_end = std::max(sdp_end, begin + first_sums) + passed;
    const double array = i == 0 ? first_group : next_group;
    end = machine_.first_generation ? std::max(begin + array, sdp_end - kSumsAhead)
                                    : begin + std::max(array, operands_);
    // Nobody asks where all kernels fit.
    if (before_.followed || weight_room_ < 1) frees_.push_back({share_, end});
  }
  end_ = end;
  weights_end_ = conv_.fetches_weights && groups_ != 0 ? fill.weights_end(1) : 0;
  // CACC hands the results of a stripe to SDP at once when it ends.
  const double drain = static_cast<double>(stripes_.last) *
                       (static_cast<double>(stripes_.results * per_atom_ - 1) + pipe_.deliver);
  unshared_ = end + drain;
  if (machine_.first_generation) unshared_ = std::max(unshared_, sdp_end);
}

// The input comes behind what layers before have asked of the memory. Returns 0 if none is fetched.
double ConvRun::shared_data_end() const noexcept {
  if (data_.reads.bytes == 0) return 0;
  Traffic traffic;
  traffic.add(data_.reads);
  Backlog backlog = before_.memory;
  return traffic.add_to(backlog, memory_, data_begin_);
}

// Leaves behind what the next layer of a sequence finds.
void ConvRun::leave(const BufferFill& fill) {
  data_stall_ = fill.data_stall();
  weight_stall_ = fill.weight_stall();
  Traffic traffic;
  traffic.add(data_.reads);
  traffic.add(weights_);
  for (const Reads& reads : post_.reads) traffic.add(reads);
  traffic.add(destination(), written());
  last_ = std::max(unshared_, traffic.add_to(before_.memory, memory_, data_.begin + begin()));
  if (!before_.followed) return;
  before_.used = true;
  before_.fetched = std::max({before_.fetched, data_end_, weights_end_});
  before_.array_end = end_;
  before_.sdp_end = last_;
  before_.data_banks = conv_.data_banks;
  before_.weight_banks = conv_.weight_banks;
  const auto old = [&](const ConvPipe::Held& held) { return held.until <= first_; };
  std::erase_if(before_.data, old);
  std::erase_if(before_.weights, old);
  if (conv_.fetches_data)
    before_.data.push_back({static_cast<double>(conv_.data_entries), end_});
  else if (!before_.data.empty())
    before_.data.back().until = end_;
  const double bytes = static_cast<double>(conv_.weight_bytes);
  for (std::size_t i = frees_.size() - groups_; i < frees_.size(); ++i)
    before_.weights.push_back({frees_[i].share * bytes, frees_[i].time});
}

LayerCycles ConvRun::cycles() const {
  LayerCycles cycles;
  double total = last_ + pipe_.sums + pipe_.out + (memory_.behind(destination()).write_latency - 1);
  for (unsigned i = 1; i < 4; ++i)
    if (post_.reads[i].requests > 1 && sdp_.operands[i - 1].per_element) total += pipe_.operand;
  const double sdp_out = total;
  if (pdp_ != nullptr) total += kPdpFlying - kSdpWrite + pool_.tail;
  cycles.total = rounded(total);
  cycles.macs = useful_macs(conv_);
  cycles.peak = cycles.total * machine_.atomic_c * group_;
  if (data_end_ > data_begin_) cycles.data = {rounded(data_begin_), rounded(data_end_)};
  if (weights_end_ > weights_begin_)
    cycles.weights = {rounded(weights_begin_), rounded(weights_end_)};
  cycles.mac = {rounded(first_), rounded(end_)};
  cycles.sdp = {cycles.mac.begin, rounded(pdp_ == nullptr ? sdp_out : sdp_out - kSdpWrite)};
  if (pdp_ != nullptr) cycles.pdp = {cycles.mac.begin, cycles.total};
  cycles.read = data_.reads.bytes + weights_.bytes;
  for (const Reads& reads : post_.reads) cycles.read += reads.bytes;
  cycles.written = written();
  cycles.bound = bound(total);
  set_stalls(cycles);
  return cycles;
}

Bound ConvRun::bound(double total) const {
  const double computed = static_cast<double>(stripes_.cycles) * groups();
  const bool starves = operands_ > passed_by_units_;
  const Bound behind = starves                                              ? Bound::kMemory
                       : pdp_ != nullptr && pool_.per_atom > post_.per_atom ? Bound::kPdp
                                                                            : Bound::kSdp;
  return most({{Bound::kMacs, computed},
               {behind, std::max(unshared_ - first_ - computed - waited_, 0.0)},
               {Bound::kMemory, last_ > unshared_ ? last_ : 0},
               {Bound::kInput, data_end_},
               {Bound::kWeights, waited_},
               {Bound::kStart, total - last_}});
}

void ConvRun::set_stalls(LayerCycles& cycles) const {
  const double works = std::max(passed_by_units_, static_cast<double>(stripes_.cycles));
  const double starved = std::max(operands_ - works, 0.0) * groups();
  for (unsigned i = 0; i < 4; ++i)
    if (post_.reads[i].requests != 0) cycles.stalls.sdp[i] = rounded(starved);
  cycles.stalls.data = rounded(data_stall_);
  cycles.stalls.weights = rounded(weight_stall_);
  cycles.stalls.data_latency = data_.reads.requests * memory_.behind(conv_.data).latency;
  cycles.stalls.weight_latency = weights_.requests * memory_.behind(conv_.weights).latency;
}

}  // namespace

LayerCycles run_conv(const Machine& machine, const MemoryTiming& memory, const ConvOnTheFly& layer,
                     double enabled, ConvPipe& pipe) {
  return ConvRun(machine, memory, layer, enabled, pipe).cycles();
}

LayerCycles conv_cycles(const Machine& machine, const MemoryTiming& memory,
                        const ConvGeometry& layer, const SdpGeometry& sdp, const PdpGeometry* pdp) {
  ConvPipe pipe;
  pipe.followed = false;
  return run_conv(machine, memory, {.conv = layer, .sdp = sdp, .pdp = pdp}, 0, pipe);
}

}  // namespace nvdla::cost
