// SPDX-License-Identifier: MIT
//
// The structures of <drm/nvdla_layer.h> as text: "kernels=16 kernel=3x3 padding=1,1,1,1
// input=@2+64[line_stride=256]". Which fields there are comes from the field table in
// support/fields.hpp.
#ifndef NVDLA_COMPILER_TEXT_DESCRIPTOR_TEXT_HPP
#define NVDLA_COMPILER_TEXT_DESCRIPTOR_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/text/cursor.hpp"
#include "compiler/text/list_text.hpp"
#include "support/field_values.hpp"
#include "support/fields.hpp"

namespace nvdla::detail::text {

// `DescriptorText` prints and reads the fields of one structure. Fields that belong together are
// one item of the text: an X_height and X_width is "X=HxW", the four sides of a padding are
// "padding=TOP,BOTTOM,LEFT,RIGHT", a place in memory is "@SLOT+OFFSET[...]".
class DescriptorText {
 public:
  // `prefix` is "conv." for the part of that name, or empty for the fields of the object itself.
  // `behind_places` stands behind the names of places, which a node may have for something else.
  DescriptorText(std::uint32_t object, std::string_view prefix,
                 std::string_view behind_places = {});

  std::size_t size() const noexcept { return items_.size(); }
  const std::string& name(std::size_t item) const { return items_[item].name; }
  std::optional<std::size_t> find(std::string_view name) const;

  bool equal(std::size_t item, const void* a, const void* b) const;
  std::string text(std::size_t item, const void* value, const PrintOptions& options) const;
  void parse(std::size_t item, Cursor& cursor, void* value, const ParseOptions& options) const;
  void copy(std::size_t item, const void* from, void* to) const;
  // Reads " name=value" of fields in any order, each once, as long as words follow.
  void parse(Cursor& cursor, void* value, const ParseOptions& options) const;

  // " name=value" for each item in which `value` differs from `base`.
  std::string text(const void* value, const void* base, const PrintOptions& options) const;

 private:
  enum class Kind { kNumber, kArray, kPlace, kSides, kPadding };
  struct Item {
    std::string name;
    Kind kind = Kind::kNumber;
    std::vector<const Field*> fields;
    ValueNames values;
  };

  void add_item(const std::vector<const Field*>& fields, std::size_t& next);
  std::string_view name_of(const Field& field) const { return field.name.substr(prefix_.size()); }
  std::string_view leaf_of(const Item& item, const Field& field) const;
  std::int64_t load(const Field& field, const void* value, std::size_t element = 0) const;
  void store(const Field& field, void* value, std::int64_t number, std::size_t element = 0) const;
  std::string number_text(const Item& item, const Field& field, const void* value) const;
  std::string place_text(const Item& item, const void* value) const;
  std::int64_t parse_value(const Item& item, const Field& field, Cursor& cursor) const;
  std::int64_t parse_number(const Field& field, std::string_view expected, Cursor& cursor) const;
  void parse_array(const Item& item, Cursor& cursor, void* value,
                   const ParseOptions& options) const;
  void parse_place(const Item& item, Cursor& cursor, void* value) const;

  std::uint32_t object_;
  std::string prefix_, behind_places_;
  std::uint32_t begin_ = 0;  // offset of the structure in the object
  std::vector<Item> items_;
};

// Reads one of the names, "a|b" of flags, or a number up to `max`. `expected` names the value in
// errors.
std::uint64_t parse_named(Cursor& cursor, const ValueNames& names, std::string_view expected,
                          std::uint64_t max);

}  // namespace nvdla::detail::text

#endif  // NVDLA_COMPILER_TEXT_DESCRIPTOR_TEXT_HPP
