// SPDX-License-Identifier: MIT
//
// Layers of few positions wait for their weights, while the memory rests under layers of many.
// Where secondary memory has room, BDMA copies weights of the former there under the latter.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/passes/layer_geometry.hpp"
#include "compiler/passes/layer_mover.hpp"
#include "compiler/passes/memory_plan.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/cbuf.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// Copies take that much of what the memory could pass on beside a layer's own traffic.
constexpr double kIdleShare = .75;
// A smaller copy is not worth its registers.
constexpr std::uint64_t kLeastCopy = 4096;
// Weights are staged if their layers wait for that much of them.
constexpr double kLeastWait = .05;
// Staged weights may take so many parts of secondary memory, or fewer; tensors get the rest.
constexpr std::uint64_t kParts = 16;
constexpr std::uint64_t kLineBytes = 131072;
// A copy has two transfers at most.
constexpr std::size_t kMostCopies = NVDLA_MAX_LAYER_TRANSFERS / 2;
constexpr std::uint64_t kAlign = 256;

// `Region` is weights that one layer reads, or several one after another.
struct Region {
  std::uint32_t allocation = 0;
  std::uint64_t offset = 0, bytes = 0;
  std::vector<std::uint32_t> readers;  // in their order
  double waits = 0;                    // the cycles that readers wait for them
};

// `Copy` is the part of a region that is copied in one piece.
struct Copy {
  const Region* region = nullptr;
  std::uint64_t offset = 0, bytes = 0;
};

// `Copies` has what is copied under each layer.
using Copies = std::map<std::uint32_t, std::vector<Copy>>;

std::uint64_t primary_bytes(const cost::LayerGeometry& layer, const cost::LayerCycles& cycles) {
  std::uint64_t weights = 0, bytes = 0;
  if (layer.kind == cost::LayerGeometry::Kind::kConv && layer.conv.fetches_weights)
    weights = layer.conv.weight_bytes;
  if (layer.conv.weights == cost::Interface::kPrimary) bytes += weights;
  if (cost::source_of(layer) == cost::Interface::kPrimary)
    bytes += cycles.read - std::min(cycles.read, weights);
  if (cost::destination_of(layer) == cost::Interface::kPrimary) bytes += cycles.written;
  return bytes;
}

// `Stage` is one segment of a schedule, and what could be staged in it.
class Stage {
 public:
  Stage(const Schedule& schedule, Schedule::Segment segment, const DeviceInfo& info,
        const InterfaceOf& interface_of)
      : schedule_(schedule), segment_(segment), memory_(memory_of(info)) {
    const auto sequence = sequence_of(schedule, segment, info, interface_of);
    const cost::SequenceCycles cycles = predict_sequence(info, sequence);
    find_idle(sequence, cycles);
    find_regions(sequence, cycles);
  }

  // Returns the copies that gain most and take at most so many bytes of secondary memory.
  Copies choose(std::uint64_t bytes) const;

 private:
  double transfer(std::uint64_t bytes) const {
    return memory_.transfer(cost::Interface::kPrimary, bytes);
  }
  void find_idle(const std::vector<cost::SequenceLayer>& sequence,
                 const cost::SequenceCycles& cycles);
  void find_regions(const std::vector<cost::SequenceLayer>& sequence,
                    const cost::SequenceCycles& cycles);
  // Returns copies of all these regions, each as late as it may be; nothing if one has no time.
  std::optional<Copies> fit(std::vector<const Region*> regions) const;

  const Schedule& schedule_;
  const Schedule::Segment segment_;
  const cost::MemoryTiming memory_;
  std::vector<std::uint64_t> idle_;  // by layer of the segment, bytes that could be copied under it
  std::vector<Region> regions_;
};

void Stage::find_idle(const std::vector<cost::SequenceLayer>& sequence,
                      const cost::SequenceCycles& cycles) {
  const double cycle_bytes = 1 / transfer(1);
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const cost::LayerCycles& layer = cycles.layers[i];
    const std::uint64_t end = std::max(before, layer.total);
    const double passes = static_cast<double>(end - before) * cycle_bytes;
    const double own = static_cast<double>(primary_bytes(sequence[i].layer, layer));
    const auto idle = static_cast<std::uint64_t>(std::max(0.0, passes - own) * kIdleShare);
    idle_.push_back(idle < kLeastCopy ? 0 : idle / kAlign * kAlign);
    before = end;
  }
}

