// SPDX-License-Identifier: MIT
#include "compiler/text/descriptor_text.hpp"

#include <drm/nvdla_layer.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace nvdla::detail::text {
namespace {

static_assert(std::endian::native == std::endian::little, "fields are read by their first bytes");

struct Limits {
  std::int64_t min = 0, max = 0;
};

// Numbers of 64 bits are offsets and sizes, and stay below 2^63.
Limits limits_of(const Field& field) {
  const std::uint32_t bits = 8 * field.element;
  constexpr std::int64_t kOne = 1;
  if (bits == 64) return {field.has_sign ? INT64_MIN : 0, INT64_MAX};
  if (field.has_sign) return {-(kOne << (bits - 1)), (kOne << (bits - 1)) - 1};
  return {0, (kOne << bits) - 1};
}

}  // namespace

std::uint64_t parse_named(Cursor& cursor, const ValueNames& names, std::string_view expected,
                          std::uint64_t max) {
  std::uint64_t all = 0;
  do {
    const std::string_view word = cursor.peek_word();
    std::uint32_t value = 0;
    while (value < names.count && (word.empty() || names.name_of(value) != word)) ++value;
    if (value < names.count) {
      cursor.accept_word(word);
      all |= names.flags ? std::uint64_t{1} << value : value;
    } else if (cursor.at_number()) {
      all |= cursor.natural(expected, max);
    } else {
      cursor.fail_expected(fmt::format("{} ({})", expected, names.list()));
    }
  } while (names.flags && cursor.accept('|'));
  return all;
}

DescriptorText::DescriptorText(std::uint32_t object, std::string_view prefix,
                               std::string_view behind_places)
    : object_(object), prefix_(prefix), behind_places_(behind_places) {
  std::vector<const Field*> fields;
  for (const Field& field : object_fields(object)) {
    const bool inside =
        prefix.empty() ? field.name.find('.') == field.name.npos || object != NVDLA_OBJECT_LAYER
                       : field.name.starts_with(prefix);
    if (inside) fields.push_back(&field);
  }
  if (!fields.empty()) begin_ = fields[0]->offset;
  for (std::size_t next = 0; next < fields.size();) add_item(fields, next);
}

void DescriptorText::add_item(const std::vector<const Field*>& fields, std::size_t& next) {
  const std::string_view name = name_of(*fields[next]);
  const auto take = [&](std::size_t count) {
    const auto first = fields.begin() + static_cast<std::ptrdiff_t>(next);
    next += count;
    return std::vector<const Field*>(first, first + static_cast<std::ptrdiff_t>(count));
  };
  const auto named = [&](std::size_t ahead, std::string_view expected) {
    return next + ahead < fields.size() && name_of(*fields[next + ahead]) == expected;
  };
  const std::string part(name.substr(0, name.rfind('.') == name.npos ? 0 : name.rfind('.')));
  if (name.ends_with(".offset") && named(1, part + ".slot")) {
    std::size_t count = 2;
    while (next + count < fields.size() && name_of(*fields[next + count]).starts_with(part + "."))
      ++count;
    items_.push_back({part + behind_places_, Kind::kPlace, take(count), {}});
    return;
  }
  const std::string_view stem = name.substr(0, name.rfind('_'));
  if (name.ends_with("_width") && named(1, std::string(stem) + "_height")) {
    items_.push_back({std::string(stem), Kind::kSides, take(2), {}});
    return;
  }
  if (name == "pad_left" && named(1, "pad_right") && named(2, "pad_top") &&
      named(3, "pad_bottom")) {
    items_.push_back({"padding", Kind::kPadding, take(4), {}});
    return;
  }
  const Field& field = *fields[next];
  const bool array = field.size > field.element;
  items_.push_back({std::string(name), array ? Kind::kArray : Kind::kNumber, take(1),
                    value_names(object_, field.name)});
}

std::optional<std::size_t> DescriptorText::find(std::string_view name) const {
  for (std::size_t item = 0; item < items_.size(); ++item)
    if (items_[item].name == name) return item;
  return std::nullopt;
}

