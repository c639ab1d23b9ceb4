// SPDX-License-Identifier: MIT
//
// Lists of constants as text: [1, 2, 3], or the generator that makes exactly these values, or how
// many they are and a hash of them.
//
//   fill(5)               the value 5, as often as the place needs
//   ramp(-3, 7)           -3, 4, 11, ...: wraps around as the type of the elements does
//   ramp(-3, 7, 100)      the same, 100 of them
//   omitted(432, 0x1234)  432 values that the text leaves out, with their hash
#ifndef NVDLA_COMPILER_TEXT_LIST_TEXT_HPP
#define NVDLA_COMPILER_TEXT_LIST_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compiler/text/cursor.hpp"

namespace nvdla::detail::text {

struct PrintOptions {
  bool all_values = false;  // long lists are printed in full
};

struct ParseOptions {
  bool fill_omitted = false;                         // with zeros; else they are errors
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // that generators and fills may make
};

// `Budget` limits what a short text may allocate.
class Budget {
 public:
  explicit Budget(std::uint64_t max_bytes) : max_bytes_(max_bytes), left_(max_bytes) {}
  // Throws at `position` if the text has made more than it may.
  void spend(std::uint64_t count, std::uint64_t element_bytes, const Cursor& cursor,
             std::size_t position);

 private:
  std::uint64_t max_bytes_, left_;
};

// `Elements` is a list of integers of any type.
struct Elements {
  std::size_t count = 0;
  std::uint32_t bytes = 4;  // of an element
  bool has_sign = true;
  std::function<std::int64_t(std::size_t)> at;
};

template <typename T>
Elements elements_of(std::span<const T> values) {
  return {values.size(), sizeof(T), std::is_signed_v<T>,
          [values](std::size_t i) { return static_cast<std::int64_t>(values[i]); }};
}

// `expected` is the length that the reader will expect, where it can know it.
std::string list_text(const Elements& elements, std::optional<std::uint64_t> expected,
                      const PrintOptions& options);
std::string list_text(std::span<const float> values, std::optional<std::uint64_t> expected,
                      const PrintOptions& options);
// Returns omitted(), whatever the values are; empty lists are "omitted(0, ...)", too.
std::string omitted_text(std::span<const std::byte> bytes);

// `List` is what a text says of a list: all values, or how to make them.
template <typename Number>
struct List {
  enum class Kind { kValues, kFill, kRamp, kOmitted };

  Kind kind = Kind::kValues;
  std::vector<Number> values;          // all of them; of a generator its arguments
  std::optional<std::uint64_t> count;  // none: as many as the place needs
  std::size_t position = 0;            // in the text
};

// Reads a list of integers in min..max. Throws for omitted() unless the options fill it.
List<std::int64_t> parse_list(Cursor& cursor, std::int64_t min, std::int64_t max,
                              const ParseOptions& options);
List<float> parse_float_list(Cursor& cursor, const ParseOptions& options);

// The limits of T, for parse_list().
template <typename T>
List<std::int64_t> parse_list_of(Cursor& cursor, const ParseOptions& options) {
  return parse_list(cursor, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), options);
}

// Makes the values; a generator without a count makes `expected` of them.
template <typename T, typename Number>
std::vector<T> make_values(const List<Number>& list, std::uint64_t expected, const Cursor& cursor,
                           Budget& budget) {
  using Kind = typename List<Number>::Kind;
  if (list.kind == Kind::kValues) {
    std::vector<T> values;
    values.reserve(list.values.size());
    for (const Number value : list.values) values.push_back(static_cast<T>(value));
    return values;
  }
  const std::uint64_t count = list.count.value_or(expected);
  budget.spend(count, sizeof(T), cursor, list.position);
  std::vector<T> values(static_cast<std::size_t>(count));
  if (list.kind == Kind::kFill) values.assign(values.size(), static_cast<T>(list.values[0]));
  if constexpr (std::is_integral_v<Number>) {
    if (list.kind == Kind::kRamp)
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<T>(static_cast<std::uint64_t>(list.values[0]) +
                                   i * static_cast<std::uint64_t>(list.values[1]));
  }
  return values;
}

}  // namespace nvdla::detail::text

#endif  // NVDLA_COMPILER_TEXT_LIST_TEXT_HPP
