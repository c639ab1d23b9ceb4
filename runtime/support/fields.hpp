// SPDX-License-Identifier: MIT
//
// Names of the fields of the uapi structures, by byte offset, for the text of errors.
#ifndef NVDLA_SUPPORT_FIELDS_HPP
#define NVDLA_SUPPORT_FIELDS_HPP

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nvdla::detail {

// A field, or all elements of an array that is one.
struct Field {
  std::uint32_t offset;
  std::uint32_t size;     // of all elements
  std::uint32_t element;  // of one
  std::string_view name;
  bool has_sign = false;  // its elements are signed integers
};

// The fields of the structure that enum nvdla_object names, in order (of a program its parts);
// empty for objects without.
std::span<const Field> object_fields(std::uint32_t object) noexcept;
// Size of that structure.
std::uint32_t object_size(std::uint32_t object) noexcept;
// The field that contains `offset`, or nullptr.
const Field* find_field(std::uint32_t object, std::uint32_t offset) noexcept;
// "waits[3]" for elements of arrays, the name otherwise; empty if there is none.
std::string field_text(std::uint32_t object, std::uint32_t offset);

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_FIELDS_HPP
