// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "compiler/passes/memory_plan.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

class Check {
 public:
  Check(const MemoryPlan& plan, const Schedule& schedule)
      : plan_(plan),
        allocations_(schedule.allocations),
        order_(schedule.order()),
        named_(schedule.layers.size()) {
    for (std::uint32_t i = 0; i < schedule.layers.size(); ++i)
      for_each_use(schedule, i, [&](const auto& place, bool) { named_[i].push_back(place.slot); });
  }

  // Each layer touches only what it names.
  void check_extents(std::span<const ProgramAccess> accesses) const {
    for (const ProgramAccess& access : accesses) {
      const auto& named = named_[access.layer];
      const bool inside = std::any_of(named.begin(), named.end(), [&](std::uint32_t allocation) {
        const MemoryPlan::Place& place = plan_.places[allocation];
        return place.slot == access.slot && access.begin >= place.offset &&
               access.end <= place.offset + allocations_[allocation].slot.size;
      });
      if (inside) continue;
      throw_error(ErrorCode::kInvalidProgram,
                  "layer {} may touch bytes {}..{} of buffer {}, which are none of its tensors",
                  access.layer, access.begin, access.end - 1, access.slot);
    }
  }

  // Checks that no two allocations share bytes at the same time.
  void check_lives() const {
    std::vector<std::vector<std::uint32_t>> users(allocations_.size());
    for (std::uint32_t layer = 0; layer < named_.size(); ++layer)
      for (const std::uint32_t allocation : named_[layer]) users[allocation].push_back(layer);
    for (std::uint32_t a = 0; a < allocations_.size(); ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        if (!share_bytes(a, b) || order_.ended(users[a], users[b]) ||
            order_.ended(users[b], users[a]))
          continue;
        throw_error(ErrorCode::kInvalidProgram,
                    "{} and {} share memory, and layers may touch both at the same time",
                    allocations_[a].name, allocations_[b].name);
      }
    }
  }

 private:
  bool share_bytes(std::uint32_t a, std::uint32_t b) const {
    const MemoryPlan::Place &x = plan_.places[a], &y = plan_.places[b];
    return x.slot == y.slot && x.slot != MemoryPlan::kNowhere &&
           x.offset < y.offset + allocations_[b].slot.size &&
           y.offset < x.offset + allocations_[a].slot.size;
  }

  const MemoryPlan& plan_;
  std::span<const Allocation> allocations_;
  LayerOrder order_;
  std::vector<std::vector<std::uint32_t>> named_;  // allocations, by layer
};

}  // namespace

void check_plan(const MemoryPlan& plan, const Schedule& schedule,
                std::span<const ProgramAccess> accesses) {
  const Check check(plan, schedule);
  check.check_extents(accesses);
  check.check_lives();
}

}  // namespace nvdla::detail
