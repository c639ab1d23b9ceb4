// SPDX-License-Identifier: MIT
#include "compiler/text/list_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

namespace nvdla::detail::text {
namespace {

// Up to so many values are a list, whatever they are.
constexpr std::size_t kShortList = 16;
// So few are a list even if a generator makes them.
constexpr std::size_t kShortestGenerated = 5;

// FNV-1a.
class ListHash {
 public:
  void add(std::uint64_t value, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) {
      hash_ ^= value >> (8 * i) & 0xff;
      hash_ *= 0x100000001b3;
    }
  }
  std::uint64_t get() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

std::string omitted(std::size_t count, const ListHash& hash) {
  return fmt::format("omitted({}, {:#018x})", count, hash.get());
}

std::string generator(std::string_view name, const std::string& arguments, std::size_t count,
                      std::optional<std::uint64_t> expected) {
  if (count == expected) return fmt::format("{}({})", name, arguments);
  return fmt::format("{}({}, {})", name, arguments, count);
}

std::int64_t wrap(std::uint64_t value, const Elements& elements) {
  const std::uint32_t unused = 64 - 8 * elements.bytes;
  const std::uint64_t high = value << unused;
  return elements.has_sign ? static_cast<std::int64_t>(high) >> unused
                           : static_cast<std::int64_t>(high >> unused);
}

// The difference of neighbours, if it is always the same.
std::optional<std::int64_t> step_of(const Elements& elements) {
  const auto difference = [&](std::size_t i) {
    return wrap(
        static_cast<std::uint64_t>(elements.at(i)) - static_cast<std::uint64_t>(elements.at(i - 1)),
        elements);
  };
  for (std::size_t i = 2; i < elements.count; ++i)
    if (difference(i) != difference(1)) return std::nullopt;
  return difference(1);
}

}  // namespace

void Budget::spend(std::uint64_t count, std::uint64_t element_bytes, const Cursor& cursor,
                   std::size_t position) {
  if (count <= left_ / element_bytes) {
    left_ -= count * element_bytes;
    return;
  }
  cursor.fail_at(position,
                 fmt::format("{} values of {} bytes exceed what a text may make, {} bytes", count,
                             element_bytes, max_bytes_));
}

std::string list_text(const Elements& elements, std::optional<std::uint64_t> expected,
                      const PrintOptions& options) {
  if (elements.count >= kShortestGenerated) {
    const std::optional<std::int64_t> step = step_of(elements);
    const std::int64_t first = elements.at(0);
    if (step == 0) return generator("fill", fmt::format("{}", first), elements.count, expected);
    if (step)
      return generator("ramp", fmt::format("{}, {}", first, *step), elements.count, expected);
  }
  if (elements.count > kShortList && !options.all_values) {
    ListHash hash;
    for (std::size_t i = 0; i < elements.count; ++i)
      hash.add(static_cast<std::uint64_t>(elements.at(i)), elements.bytes);
    return omitted(elements.count, hash);
  }
  std::string text = "[";
  for (std::size_t i = 0; i < elements.count; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(elements.at(i));
  return text + "]";
}

std::string list_text(std::span<const float> values, std::optional<std::uint64_t> expected,
                      const PrintOptions& options) {
  const auto bits = [&](std::size_t i) { return std::bit_cast<std::uint32_t>(values[i]); };
  bool equal = values.size() >= kShortestGenerated;
  for (std::size_t i = 1; i < values.size() && equal; ++i) equal = bits(i) == bits(0);
  if (equal) return generator("fill", fmt::format("{}", values[0]), values.size(), expected);
  if (values.size() <= kShortList || options.all_values)
    return fmt::format("[{}]", fmt::join(values, ", "));
  ListHash hash;
  for (std::size_t i = 0; i < values.size(); ++i) hash.add(bits(i), sizeof(float));
  return omitted(values.size(), hash);
}

std::string omitted_text(std::span<const std::byte> bytes) {
  ListHash hash;
  for (const std::byte byte : bytes) hash.add(static_cast<std::uint64_t>(byte), 1);
  return omitted(bytes.size(), hash);
}

namespace {

// Reads a list whose values `read` reads.
template <typename Number, typename Read>
List<Number> parse_any_list(Cursor& cursor, const ParseOptions& options, const Read& read) {
  using Kind = typename List<Number>::Kind;
  constexpr bool kRamps = std::is_integral_v<Number>;
  List<Number> list;
  list.position = cursor.position();
  const auto count = [&] {
    if (cursor.accept(',')) list.count = cursor.natural("a number of values", UINT64_MAX);
    cursor.expect(')');
  };
  if (cursor.accept('[')) {
    while (!cursor.accept(']')) {
      if (!list.values.empty()) cursor.expect(',');
      list.values.push_back(read());
    }
  } else if (cursor.accept_word("fill")) {
    list.kind = Kind::kFill;
    cursor.expect('(');
    list.values.push_back(read());
    count();
  } else if (kRamps && cursor.accept_word("ramp")) {
    list.kind = Kind::kRamp;
    cursor.expect('(');
    list.values.push_back(read());
    cursor.expect(',');
    list.values.push_back(read());
    count();
  } else if (cursor.accept_word("omitted")) {
    list.kind = Kind::kOmitted;
    cursor.expect('(');
    list.count = cursor.natural("a number of values", UINT64_MAX);
    cursor.expect(',');
    cursor.natural("a hash", UINT64_MAX);
    cursor.expect(')');
    if (!options.fill_omitted)
      cursor.fail_at(list.position,
                     fmt::format("the text leaves {} values out: it is read only with the option "
                                 "that fills them with zeros",
                                 *list.count));
  } else {
    cursor.fail_expected(
        kRamps ? "a list, as [1, 2], ramp(first, step), fill(value) or omitted(count, hash)"
               : "a list, as [1, 2], fill(value) or omitted(count, hash)");
  }
  return list;
}

}  // namespace

List<std::int64_t> parse_list(Cursor& cursor, std::int64_t min, std::int64_t max,
                              const ParseOptions& options) {
  return parse_any_list<std::int64_t>(cursor, options,
                                      [&] { return cursor.integer("a value", min, max); });
}

List<float> parse_float_list(Cursor& cursor, const ParseOptions& options) {
  return parse_any_list<float>(cursor, options, [&] { return cursor.single("a value"); });
}

}  // namespace nvdla::detail::text
