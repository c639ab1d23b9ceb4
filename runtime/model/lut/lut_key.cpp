// SPDX-License-Identifier: MIT
#include "model/lut/lut_key.hpp"

namespace nvdla::model {

void append_bytes(std::vector<std::byte>& key, const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  key.insert(key.end(), begin, begin + bytes);
}

void append_key(std::vector<std::byte>& key, const LutConfig& config) {
  for (const LutTable* table : {&config.le, &config.lo}) {
    append_key(key, table->last, table->exponential, table->offset, table->select, table->start,
               table->end, table->underflow_scale, table->overflow_scale, table->underflow_shift,
               table->overflow_shift);
    append_bytes(key, table->entries, (table->last + 1) * sizeof(*table->entries));
  }
  append_key(key, config.underflow_lo, config.overflow_lo, config.hybrid_lo);
}

}  // namespace nvdla::model
