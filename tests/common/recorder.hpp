// SPDX-License-Identifier: MIT
//
// A bus that records which bytes a device touches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/core/bus.hpp"
#include "model/core/memory.hpp"

namespace nvdla::test {

// A set of bytes as disjoint intervals, begin to end.
class Bytes {
 public:
  void add(std::uint64_t begin, std::uint64_t size) {
    if (size != 0) parts_.emplace_back(begin, begin + size);
  }
  std::map<std::uint64_t, std::uint64_t> merged() const {
    auto sorted = parts_;
    std::sort(sorted.begin(), sorted.end());
    std::map<std::uint64_t, std::uint64_t> result;
    for (const auto& [begin, end] : sorted) {
      if (!result.empty() && result.rbegin()->second >= begin) {
        result.rbegin()->second = std::max(result.rbegin()->second, end);
      } else {
        result[begin] = end;
      }
    }
    return result;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts_;
};

class Recorder final : public model::Bus {
 public:
  explicit Recorder(model::Memory& memory) : memory_(memory) {}
  Bytes reads, writes, announced;
  // Gives windows, through which nothing is recorded but what is announced.
  bool open = false;

  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override {
    model::Mapping mapping = memory_.map(ram, address, size, write);
    mapping.size = std::min(mapping.size, size);
    (write ? writes : reads).add(address, mapping.size);
    return mapping;
  }
  std::byte* window(model::Ram ram, std::uint64_t address, std::uint64_t size,
                    bool write) noexcept override {
    return open ? memory_.window(ram, address, size, write) : nullptr;
  }
  std::uint64_t generation(model::Ram, std::uint64_t, std::uint64_t) const noexcept override {
    return 0;
  }
  void written(model::Ram, std::uint64_t address, std::uint64_t size) noexcept override {
    announced.add(address, size);
  }

 private:
  model::Memory& memory_;
};

}  // namespace nvdla::test
