// SPDX-License-Identifier: MIT
//
// Which tensors and constants of a network lie in one buffer.
//
// A tensor takes the memory of another when every layer that touches the other has ended before any
// layer that touches it starts: by what they wait for anyway, so that nothing waits for memory. The
// tensors that the application knows keep theirs for themselves. Constants lie one behind the
// other.
#ifndef NVDLA_COMPILER_PASSES_MEMORY_PLAN_HPP
#define NVDLA_COMPILER_PASSES_MEMORY_PLAN_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/lower/chain.hpp"
#include "nvdla/memory_use.hpp"

namespace nvdla::detail {

// What is to be in memory, before it is known where.
struct Resident {
  std::string name;
  nvdla_slot slot = {};             // as if it had one for itself
  std::vector<std::byte> contents;  // constants; they may be fewer bytes than the slot has
  bool alone = false;               // its slot is its own
};

struct MemoryPlan {
  struct Place {
    std::uint32_t slot = 0;
    std::uint64_t offset = 0;
  };
  struct Tenant {
    std::uint32_t resident = 0;
    std::uint32_t first = 0, last = 0;  // of the layers that touch it
  };
  struct Slot {
    nvdla_slot slot = {};
    std::vector<Tenant> tenants;  // in order of time
  };

  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  std::vector<Place> places;  // by resident; the slot of what no layer touches is kNowhere
  std::vector<Slot> slots;
};

struct MemoryWishes {
  bool share = true;       // else each tensor has a slot of its own
  std::uint64_t sram = 0;  // bytes that slots in secondary memory may take together
};

// The layers of each resident that touch it, in their order. The chain names residents as if these
// were slots.
std::vector<std::vector<std::uint32_t>> users_of(const Chain& chain, std::size_t residents);

// Residents that are alone come first, in their order.
//
// Tensors that nobody has placed go to secondary memory as long as there is room: first those that
// layers touch most often while they are alive, since what counts there is bytes times time; of
// equals the largest.
MemoryPlan plan_memory(std::span<const Resident> residents, const Chain& chain,
                       const MemoryWishes& wishes);

// Lets the chain name slots of the plan.
void move_in(const MemoryPlan& plan, Chain& chain);

// Does nothing but constants lie there?
bool holds_constants(const MemoryPlan::Slot& slot, std::span<const Resident> residents);

// What the plan comes to.
MemoryUse memory_use(const MemoryPlan& plan, std::span<const Resident> residents);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_MEMORY_PLAN_HPP
