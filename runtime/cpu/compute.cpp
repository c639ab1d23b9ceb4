// SPDX-License-Identifier: MIT
#include "cpu/compute.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace nvdla::cpu {
namespace {

// Reads all channels of a position before one is written, as numbers of type `Real`.
template <typename Real, typename Change>
void for_each_column(const Source& from, const Target& to, const Change& change) {
  std::vector<Real> column(from.shape().channels);
  for_each_position(from.shape(), [&](std::uint32_t n, std::uint32_t y, std::uint32_t x) {
    for (std::uint32_t c = 0; c < column.size(); ++c)
      column[c] = static_cast<Real>(from.get({n, c, y, x}));
    change(column);
    for (std::uint32_t c = 0; c < column.size(); ++c) to.put({n, c, y, x}, column[c]);
  });
}

bool in_singles(const Source& from) {
  return from.elements().rounding == Elements::Rounding::kLoadable;
}

template <typename Real>
void softmax_of(std::vector<Real>& column) {
  const Real greatest = *std::max_element(column.begin(), column.end());
  double sum = 0;
  for (Real& value : column) {
    value = std::exp(value - greatest);
    sum += value;
  }
  for (Real& value : column) value = static_cast<Real>(value / sum);
}

template <typename Real>
void power_of(std::vector<Real>& column, const PowerOf& numbers) {
  const Real power = numbers.power, scale = numbers.scale, shift = numbers.shift;
  for (Real& value : column) {
    const Real base = shift + scale * value;
    value = power == 1 ? base : std::pow(base, power);
  }
}

}  // namespace

void softmax(const Source& from, const Target& to) {
  if (in_singles(from)) {
    for_each_column<float>(from, to, softmax_of<float>);
  } else {
    for_each_column<double>(from, to, softmax_of<double>);
  }
}

void power(const Source& from, const Target& to, const PowerOf& numbers) {
  if (in_singles(from)) {
    for_each_column<float>(from, to, [&](auto& column) { power_of(column, numbers); });
  } else {
    for_each_column<double>(from, to, [&](auto& column) { power_of(column, numbers); });
  }
}

void argmax(const Source& from, const Target& to) {
  for_each_position(from.shape(), [&](std::uint32_t n, std::uint32_t y, std::uint32_t x) {
    std::uint32_t best = 0;
    double greatest = from.raw({n, 0, y, x});
    for (std::uint32_t c = 1; c < from.shape().channels; ++c) {
      const double value = from.raw({n, c, y, x});
      if (!(value > greatest) && !(std::isnan(greatest) && !std::isnan(value))) continue;
      best = c;
      greatest = value;
    }
    to.put_steps({n, 0, y, x}, best);
  });
}

void normalise(const Source& from, const Target& to, const Normal& numbers) {
  for_each_column<double>(from, to, [&](std::vector<double>& column) {
    const auto count = static_cast<double>(column.size());
    double mean = 0, variance = 0;
    for (const double value : column) mean += value;
    mean /= count;
    for (const double value : column) variance += (value - mean) * (value - mean);
    const double deviation = std::sqrt(variance / count + numbers.epsilon);
    for (std::size_t c = 0; c < column.size(); ++c) {
      const double gamma = numbers.gamma.empty() ? 1 : double{numbers.gamma[c]};
      const double beta = numbers.beta.empty() ? 0 : double{numbers.beta[c]};
      column[c] = (column[c] - mean) / deviation * gamma + beta;
    }
  });
}

void look_up(const Source& from, const Target& to, std::span<const double> table) {
  for_each_position(from.shape(), [&](std::uint32_t n, std::uint32_t y, std::uint32_t x) {
    for (std::uint32_t c = 0; c < from.shape().channels; ++c)
      to.put({n, c, y, x}, table[from.index({n, c, y, x})]);
  });
}

namespace {

// All rows of a cube, one behind the other, without zero points.
template <typename T>
std::vector<T> rows_of(const Source& from, std::uint32_t n) {
  const Shape& s = from.shape();
  const auto zero_point = static_cast<double>(from.elements().quantization.zero_point);
  std::vector<T> rows(std::size_t{s.channels} * s.height * s.width);
  std::size_t i = 0;
  for (std::uint32_t y = 0; y < s.height; ++y)
    for (std::uint32_t x = 0; x < s.width; ++x)
      for (std::uint32_t c = 0; c < s.channels; ++c)
        rows[i++] = static_cast<T>(from.raw({n, c, y, x}) - zero_point);
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

template <typename T, typename Sum>
void multiply_as(const Source& a, const Source& b, const Target& to, bool transposed,
                 double factor) {
  const Shape& out = to.shape();
  const std::size_t length = a.shape().channels;
  for (std::uint32_t n = 0; n < out.batch; ++n) {
    const std::vector<T> left = rows_of<T>(a, n);
    std::vector<T> right = rows_of<T>(b, n);
    if (!transposed) right = transposed_rows(right, b.shape().channels);
    const T* row = left.data();
    for (std::uint32_t y = 0; y < out.height; ++y) {
      for (std::uint32_t x = 0; x < out.width; ++x, row += length) {
        for (std::uint32_t c = 0; c < out.channels; ++c) {
          const T* other = right.data() + c * length;
          Sum sum = 0;
          for (std::size_t i = 0; i < length; ++i) sum += static_cast<Sum>(row[i]) * other[i];
          to.put_steps({n, c, y, x}, static_cast<double>(sum) * factor);
        }
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
