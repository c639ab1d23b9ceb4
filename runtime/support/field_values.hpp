// SPDX-License-Identifier: MIT
//
// Names of the values that a field of the uapi structures may have: enumerators, or flags by bit.
#ifndef NVDLA_SUPPORT_FIELD_VALUES_HPP
#define NVDLA_SUPPORT_FIELD_VALUES_HPP

#include <cstdint>
#include <string>
#include <string_view>

namespace nvdla::detail {

// `ValueNames` names the values 0..count-1, or the bits 0..count-1 of flags. A value without a name
// has an empty one.
struct ValueNames {
  using NameOf = std::string_view (*)(std::uint32_t value) noexcept;

  NameOf name_of = nullptr;
  std::uint32_t count = 0;
  bool flags = false;

  bool empty() const noexcept { return count == 0; }
  // Returns "int8", "convert|mean", or a number where there is no name.
  std::string text(std::uint64_t value) const;
  // Returns "int8, int16, fp16", for errors.
  std::string list() const;
};

// Returns the names of the values of a field, which is named as object_fields() names it; empty for
// fields that are numbers.
ValueNames value_names(std::uint32_t object, std::string_view field) noexcept;

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_FIELD_VALUES_HPP
