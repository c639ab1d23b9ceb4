// SPDX-License-Identifier: MIT
//
// `CdpMaps` caches the answers of CDP's tables in int8, where a sum of squares has few bits. Once a
// layer has had more sums than there are values, each value is looked up in the tables once, and
// its answer is kept for the layers that follow.
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

  // Returns the answers for x from `low` to `high`, indexed by x, for a layer of `elements`
  // elements; null while the tables are to be searched for each sum. Valid until the next layer.
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
  // The maps, the one used last first. Networks have up to this many different normalisations.
  std::array<Map, 4> maps_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CDP_CDP_MAP_HPP
