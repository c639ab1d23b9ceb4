// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host_ops/compute.hpp"

namespace nvdla::cpu {
namespace {

// All rows of a cube, one behind the other, without zero points.
template <typename T>
std::vector<T> rows_of(const Source& from, std::uint32_t n) {
  const Shape& s = from.shape();
  const auto zero_point = static_cast<T>(from.elements().quantization.zero_point);
  std::vector<T> rows(std::size_t{s.channels} * s.height * s.width);
  std::vector<double> column(s.channels);
  auto next = rows.begin();
  for (std::uint32_t y = 0; y < s.height; ++y) {
    for (std::uint32_t x = 0; x < s.width; ++x) {
      from.get_raw({n, 0, y, x}, column);
      for (const double value : column)
        *next++ = static_cast<T>(static_cast<T>(value) - zero_point);
    }
  }
  return rows;
}

template <typename T>
std::vector<T> transposed_rows(const std::vector<T>& rows, std::size_t columns) {
  std::vector<T> result(rows.size());
  const std::size_t count = rows.size() / columns;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < columns; ++j) result[j * count + i] = rows[i * columns + j];
  return result;
}

// A row with kBlock others, which lie one behind the other: each of its elements is read once for
// all of them.
template <std::size_t kBlock, typename Sum, typename T>
std::array<Sum, kBlock> sums_of(const T* row, const T* others, std::size_t length) {
  std::array<Sum, kBlock> sums{};
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t k = 0; k < kBlock; ++k)
      sums[k] += static_cast<Sum>(row[i]) * others[k * length + i];
  return sums;
}

template <typename T, typename Sum>
void multiply_as(const Source& a, const Source& b, const Target& to, bool transposed,
                 double factor) {
  constexpr std::size_t kBlock = 4;
  const Shape& out = to.shape();
  const std::size_t length = a.shape().channels;
  std::vector<double> column(out.channels);
  for (std::uint32_t n = 0; n < out.batch; ++n) {
    const std::vector<T> left = rows_of<T>(a, n);
    std::vector<T> right = rows_of<T>(b, n);
    if (!transposed) right = transposed_rows(right, b.shape().channels);
    const T* row = left.data();
    for (std::uint32_t y = 0; y < out.height; ++y) {
      for (std::uint32_t x = 0; x < out.width; ++x, row += length) {
        std::size_t c = 0;
        const auto add = [&](const auto& sums) {
          for (const Sum sum : sums) column[c++] = static_cast<double>(sum) * factor;
        };
        while (c + kBlock <= column.size())
          add(sums_of<kBlock, Sum>(row, &right[c * length], length));
        while (c < column.size()) add(sums_of<1, Sum>(row, &right[c * length], length));
        to.put_steps({n, 0, y, x}, column);
      }
    }
  }
}

}  // namespace

void multiply(const Source& a, const Source& b, const Target& to, bool transposed, double factor) {
  switch (a.elements().precision) {
    case Precision::kInt8:
      // 9 bits, and 8,192 products of two at most.
      return multiply_as<std::int16_t, std::int32_t>(a, b, to, transposed, factor);
    case Precision::kInt16:
      return multiply_as<std::int32_t, std::int64_t>(a, b, to, transposed, factor);
    case Precision::kFp16:
      return multiply_as<double, double>(a, b, to, transposed, factor);
  }
}

}  // namespace nvdla::cpu
