// SPDX-License-Identifier: MIT
#include "compiler/passes/program_cuts.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "packing/cbuf.hpp"

namespace nvdla::detail {
namespace {

constexpr std::uint32_t kReuse = NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS;

class Cutter {
 public:
  explicit Cutter(Schedule& schedule) : schedule_(schedule), live_(schedule.layers.size() + 1) {
    const auto users = users_of(schedule);
    const auto& allocations = schedule.allocations;
    for (std::size_t i = 0; i < users.size(); ++i) {
      if (users[i].size() < 2 || allocations[i].dedicated || !allocations[i].contents.empty())
        continue;
      for (std::uint32_t cut = users[i].front() + 1; cut <= users[i].back(); ++cut)
        live_[cut] += allocations[i].slot.size;
    }
  }

  // Before one of the layers first..last, the later the better where all else is equal.
  void cut_between(std::uint32_t first, std::uint32_t last) {
    std::uint32_t best = last;
    for (std::uint32_t cut = last; cut-- > first;)
      if (cost(cut) < cost(best)) best = cut;
    schedule_.segment_starts.insert(best);
    if (const auto tied = tied_at(best)) fetch_again(schedule_.layers, *tied);
  }

 private:
  using Cost = std::pair<bool, std::uint64_t>;

  Cost cost(std::uint32_t cut) const { return {tied_at(cut).has_value(), live_[cut]}; }

  // The convolution that would miss what is in the buffer.
  std::optional<std::uint32_t> tied_at(std::uint32_t cut) const {
    for (; cut < schedule_.layers.size() && !schedule_.cpu.contains(cut); ++cut) {
      const nvdla_conv& conv = schedule_.layers[cut].conv;
      if (conv.kernels == 0) continue;
      if ((conv.flags & kReuse) == 0) break;
      return cut;
    }
    return std::nullopt;
  }

  Schedule& schedule_;
  std::vector<std::uint64_t> live_;  // bytes, by the layer before which one would cut
};

// Counts the layers from `first` on that fit a program.
std::uint32_t count_that_fit(const Schedule& schedule, const Schedule::Segment& run,
                             const ProgramLimits& limits) {
  std::set<std::uint32_t> luts;
  std::uint32_t transfers = 0, count = 0;
  for (std::uint32_t i = run.first; i < run.second && count < limits.layers; ++i, ++count) {
    const nvdla_layer& layer = schedule.layers[i];
    if (layer.lut != 0) luts.insert(layer.lut);
    if (layer.kind == NVDLA_LAYER_BDMA) transfers += layer.bdma.num_transfers;
    if (luts.size() > limits.luts || transfers > limits.transfers) break;
  }
  return std::max(count, 1U);
}

std::size_t count_slots(const Schedule& placed, const Schedule::Segment& run) {
  std::set<std::uint32_t> slots;
  bool control = false;
  for (std::uint32_t i = run.first; i < run.second; ++i) {
    for_each_use(placed, i, [&](const auto& place, bool) { slots.insert(place.slot); });
    control |= (placed.layers[i].conv.flags & NVDLA_CONV_COMPRESSED) != 0;
  }
  return slots.size() + (control ? 1 : 0);
}

}  // namespace

void cut_programs(Schedule& schedule, const ProgramLimits& limits) {
  std::optional<Cutter> cutter;
  for (bool cut = true; cut;) {
    cut = false;
    for (const Schedule::Segment& run : schedule.segments()) {
      const std::uint32_t fit = count_that_fit(schedule, run, limits);
      if (fit == run.second - run.first) continue;
      if (!cutter) cutter.emplace(schedule);
      cutter->cut_between(run.first + (fit + 1) / 2, run.first + fit);
      cut = true;
    }
  }
}

bool cut_for_slots(Schedule& schedule, const Schedule& placed, const ProgramLimits& limits) {
  bool cut = false;
  for (const Schedule::Segment& run : schedule.segments()) {
    const std::uint32_t length = run.second - run.first;
    if (length == 1 || count_slots(placed, run) <= limits.slots) continue;
    const std::uint32_t first = run.first + std::max(length / 4, 1U);
    Cutter(schedule).cut_between(first, std::max(first, run.second - length / 4 - 1));
    cut = true;
  }
  return cut;
}

}  // namespace nvdla::detail
