// SPDX-License-Identifier: MIT
//
// Single values as text: numbers, enumerators by name, shapes as CHANNELSxHEIGHTxWIDTH.
#ifndef NVDLA_COMPILER_TEXT_VALUE_TEXT_HPP
#define NVDLA_COMPILER_TEXT_VALUE_TEXT_HPP

#include <drm/nvdla_layer.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compiler/text/cursor.hpp"
#include "compiler/text/descriptor_text.hpp"
#include "nvdla/operators/concatenation.hpp"
#include "nvdla/operators/convolution.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "support/check.hpp"
#include "support/field_values.hpp"

namespace nvdla::detail::text {

inline std::string_view rewrite_name(std::uint32_t value) noexcept {
  constexpr std::string_view kNames[] = {"never", "auto", "always"};
  return value < std::size(kNames) ? kNames[value] : std::string_view();
}
inline std::string_view axis_name(std::uint32_t value) noexcept {
  constexpr std::string_view kNames[] = {"channels", "height", "width"};
  return value < std::size(kNames) ? kNames[value] : std::string_view();
}

inline ValueNames names_of(Rewrite) { return {rewrite_name, 3, false}; }
inline ValueNames names_of(Axis) { return {axis_name, 3, false}; }
inline ValueNames names_of(Precision) {
  return value_names(NVDLA_OBJECT_LAYER, "sdp.out_precision");
}
inline ValueNames names_of(Memory) { return value_names(NVDLA_OBJECT_SLOT, "memory"); }
inline ValueNames names_of(nvdla_alu) { return value_names(NVDLA_OBJECT_LAYER, "sdp.x1.alu"); }
inline ValueNames names_of(nvdla_mul) { return value_names(NVDLA_OBJECT_LAYER, "sdp.x1.mul"); }
inline ValueNames names_of(nvdla_operand_mode) {
  return value_names(NVDLA_OBJECT_LAYER, "sdp.x1.mode");
}
inline ValueNames names_of(nvdla_pixel_format) {
  return value_names(NVDLA_OBJECT_LAYER, "conv.pixel_format");
}

/* ---------------------------------------------------------- printing --- */

template <typename T>
requires std::is_arithmetic_v<T> std::string value_text(T value) {
  return fmt::format("{}", value);
}
template <typename T>
requires std::is_enum_v<T> std::string value_text(T value) {
  return names_of(value).text(static_cast<std::uint32_t>(value));
}
inline std::string value_text(const std::string& value) { return quote(value); }
inline std::string value_text(const Shape& shape) {
  const std::string cubes = shape.batch == 1 ? "" : fmt::format("{}x", shape.batch);
  return fmt::format("{}{}x{}x{}", cubes, shape.channels, shape.height, shape.width);
}
inline std::string value_text(const std::vector<std::uint32_t>& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}
template <typename T>
std::string value_text(const std::optional<T>& value) {
  return value ? value_text(*value) : "none";
}

/* ----------------------------------------------------------- reading --- */

// `name` describes the value in errors.
template <typename T>
requires std::is_arithmetic_v<T>
void parse_value(Cursor& cursor, std::string_view name, T& value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    value = cursor.accept_word("true");
    if (!value && !cursor.accept_word("false"))
      cursor.fail_expected(fmt::format("{} (true, false)", name));
  } else if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(std::is_same_v<T, float> ? cursor.single(name) : cursor.real(name));
  } else if constexpr (std::is_signed_v<T>) {
    value = static_cast<T>(cursor.integer(name, Limits::min(), Limits::max()));
  } else {
    value = static_cast<T>(cursor.natural(name, Limits::max()));
  }
}
template <typename T>
requires std::is_enum_v<T>
void parse_value(Cursor& cursor, std::string_view name, T& value) {
  const ValueNames names = names_of(value);
  if (cursor.at_number()) cursor.fail_expected(fmt::format("{} ({})", name, names.list()));
  value = static_cast<T>(parse_named(cursor, names, name, 0));
}
inline void parse_value(Cursor& cursor, std::string_view name, std::string& value) {
  value = cursor.quoted(name);
}
// A shape is one that Network takes.
inline void parse_value(Cursor& cursor, std::string_view, Shape& shape) {
  const std::size_t position = cursor.position();
  std::uint32_t sizes[4] = {1, 1, 1, 1};
  std::size_t count = 0;
  do {
    if (count == 4) cursor.fail_at(position, "a shape has three sizes, or four with a batch");
    sizes[count++] = cursor.digits("a size", 1, kMaxSide);
  } while (cursor.accept('x'));
  if (count < 3) cursor.fail_expected("'x' and another size, as in 3x32x32");
  const std::size_t first = count - 3;
  shape = {sizes[first], sizes[first + 1], sizes[first + 2], first == 0 ? 1 : sizes[0]};
  if (shape.batch > 32)
    cursor.fail_at(position, fmt::format("expected a batch in 1..32, found '{}'", shape.batch));
}
inline void parse_value(Cursor& cursor, std::string_view name, std::vector<std::uint32_t>& list) {
  cursor.expect('[');
  list.clear();
  while (!cursor.accept(']')) {
    if (!list.empty()) cursor.expect(',');
    parse_value(cursor, name, list.emplace_back());
  }
}
template <typename T>
void parse_value(Cursor& cursor, std::string_view name, std::optional<T>& value) {
  if (cursor.accept_word("none")) {
    value.reset();
  } else {
    parse_value(cursor, name, value.emplace());
  }
}

}  // namespace nvdla::detail::text

#endif  // NVDLA_COMPILER_TEXT_VALUE_TEXT_HPP
