// SPDX-License-Identifier: MIT
#include "model/cdp/cdp_map.hpp"

#include <algorithm>
#include <numeric>

#include "model/lut/lut_search.hpp"

namespace nvdla::model {

// Moves the map of the key to the front; if there is none, it replaces the least recently used map.
CdpMaps::Map& CdpMaps::find() {
  auto found =
      std::find_if(maps_.begin(), maps_.end(), [&](const Map& map) { return map.key == key_; });
  if (found == maps_.end()) {
    --found;
    found->key.swap(key_);
    found->seen = 0;
    found->made = false;
  }
  std::rotate(maps_.begin(), found, found + 1);
  return maps_.front();
}

void CdpMaps::make(Map& map, const IntTables& tables, std::int32_t low) const {
  std::int32_t numbers[kTableRun], answers[kTableRun];
  for (std::size_t at = 0; at < map.answers.size(); at += kTableRun) {
    const auto count =
        static_cast<unsigned>(std::min<std::size_t>(kTableRun, map.answers.size() - at));
    std::iota(numbers, numbers + count, low + static_cast<std::int32_t>(at));
    kernels_.cdp_look_up(tables, numbers, count, answers);
    std::transform(answers, answers + count, map.answers.data() + at,
                   [](std::int32_t answer) { return static_cast<std::int16_t>(answer); });
  }
  map.made = true;
}

const std::int16_t* CdpMaps::plan(const LutConfig& config, const IntTables& tables,
                                  std::int32_t low, std::int32_t high, std::uint64_t elements) {
  key_.clear();
  append_key(key_, low, high);
  append_key(key_, config);
  Map& map = find();
  const auto size = static_cast<std::size_t>(high - low) + 1;
  map.seen += elements;
  if (!map.made && map.seen <= size) return nullptr;
  if (!map.made) {
    map.answers.resize(size);
    make(map, tables, low);
  }
  return map.answers.data() - low;
}

}  // namespace nvdla::model
