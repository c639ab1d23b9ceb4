// SPDX-License-Identifier: MIT
//
// What CDP's tables answer in int8, where a sum of squares has few bits: once more sums have come
// than there are, each is looked up in the tables once, and its answer is kept for the layers that
// follow.
#ifndef NVDLA_MODEL_CDP_CDP_MAP_HPP
#define NVDLA_MODEL_CDP_CDP_MAP_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/lut/lut_search.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {

class CdpMaps {
 public:
  explicit CdpMaps(const UnitKernels& kernels) : kernels_(kernels) {}

  // The answer to x at [x], for x from `low` to `high`, of a layer of so many elements; null if its
  // sums are to be looked up in the tables. Stays until the next layer.
  const std::int16_t* plan(const LutConfig& config, const IntTables& tables, std::int32_t low,
                           std::int32_t high, std::uint64_t elements);

 private:
  struct Map {
    std::vector<std::byte> key;
    std::uint64_t seen = 0;  // elements
    std::vector<std::int16_t> answers;
    bool made = false;
  };

  Map& find();
  void make(Map& map, const IntTables& tables, std::int32_t low) const;

  const UnitKernels& kernels_;
  std::vector<std::byte> key_;
  // As many as networks have different normalisations; the one used last is the first.
  std::array<Map, 4> maps_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CDP_CDP_MAP_HPP
