// SPDX-License-Identifier: MIT
//
// Fields of layer descriptors that an application sets under other names.
#ifndef NVDLA_COMPILER_LOWER_USER_FIELDS_HPP
#define NVDLA_COMPILER_LOWER_USER_FIELDS_HPP

#include <cstdint>
#include <string_view>

namespace nvdla::detail {

// Returns the member of Convolution, Pointwise, Normalization and the like that becomes the field
// at `offset` of a layer, or nothing where the two have the same name or the application sets
// neither.
std::string_view user_field(std::uint32_t offset) noexcept;

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_USER_FIELDS_HPP
