// SPDX-License-Identifier: MIT
//
// Bytes that say what a layer's results depend on, to know them again: results that are kept from
// layer to layer stay as long as their key does.
#ifndef NVDLA_MODEL_LUT_LUT_KEY_HPP
#define NVDLA_MODEL_LUT_LUT_KEY_HPP

#include <cstddef>
#include <type_traits>
#include <vector>

#include "model/lut/lut_search.hpp"

namespace nvdla::model {

void append_bytes(std::vector<std::byte>& key, const void* from, std::size_t bytes);

template <typename... Scalars>
void append_key(std::vector<std::byte>& key, const Scalars&... scalars) {
  static_assert((std::is_scalar_v<Scalars> && ...));
  (append_bytes(key, &scalars, sizeof(scalars)), ...);
}

// All of both tables.
void append_key(std::vector<std::byte>& key, const LutConfig& config);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_LUT_LUT_KEY_HPP