void Stage::find_regions(const std::vector<cost::SequenceLayer>& sequence,
                         const cost::SequenceCycles& cycles) {
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>, Region> found;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const auto index = segment_.first + static_cast<std::uint32_t>(i);
    const nvdla_layer& layer = schedule_.layers[index];
    if (layer.conv.kernels == 0 || (layer.conv.flags & NVDLA_CONV_COMPRESSED) != 0) continue;
    const cost::ConvGeometry& conv = sequence[i].layer.conv;
    const std::uint64_t bytes = weights_bytes(weights_desc(layer.conv));
    if (conv.weights != cost::Interface::kPrimary || bytes < kLeastCopy) continue;
    const nvdla_span& at = layer.conv.weights;
    Region& region = found[{at.slot, at.offset, bytes}];
    region.allocation = at.slot;
    region.offset = at.offset;
    region.bytes = bytes;
    region.readers.push_back(index);
    const cost::LayerCycles& took = cycles.layers[i];
    if (!conv.fetches_weights || took.peak == 0) continue;
    const double macs = static_cast<double>(took.macs) / static_cast<double>(took.peak) *
                        static_cast<double>(took.mac.end - took.mac.begin);
    region.waits += std::max(0.0, transfer(conv.weight_bytes) - macs);
  }
  for (auto& [key, region] : found)
    if (region.waits > kLeastWait * transfer(region.bytes)) regions_.push_back(std::move(region));
  std::ranges::stable_sort(regions_, [](const Region& a, const Region& b) {
    return a.waits / static_cast<double>(a.bytes) > b.waits / static_cast<double>(b.bytes);
  });
}

std::optional<Copies> Stage::fit(std::vector<const Region*> regions) const {
  std::ranges::sort(regions, [](const Region* a, const Region* b) {
    return a->readers.front() > b->readers.front();
  });
  std::vector<std::uint64_t> idle = idle_;
  Copies copies;
  for (const Region* const region : regions) {
    // A copy under a layer has ended before the one behind the next begins.
    std::uint32_t left_of = std::max(region->readers.front(), segment_.first + 1) - 1;
    std::uint64_t left = region->bytes;
    while (left != 0) {
      if (left_of == segment_.first) return std::nullopt;
      --left_of;
      std::uint64_t& free = idle[left_of - segment_.first];
      const std::uint64_t bytes = std::min(left, free);
      if (bytes == 0 || copies[left_of].size() == kMostCopies) continue;
      free -= bytes;
      left -= bytes;
      copies[left_of].push_back({region, left, bytes});
    }
  }
  return copies;
}

Copies Stage::choose(std::uint64_t bytes) const {
  std::vector<const Region*> regions;
  Copies copies;
  for (const Region& region : regions_) {
    if (region.bytes > bytes) continue;
    regions.push_back(&region);
    if (auto all = fit(regions)) {
      bytes -= region.bytes;
      copies = std::move(*all);
    } else {
      regions.pop_back();
    }
  }
  return copies;
}

// Adds the transfers of one copy.
void add_transfers(const Copy& copy, std::uint32_t to, std::vector<nvdla_transfer>& transfers) {
  for (std::uint64_t done = 0; done < copy.bytes;) {
    nvdla_transfer& transfer = transfers.emplace_back();
    const std::uint64_t left = copy.bytes - done;
    const std::uint64_t line = std::min(left, kLineBytes);
    transfer.line_bytes = static_cast<std::uint32_t>(line);
    transfer.lines = static_cast<std::uint32_t>(left / line);
    transfer.surfaces = 1;
    for (nvdla_surface* const surface : {&transfer.source, &transfer.destination}) {
      surface->line_stride = transfer.line_bytes;
      surface->surface_stride = transfer.line_bytes * transfer.lines;
      surface->offset = copy.offset + done;
    }
    transfer.source.slot = copy.region->allocation;
    transfer.source.offset += copy.region->offset;
    transfer.destination.slot = to;
    done += line * transfer.lines;
  }
}