bool DescriptorText::equal(std::size_t item, const void* a, const void* b) const {
  const auto& fields = items_[item].fields;
  return std::all_of(fields.begin(), fields.end(), [&](const Field* field) {
    const std::uint32_t at = field->offset - begin_;
    return std::memcmp(static_cast<const char*>(a) + at, static_cast<const char*>(b) + at,
                       field->size) == 0;
  });
}

void DescriptorText::copy(std::size_t item, const void* from, void* to) const {
  for (const Field* field : items_[item].fields) {
    const std::uint32_t at = field->offset - begin_;
    std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, field->size);
  }
}

std::int64_t DescriptorText::load(const Field& field, const void* value,
                                  std::size_t element) const {
  std::uint64_t bits = 0;
  std::memcpy(&bits,
              static_cast<const char*>(value) + (field.offset - begin_) + element * field.element,
              field.element);
  const std::uint32_t unused = 64 - 8 * field.element;
  return field.has_sign ? static_cast<std::int64_t>(bits << unused) >> unused
                        : static_cast<std::int64_t>(bits);
}

void DescriptorText::store(const Field& field, void* value, std::int64_t number,
                           std::size_t element) const {
  std::memcpy(static_cast<char*>(value) + (field.offset - begin_) + element * field.element,
              &number, field.element);
}

// "line_stride" of "conv.input.line_stride" in the item "input".
std::string_view DescriptorText::leaf_of(const Item& item, const Field& field) const {
  return name_of(field).substr(item.name.size() - behind_places_.size() + 1);
}

std::string DescriptorText::number_text(const Item& item, const Field& field,
                                        const void* value) const {
  const std::int64_t number = load(field, value);
  if (item.values.empty()) return std::to_string(number);
  return item.values.text(static_cast<std::uint64_t>(number));
}

std::string DescriptorText::place_text(const Item& item, const void* value) const {
  std::string out = fmt::format("@{}", load(*item.fields[1], value));
  if (const std::int64_t offset = load(*item.fields[0], value)) out += fmt::format("+{}", offset);
  std::string rest;
  for (std::size_t i = 2; i < item.fields.size(); ++i)
    if (const std::int64_t number = load(*item.fields[i], value))
      rest +=
          fmt::format("{}{}={}", rest.empty() ? "" : " ", leaf_of(item, *item.fields[i]), number);
  return rest.empty() ? out : out + "[" + rest + "]";
}

std::string DescriptorText::text(std::size_t index, const void* value,
                                 const PrintOptions& options) const {
  const Item& item = items_[index];
  const auto& fields = item.fields;
  const auto number = [&](std::size_t field) { return load(*fields[field], value); };
  switch (item.kind) {
    case Kind::kPlace:
      return place_text(item, value);
    case Kind::kSides:
      return fmt::format("{}x{}", number(1), number(0));
    case Kind::kPadding:
      return fmt::format("{},{},{},{}", number(2), number(3), number(0), number(1));
    case Kind::kArray: {
      const Field& field = *fields[0];
      const std::size_t count = field.size / field.element;
      return list_text({count, field.element, field.has_sign,
                        [&](std::size_t i) { return load(field, value, i); }},
                       count, options);
    }
    default:
      return number_text(item, *fields[0], value);
  }
}

std::string DescriptorText::text(const void* value, const void* base,
                                 const PrintOptions& options) const {
  std::string out;
  for (std::size_t item = 0; item < items_.size(); ++item)
    if (!equal(item, value, base))
      out += " " + items_[item].name + "=" + text(item, value, options);
  return out;
}

