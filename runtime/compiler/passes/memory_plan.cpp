// SPDX-License-Identifier: MIT
#include "compiler/passes/memory_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// A kernel without an IOMMU finds so much in one piece, most of the time.
constexpr std::uint64_t kConstantBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kConstantAlign = 256;

class Planner {
 public:
  explicit Planner(const Schedule& schedule)
      : allocations_(schedule.allocations), order_(schedule.order()), users_(users_of(schedule)) {
    for (const Allocation& allocation : allocations_) memories_.push_back(allocation.slot.memory);
  }

  MemoryPlan plan(const MemoryPlanOptions& options) {
    if (options.sram != 0) choose_sram(options);
    return plan(options.share);
  }

 private:
  MemoryPlan plan(bool share) {
    plan_ = {};
    constants_.reset();
    plan_.places.resize(allocations_.size(), {MemoryPlan::kNowhere, 0});
    for (std::uint32_t i = 0; i < allocations_.size(); ++i)
      if (allocations_[i].dedicated) put(i, add_slot(i), 0);
    for (std::uint32_t i = 0; i < allocations_.size(); ++i) {
      if (allocations_[i].dedicated || users_[i].empty()) continue;
      if (!allocations_[i].contents.empty()) place_constants(i);
    }
    // Whoever is used first chooses first.
    std::vector<std::uint32_t> tensors;
    for (std::uint32_t i = 0; i < allocations_.size(); ++i) {
      if (plan_.places[i].slot == MemoryPlan::kNowhere && !users_[i].empty()) tensors.push_back(i);
    }
    std::stable_sort(tensors.begin(), tensors.end(), [&](std::uint32_t a, std::uint32_t b) {
      return users_[a].front() < users_[b].front();
    });
    for (const std::uint32_t tensor : tensors) place_tensor(tensor, share);
    return std::move(plan_);
  }

  // Returns how much of its life layers are at a tensor.
  double busy(std::uint32_t allocation) const {
    const auto& users = users_[allocation];
    return static_cast<double>(users.size()) / (users.back() - users.front() + 1.0);
  }

