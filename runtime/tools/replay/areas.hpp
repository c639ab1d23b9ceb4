// SPDX-License-Identifier: MIT
//
// Sets of bytes of the two memories.
#ifndef NVDLA_TOOLS_REPLAY_AREAS_HPP
#define NVDLA_TOOLS_REPLAY_AREAS_HPP

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "firmware/nvdla_dump_format.h"

namespace nvdla::replay {

class Areas {
 public:
  void add(const nvdla_dump_access& access) {
    std::uint64_t begin = access.address;
    std::uint64_t last = access.address + (access.bytes - 1);
    auto& areas = areas_[access.memory];
    auto next = areas.upper_bound(begin);
    if (next != areas.begin() && std::prev(next)->second >= begin) --next;
    while (next != areas.end() && next->first <= last) {
      begin = std::min(begin, next->first);
      last = std::max(last, next->second);
      next = areas.erase(next);
    }
    areas.emplace(begin, last);
  }

  bool touch(const nvdla_dump_access& access) const {
    const auto& areas = areas_[access.memory];
    const auto next = areas.upper_bound(access.address + (access.bytes - 1));
    return next != areas.begin() && std::prev(next)->second >= access.address;
  }

  // Calls `visit` with address and size of each part of a range that is not in the set.
  template <typename Visit>
  void visit_outside(std::uint32_t memory, std::uint64_t address, std::uint64_t size,
                     Visit visit) const {
    const std::uint64_t end = address + (size - 1);
    for (const auto& [first, last] : areas_[memory]) {
      if (last < address || first > end) continue;
      if (first > address) visit(address, first - address);
      if (last >= end) return;
      address = last + 1;
    }
    visit(address, end - address + 1);
  }

  const std::map<std::uint64_t, std::uint64_t>& of(std::uint32_t memory) const {
    return areas_[memory];
  }

 private:
  std::map<std::uint64_t, std::uint64_t> areas_[2];  // first byte to last
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_AREAS_HPP
