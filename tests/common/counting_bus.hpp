// SPDX-License-Identifier: MIT
//
// A memory that counts what is asked of it.
#pragma once

#include <cstdint>

#include "model/core/memory.hpp"

namespace nvdla::test {

class CountingBus final : public model::Bus {
 public:
  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override {
    ++accesses;
    return memory.map(ram, address, size, write);
  }
  std::uint64_t generation(model::Ram ram, std::uint64_t address,
                           std::uint64_t size) const noexcept override {
    return vouches ? memory.generation(ram, address, size) : 0;
  }
  void written(model::Ram, std::uint64_t, std::uint64_t) noexcept override {}

  model::Memory memory;
  unsigned accesses = 0;
  bool vouches = true;  // for bytes that did not change
};

}  // namespace nvdla::test
