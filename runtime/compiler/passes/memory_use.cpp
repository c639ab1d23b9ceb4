// SPDX-License-Identifier: MIT
#include "nvdla/types/memory_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "compiler/passes/memory_plan.hpp"
#include "nvdla/types/memory.hpp"

namespace nvdla {
namespace {

constexpr double kMega = 1e6;

std::string layers_of(const BufferUse::Tenant& tenant) {
  return tenant.always ? "always" : fmt::format("{}..{}", tenant.first_layer, tenant.last_layer);
}

}  // namespace

namespace detail {

MemoryUse memory_use(const MemoryPlan& plan, std::span<const Allocation> allocations) {
  MemoryUse use;
  std::uint64_t always = 0;
  std::vector<std::int64_t> steps;  // by layer, how much more than before
  const auto step = [&](std::size_t layer) -> std::int64_t& {
    if (steps.size() <= layer) steps.resize(layer + 1);
    return steps[layer];
  };
  for (const MemoryPlan::Slot& slot : plan.slots) {
    BufferUse& buffer = use.buffers.emplace_back();
    buffer.memory = static_cast<Memory>(slot.slot.memory);
    buffer.bytes = slot.slot.size;
    buffer.shared = holds_constants(slot, allocations);
    use.total += buffer.bytes;
    if (buffer.shared) use.shared += buffer.bytes;
    for (const MemoryPlan::LiveRange& tenant : slot.live_ranges) {
      const Allocation& allocation = allocations[tenant.allocation];
      const bool stays = allocation.dedicated || !allocation.contents.empty();
      const std::uint64_t bytes = allocation.slot.size;
      buffer.tenants.push_back({allocation.name, bytes, stays, tenant.first, tenant.last});
      use.apart += bytes;
      if (stays) {
        always += bytes;
      } else {
        step(tenant.first) += static_cast<std::int64_t>(bytes);
        step(tenant.last + std::size_t{1}) -= static_cast<std::int64_t>(bytes);
      }
    }
  }
  std::int64_t now = 0, most = 0;
  for (const std::int64_t more : steps) most = std::max(most, now += more);
  use.peak = always + static_cast<std::uint64_t>(most);
  return use;
}

}  // namespace detail

std::string to_text(const MemoryUse& use) {
  std::string text =
      fmt::format("{:>6} {:>6} {:>11} {:>12}  {}\n", "buffer", "memory", "layers", "bytes", "what");
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < use.buffers.size(); ++i) {
    const BufferUse& buffer = use.buffers[i];
    const char* const memory = buffer.memory == Memory::kSram ? "SRAM" : "DRAM";
    for (const BufferUse::Tenant& tenant : buffer.tenants) {
      fmt::format_to(out, "{:>6} {:>6} {:>11} {:>12}  {}\n", i, memory, layers_of(tenant),
                     tenant.bytes, tenant.name);
    }
  }
  fmt::format_to(out,
                 "{} buffers, {:.2f} MB; at most {:.2f} MB in use at once; {:.2f} MB if nothing "
                 "was shared; a further request takes {:.2f} MB\n",
                 use.buffers.size(), static_cast<double>(use.total) / kMega,
                 static_cast<double>(use.peak) / kMega, static_cast<double>(use.apart) / kMega,
                 static_cast<double>(use.total - use.shared) / kMega);
  return text;
}

}  // namespace nvdla