  // One after the other, as long as the plan has room for it.
  void choose_sram(const MemoryPlanOptions& options) {
    std::vector<std::uint32_t> tensors;
    for (std::uint32_t i = 0; i < allocations_.size(); ++i) {
      const Allocation& allocation = allocations_[i];
      if (!allocation.dedicated && allocation.contents.empty() && !users_[i].empty() &&
          memories_[i] == NVDLA_MEMORY_DRAM && allocation.slot.size <= options.sram)
        tensors.push_back(i);
    }
    std::stable_sort(tensors.begin(), tensors.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(busy(a), allocations_[a].slot.size) >
             std::pair(busy(b), allocations_[b].slot.size);
    });
    for (const std::uint32_t tensor : tensors) {
      memories_[tensor] = NVDLA_MEMORY_SRAM;
      if (sram_bytes(plan(options.share)) > options.sram) memories_[tensor] = NVDLA_MEMORY_DRAM;
    }
  }

  static std::uint64_t sram_bytes(const MemoryPlan& plan) {
    std::uint64_t bytes = 0;
    for (const MemoryPlan::Slot& slot : plan.slots)
      if (slot.slot.memory == NVDLA_MEMORY_SRAM) bytes += slot.slot.size;
    return bytes;
  }

  std::uint32_t add_slot(std::uint32_t allocation) {
    plan_.slots.push_back({allocations_[allocation].slot, {}});
    plan_.slots.back().slot.memory = memories_[allocation];
    return static_cast<std::uint32_t>(plan_.slots.size() - 1);
  }

  void put(std::uint32_t allocation, std::uint32_t index, std::uint64_t offset) {
    const nvdla_slot& wanted = allocations_[allocation].slot;
    MemoryPlan::Slot& to = plan_.slots[index];
    to.slot.size = std::max(to.slot.size, offset + wanted.size);
    to.slot.alignment = std::max(to.slot.alignment, wanted.alignment);
    to.slot.access |= wanted.access;
    const auto& users = users_[allocation];
    to.live_ranges.push_back(
        {allocation, users.empty() ? 0 : users.front(), users.empty() ? 0 : users.back()});
    plan_.places[allocation] = {index, offset};
  }

  void place_constants(std::uint32_t allocation) {
    if (constants_) {
      const std::uint64_t end = arith::round_up(plan_.slots[*constants_].slot.size, kConstantAlign);
      if (end + allocations_[allocation].slot.size <= kConstantBytes) {
        put(allocation, *constants_, end);
        return;
      }
    }
    constants_ = add_slot(allocation);
    put(allocation, *constants_, 0);
  }

  // Into the slot that has to grow least, and of those that need not into the smallest.
  void place_tensor(std::uint32_t allocation, bool share) {
    const nvdla_slot& wanted = allocations_[allocation].slot;
    std::optional<std::uint32_t> best;
    const auto fits_better = [&](const nvdla_slot& a, const nvdla_slot& b) {
      const bool a_fits = a.size >= wanted.size, b_fits = b.size >= wanted.size;
      if (a_fits != b_fits) return a_fits;
      return a_fits ? a.size < b.size : a.size > b.size;
    };
    for (std::uint32_t i = 0; share && i < plan_.slots.size(); ++i) {
      const MemoryPlan::Slot& slot = plan_.slots[i];
      if (slot.slot.memory != memories_[allocation] || !is_free(slot, allocation)) continue;
      if (!best || fits_better(slot.slot, plan_.slots[*best].slot)) best = i;
    }
    put(allocation, best ? *best : add_slot(allocation), 0);
  }

  // Once the last tenant has gone: it came after all before it had.
  bool is_free(const MemoryPlan::Slot& slot, std::uint32_t allocation) const {
    const std::uint32_t last = slot.live_ranges.back().allocation;
    return !allocations_[last].dedicated && allocations_[last].contents.empty() &&
           order_.ended(users_[last], users_[allocation]);
  }

  std::span<const Allocation> allocations_;
  LayerOrder order_;
  std::vector<std::vector<std::uint32_t>> users_;  // layers, by allocation
  std::vector<std::uint32_t> memories_;            // the same
  std::optional<std::uint32_t> constants_;         // the slot that is being filled
  MemoryPlan plan_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> users_of(const Schedule& schedule) {
  std::vector<std::vector<std::uint32_t>> all(schedule.allocations.size());
  for (std::uint32_t i = 0; i < schedule.layers.size(); ++i) {
    for_each_use(schedule, i, [&](const auto& place, bool) {
      auto& users = all[place.slot];
      if (users.empty() || users.back() != i) users.push_back(i);
    });
  }
  return all;
}

MemoryPlan plan_memory(const Schedule& schedule, const MemoryPlanOptions& options) {
  return Planner(schedule).plan(options);
}

bool holds_constants(const MemoryPlan::Slot& slot, std::span<const Allocation> allocations) {
  return std::all_of(slot.live_ranges.begin(), slot.live_ranges.end(), [&](const auto& tenant) {
    return !allocations[tenant.allocation].contents.empty();
  });
}

Schedule assign_slots(const MemoryPlan& plan, const Schedule& schedule) {
  Schedule placed;
  placed.layers = schedule.layers;
  placed.transfers = schedule.transfers;
  placed.cpu = schedule.cpu;
  placed.segment_starts = schedule.segment_starts;
  for (std::uint32_t i = 0; i < placed.layers.size(); ++i) {
    for_each_use(placed, i, [&](auto& place, bool) {
      const MemoryPlan::Place& to = plan.places[place.slot];
      place.slot = to.slot;
      place.offset += to.offset;
    });
  }
  return placed;
}

}  // namespace nvdla::detail