// `Staging` puts copies into a schedule, and lets layers read what was copied.
class Staging {
 public:
  Staging(Schedule& schedule, const DeviceInfo& info, const Copies& copies)
      : schedule_(schedule), copies_(copies), mover_(schedule) {
    for (const auto& [under, all] : copies)
      for (const Copy& copy : all) allocate(*copy.region, info);
  }

  void run() {
    for (std::uint32_t i = 0; i < mover_.size(); ++i) {
      if (mover_.is_cpu(i)) {
        mover_.move(i);
        continue;
      }
      mover_.come_to(i);
      add_layer(i);
      if (const auto under = copies_.find(i); under != copies_.end()) add_copy(under->second);
    }
    mover_.come_to(mover_.size());
  }

 private:
  // `Staged` is where a region lies then, and the layers that copy it.
  struct Staged {
    std::uint32_t allocation = 0;
    std::vector<std::uint32_t> copies;
  };

  void allocate(const Region& region, const DeviceInfo& info) {
    const auto next = static_cast<std::uint32_t>(schedule_.allocations.size());
    if (!staged_.try_emplace(&region, Staged{next, {}}).second) return;
    schedule_.allocations.push_back(
        {"weights of '" + full_name(mover_.operation(region.readers.front())) + "'",
         make_slot(info, region.bytes, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE, Memory::kSram),
         {},
         false});
    for (const std::uint32_t reader : region.readers) region_of_[reader] = &region;
  }

  void add_layer(std::uint32_t index) {
    nvdla_layer layer = mover_.layer(index);
    Operation operation = mover_.operation(index);
    operation.after = mover_.waits(index, index);
    if (const auto region = region_of_.find(index); region != region_of_.end()) {
      const Staged& staged = staged_.at(region->second);
      layer.conv.weights.slot = staged.allocation;
      layer.conv.weights.offset = 0;
      operation.after.insert(operation.after.end(), staged.copies.begin(), staged.copies.end());
    }
    before_ = std::exchange(now_, mover_.next());
    mover_.add(index, layer, std::move(operation));
  }

  // Copies begin when the layer before the last one has ended, and run under the last.
  void add_copy(const std::vector<Copy>& copies) {
    nvdla_layer layer = {};
    layer.kind = NVDLA_LAYER_BDMA;
    layer.bdma.first_transfer = static_cast<std::uint32_t>(schedule_.transfers.size());
    for (const Copy& copy : copies) {
      Staged& staged = staged_.at(copy.region);
      add_transfers(copy, staged.allocation, schedule_.transfers);
      staged.copies.push_back(mover_.next());
    }
    layer.bdma.num_transfers =
        static_cast<std::uint32_t>(schedule_.transfers.size()) - layer.bdma.first_transfer;
    const Region& first = *copies.front().region;
    Operation operation{.name = schedule_.allocations[staged_.at(&first).allocation].name,
                        .origin = mover_.operation(first.readers.front()).origin};
    if (now_ != before_ && !schedule_.segment_starts.contains(now_))
      operation.after.push_back(before_);
    schedule_.layers.push_back(layer);
    schedule_.operations.push_back(std::move(operation));
  }

  Schedule& schedule_;
  const Copies& copies_;
  LayerMover mover_;
  std::uint32_t now_ = 0, before_ = 0;  // where the last two layers are that are no copies
  std::map<const Region*, Staged> staged_;
  std::map<std::uint32_t, const Region*> region_of_;  // by the layer that reads it
};

// `Trial` is a schedule with some copies, and what it is predicted to take.
struct Trial {
  Schedule schedule;
  std::uint64_t staged = 0;  // bytes
  std::uint64_t cycles = 0;
};

// Returns where the allocations lie that a plan of memory is made for.
InterfaceOf interfaces(const Schedule& schedule, const MemoryPlan& plan) {
  std::vector<cost::Interface> all(schedule.allocations.size(), cost::Interface::kPrimary);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint32_t slot = plan.places[i].slot;
    if (slot != MemoryPlan::kNowhere && plan.slots[slot].slot.memory == NVDLA_MEMORY_SRAM)
      all[i] = cost::Interface::kSecondary;
  }
  return [all = std::move(all)](std::uint32_t allocation) { return all[allocation]; };
}