void DescriptorText::parse(Cursor& cursor, void* value, const ParseOptions& options) const {
  std::vector<bool> given(items_.size());
  while (cursor.at_word()) {
    const std::size_t position = cursor.position();
    const std::string_view name = cursor.word("a field");
    const std::optional<std::size_t> item = find(name);
    if (!item) {
      std::string names;
      for (const Item& one : items_) names += (names.empty() ? "" : ", ") + one.name;
      cursor.fail_at(position,
                     fmt::format("unknown field '{}': the fields here are {}", name, names));
    }
    if (given[*item]) cursor.fail_at(position, fmt::format("the field '{}' is there twice", name));
    given[*item] = true;
    cursor.expect('=');
    parse(*item, cursor, value, options);
  }
}

std::int64_t DescriptorText::parse_number(const Field& field, std::string_view expected,
                                          Cursor& cursor) const {
  const Limits limits = limits_of(field);
  return cursor.integer(expected, limits.min, limits.max);
}

std::int64_t DescriptorText::parse_value(const Item& item, const Field& field,
                                         Cursor& cursor) const {
  if (item.values.empty()) return parse_number(field, item.name, cursor);
  return static_cast<std::int64_t>(parse_named(cursor, item.values, item.name,
                                               static_cast<std::uint64_t>(limits_of(field).max)));
}

void DescriptorText::parse_array(const Item& item, Cursor& cursor, void* value,
                                 const ParseOptions& options) const {
  const Field& field = *item.fields[0];
  const Limits limits = limits_of(field);
  const std::size_t count = field.size / field.element;
  const List<std::int64_t> list = parse_list(cursor, limits.min, limits.max, options);
  const std::uint64_t given = list.kind == List<std::int64_t>::Kind::kValues
                                  ? list.values.size()
                                  : list.count.value_or(count);
  if (given > count)
    cursor.fail_at(list.position,
                   fmt::format("{} has {} elements, found {}", item.name, count, given));
  Budget budget(field.size * sizeof(std::int64_t));
  const auto values = make_values<std::int64_t>(list, count, cursor, budget);
  for (std::size_t i = 0; i < values.size(); ++i) store(field, value, values[i], i);
}

void DescriptorText::parse_place(const Item& item, Cursor& cursor, void* value) const {
  cursor.expect('@');
  store(*item.fields[1], value, parse_number(*item.fields[1], "a slot", cursor));
  if (cursor.accept('+'))
    store(*item.fields[0], value, parse_number(*item.fields[0], "an offset", cursor));
  if (!cursor.accept('[')) return;
  while (!cursor.accept(']')) {
    const std::string_view name = cursor.peek_word();
    const auto field = std::find_if(
        item.fields.begin() + 2, item.fields.end(),
        [&](const Field* one) { return !name.empty() && leaf_of(item, *one) == name; });
    if (field == item.fields.end()) {
      std::string leaves;
      for (std::size_t i = 2; i < item.fields.size(); ++i)
        leaves += (leaves.empty() ? "" : ", ") + std::string(leaf_of(item, *item.fields[i]));
      cursor.fail_expected(fmt::format("one of {}", leaves));
    }
    cursor.accept_word(name);
    cursor.expect('=');
    store(**field, value, parse_number(**field, leaf_of(item, **field), cursor));
  }
}

void DescriptorText::parse(std::size_t index, Cursor& cursor, void* value,
                           const ParseOptions& options) const {
  const Item& item = items_[index];
  const auto number = [&](std::size_t field) {
    store(*item.fields[field], value, parse_number(*item.fields[field], item.name, cursor));
  };
  switch (item.kind) {
    case Kind::kPlace:
      return parse_place(item, cursor, value);
    case Kind::kSides: {
      constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();
      store(*item.fields[1], value, cursor.digits("a height", 0, kAny));
      cursor.expect('x');
      store(*item.fields[0], value, cursor.digits("a width", 0, kAny));
      return;
    }
    case Kind::kPadding:
      for (const std::size_t side : {2, 3, 0, 1}) {
        if (side != 2) cursor.expect(',');
        number(side);
      }
      return;
    case Kind::kArray:
      return parse_array(item, cursor, value, options);
    default:
      store(*item.fields[0], value, parse_value(item, *item.fields[0], cursor));
  }
}

}  // namespace nvdla::detail::text
