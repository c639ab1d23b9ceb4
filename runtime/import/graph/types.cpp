// SPDX-License-Identifier: MIT
//
// Elements of constants by their types.
#include "import/graph/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "import/graph/refusal.hpp"
#include "nvdla/types/half.hpp"

namespace nvdla::import {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  std::size_t bytes;
};

constexpr TypeRow kTypes[] = {
    {Type::kFloat, "float", 4},     {Type::kUint8, "uint8", 1},       {Type::kInt8, "int8", 1},
    {Type::kUint16, "uint16", 2},   {Type::kInt16, "int16", 2},       {Type::kInt32, "int32", 4},
    {Type::kInt64, "int64", 8},     {Type::kString, "string", 0},     {Type::kBool, "bool", 1},
    {Type::kFloat16, "float16", 2}, {Type::kDouble, "double", 8},     {Type::kUint32, "uint32", 4},
    {Type::kUint64, "uint64", 8},   {Type::kBfloat16, "bfloat16", 2},
};

template <typename T>
T load(std::span<const std::byte> bytes, std::int64_t index) noexcept {
  T value{};
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store(std::vector<std::byte>& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

std::int64_t to_integer(double value) noexcept {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

// Keeps the upper half of a float, rounded to the nearest, halves to even.
std::uint16_t to_bfloat16(float value) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

float from_bfloat16(std::uint16_t bits) noexcept {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

}  // namespace

std::string_view type_name(Type type) noexcept {
  for (const TypeRow& row : kTypes)
    if (row.type == type) return row.name;
  return "unknown";
}

std::size_t type_bytes(Type type) noexcept {
  for (const TypeRow& row : kTypes)
    if (row.type == type) return row.bytes;
  return 0;
}

bool is_real(Type type) noexcept {
  return type == Type::kFloat || type == Type::kDouble || type == Type::kFloat16 ||
         type == Type::kBfloat16;
}

bool is_integer(Type type) noexcept { return type_bytes(type) != 0 && !is_real(type); }

std::int64_t elements(const Dims& dims) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t size : dims) count *= size;
  return count;
}

std::string dims_text(const Dims& dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x"));
}

Dims strides(const Dims& dims) {
  Dims result(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) result[i - 1] = result[i] * dims[i];
  return result;
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      refuse_node("sizes {} and {} cannot be broadcast to each other", dims_text(a), dims_text(b));
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  if (elements(out) > kMaxElements) refuse_node("a tensor of {} is too large", dims_text(out));
  return out;
}

Constant::Constant(Type type, Dims dims, std::vector<std::byte> bytes)
    : type_(type),
      dims_(std::move(dims)),
      bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}

Constant Constant::of_doubles(Type type, Dims dims, std::span<const double> values) {
  std::vector<std::byte> bytes(values.size() * type_bytes(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    switch (type) {
      case Type::kFloat:
        store(bytes, i, static_cast<float>(v));
        break;
      case Type::kDouble:
        store(bytes, i, v);
        break;
      case Type::kFloat16:
        store(bytes, i,
              std::fabs(v) >= 65520 ? static_cast<std::uint16_t>(v < 0 ? 0xfc00 : 0x7c00)
                                    : to_half(v));
        break;
      case Type::kBfloat16:
        store(bytes, i, to_bfloat16(static_cast<float>(v)));
        break;
      case Type::kBool:
        store(bytes, i, static_cast<std::uint8_t>(v != 0));
        break;
      default: {
        const std::int64_t integer = to_integer(v);
        return of_integers(type, std::move(dims), [&] {
          std::vector<std::int64_t> all(values.size(), integer);
          for (std::size_t j = 0; j < values.size(); ++j) all[j] = to_integer(values[j]);
          return all;
        }());
      }
    }
  }
  return {type, std::move(dims), std::move(bytes)};
}

Constant Constant::of_integers(Type type, Dims dims, std::span<const std::int64_t> values) {
  if (is_real(type)) {
    const std::vector<double> doubles(values.begin(), values.end());
    return of_doubles(type, std::move(dims), doubles);
  }
  const std::size_t size = type_bytes(type);
  std::vector<std::byte> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t v = type == Type::kBool ? values[i] != 0 : values[i];
    // Integers are cut to their bits, as a cast of C does.
    for (std::size_t b = 0; b < size; ++b)
      bytes[i * size + b] = static_cast<std::byte>(static_cast<std::uint64_t>(v) >> (8 * b));
  }
  return {type, std::move(dims), std::move(bytes)};
}

double Constant::real(std::int64_t index) const noexcept {
  switch (type_) {
    case Type::kFloat:
      return static_cast<double>(load<float>(bytes(), index));
    case Type::kDouble:
      return load<double>(bytes(), index);
    case Type::kFloat16:
      return static_cast<double>(from_half(load<std::uint16_t>(bytes(), index)));
    case Type::kBfloat16:
      return static_cast<double>(from_bfloat16(load<std::uint16_t>(bytes(), index)));
    case Type::kUint64:
      return static_cast<double>(load<std::uint64_t>(bytes(), index));
    default:
      return static_cast<double>(integer(index));
  }
}

std::int64_t Constant::integer(std::int64_t index) const noexcept {
  switch (type_) {
    case Type::kBool:
    case Type::kUint8:
      return load<std::uint8_t>(bytes(), index);
    case Type::kInt8:
      return load<std::int8_t>(bytes(), index);
    case Type::kUint16:
      return load<std::uint16_t>(bytes(), index);
    case Type::kInt16:
      return load<std::int16_t>(bytes(), index);
    case Type::kInt32:
      return load<std::int32_t>(bytes(), index);
    case Type::kUint32:
      return load<std::uint32_t>(bytes(), index);
    case Type::kInt64:
    case Type::kUint64:
      return load<std::int64_t>(bytes(), index);
    case Type::kFloat:
    case Type::kDouble:
    case Type::kFloat16:
    case Type::kBfloat16:
      return to_integer(real(index));
    default:
      return 0;
  }
}

std::vector<double> Constant::doubles() const {
  std::vector<double> out(static_cast<std::size_t>(size()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = real(static_cast<std::int64_t>(i));
  return out;
}

std::vector<float> Constant::floats() const {
  std::vector<float> out(static_cast<std::size_t>(size()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(real(static_cast<std::int64_t>(i)));
  return out;
}

std::vector<std::int64_t> Constant::integers() const {
  std::vector<std::int64_t> out(static_cast<std::size_t>(size()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = integer(static_cast<std::int64_t>(i));
  return out;
}

Constant Constant::with_dims(Dims dims) const {
  Constant copy = *this;
  copy.dims_ = std::move(dims);
  return copy;
}

Constant Constant::gather(Dims dims, std::span<const std::int64_t> indices) const {
  const std::size_t size = type_bytes(type_);
  std::vector<std::byte> out(indices.size() * size);
  // Elements that the importer does not keep, such as strings, have no bytes.
  for (std::size_t i = 0; size != 0 && i < indices.size(); ++i)
    std::memcpy(out.data() + i * size, bytes().data() + static_cast<std::size_t>(indices[i]) * size,
                size);
  return {type_, std::move(dims), std::move(out)};
}

}  // namespace nvdla::import