// Returns the bytes of secondary memory that nobody has put tensors into.
std::uint64_t free_sram(const Schedule& schedule, std::uint64_t bytes) {
  for (const Allocation& allocation : schedule.allocations)
    if (allocation.slot.memory == NVDLA_MEMORY_SRAM)
      bytes -= std::min<std::uint64_t>(bytes, allocation.slot.size);
  return bytes;
}

// `Search` tries how many bytes of weights secondary memory may take. Constants stay outside, as
// their bytes count for nothing here.
class Search {
 public:
  Search(const Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  // Returns the fastest of the schedules that are tried.
  Trial run(Schedule schedule) {
    Trial best = predict({.schedule = std::move(schedule)});
    const Schedule plain = best.schedule;
    const InterfaceOf interface_of = interface_of_;
    const std::uint64_t alone = best.cycles;
    const std::uint64_t room = free_sram(plain, context_.options.sram_bytes);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> tried;  // bytes and cycles
    for (std::uint64_t parts = kParts; parts != 0; --parts) {
      if (!context_.may_predict()) break;
      Trial next = stage(plain, interface_of, room / kParts * parts);
      if (next.staged == 0) break;
      next = predict(std::move(next));
      tried.emplace_back(next.staged, next.cycles);
      if (next.cycles < best.cycles) best = std::move(next);
    }
    if (tried.empty()) return best;
    context_.consider("network", "weights where they are", alone, best.staged == 0);
    for (const auto& [bytes, cycles] : tried)
      context_.consider("network", fmt::format("{} bytes of weights in SRAM", bytes), cycles,
                        bytes == best.staged && cycles == best.cycles);
    return best;
  }

 private:
  Trial stage(const Schedule& plain, const InterfaceOf& interface_of, std::uint64_t bytes) const {
    Trial trial{.schedule = plain};
    // The last one first, as layers behind copies have other numbers.
    const std::vector<Schedule::Segment> segments = plain.segments();
    for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
      if (plain.layers[segment->first].kind == Schedule::kCpu) continue;
      const Stage stage(trial.schedule, *segment, context_.info, interface_of);
      const Copies copies = stage.choose(bytes - trial.staged);
      if (copies.empty()) continue;
      for (const auto& [under, all] : copies)
        for (const Copy& copy : all) trial.staged += copy.bytes;
      Staging(trial.schedule, context_.info, copies).run();
    }
    return trial;
  }

  Trial predict(Trial trial) {
    PassContext context{.info = context_.info, .options = context_.options};
    const Schedule waiting = set_waits(trial.schedule, graph_, context);
    const MemoryPlan plan = plan_memory(
        waiting, {.share = context_.options.share_memory, .sram = context_.options.sram_bytes});
    interface_of_ = interfaces(waiting, plan);
    for (const Schedule::Segment& segment : waiting.segments()) {
      if (waiting.layers[segment.first].kind == Schedule::kCpu) continue;
      const auto sequence = sequence_of(waiting, segment, context_.info, interface_of_);
      trial.cycles += predict_sequence(context_.info, sequence).total;
    }
    return trial;
  }

  const Graph& graph_;
  PassContext& context_;
  InterfaceOf interface_of_;  // of the schedule that was predicted last
};

}  // namespace

Schedule stage_weights(Schedule schedule, const Graph& graph, PassContext& context) {
  const MemorySpeed& memory = context.info.memory;
  if (context.options.sram_bytes == 0 || !context.info.has_bdma || memory.bandwidth == 0)
    return schedule;
  // Copies take memory, which a plan within a limit may lack.
  if (context.alive_in_turns != kAnyBytes) return schedule;
  // A plan of memory asks of constants only whether there are some.
  std::vector<std::vector<std::byte>> contents;
  for (Allocation& allocation : schedule.allocations) {
    std::vector<std::byte> some(allocation.contents.empty() ? 0 : 1);
    contents.push_back(std::exchange(allocation.contents, std::move(some)));
  }
  const std::size_t layers = schedule.layers.size();
  Trial best = Search(graph, context).run(std::move(schedule));
  for (std::size_t i = 0; i < contents.size(); ++i)
    best.schedule.allocations[i].contents = std::move(contents[i]);
  context.applied = static_cast<std::uint32_t>(best.schedule.layers.size() - layers);
  return std::move(best.schedule);
}

}  // namespace nvdla::detail
