// SPDX-License-Identifier: MIT
#include "common/layers/half_reference.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "common/integers.hpp"

namespace nvdla::test {
namespace {

bool is_zero(std::uint16_t value) { return (value & 0x7fff) == 0; }
unsigned exponent_of(std::uint16_t value) { return value >> 10 & 31; }

std::uint32_t mantissa_of(std::uint16_t value) {
  const unsigned e = exponent_of(value);
  if (e == 0) return static_cast<std::uint32_t>(value & 0x3ff) << 1;
  return static_cast<std::uint32_t>(0x400 + (value & 0x3ff)) << (e % 4);
}

// Rows of bits that are to be added.
struct Rows {
  std::array<std::uint32_t, 10> row{};
  std::size_t count = 0;

  Rows(std::initializer_list<std::uint32_t> rows) : count(rows.size()) {
    std::copy(rows.begin(), rows.end(), row.begin());
  }
};

// Replaces consecutive triples by their sum and carry words until two words are left.
Rows compress(Rows rows) {
  while (rows.count > 2) {
    std::size_t to = 0, i = 0;
    for (; i + 3 <= rows.count; i += 3) {
      const std::uint32_t a = rows.row[i], b = rows.row[i + 1], c = rows.row[i + 2];
      rows.row[to++] = a ^ b ^ c;
      rows.row[to++] = ((a & b) | (b & c) | (a & c)) << 1;
    }
    while (i < rows.count) rows.row[to++] = rows.row[i++];
    rows.count = to;
  }
  return rows;
}

std::int64_t product(std::uint16_t data, std::uint16_t weight, unsigned shift) {
  const std::uint32_t d = mantissa_of(data), w = mantissa_of(weight);
  const bool negative = ((data ^ weight) & 0x8000) != 0;
  std::uint32_t p[8], n[8];
  for (unsigned i = 0; i < 8; ++i) {
    const auto bit = [&](int index) { return index < 0 ? 0u : w >> index & 1u; };
    const int low = static_cast<int>(2 * i);
    unsigned code = bit(low + 1) << 2 | bit(low) << 1 | bit(low - 1);
    if (negative) code = 7 - code;
    static constexpr int kDigits[8] = {0, 1, 1, 2, -2, -1, -1, 0};
    const int digit = kDigits[code];
    if (digit >= 0) {
      p[i] = d * static_cast<std::uint32_t>(digit) + 0x10000;
      n[i] = 0;
    } else {
      p[i] = ~(d * static_cast<std::uint32_t>(-digit)) & 0xffff;
      n[i] = 1;
    }
  }
  const auto low =
      compress({p[0], p[1] << 2 | n[0], p[2] << 4 | n[1] << 2, p[3] << 6 | n[2] << 4, n[3] << 6});
  const auto high = compress({p[4] << 8, p[5] << 10 | n[4] << 8, p[6] << 12 | n[5] << 10,
                              p[7] << 14 | n[6] << 12, n[7] << 14});
  const auto words = compress({low.row[0], low.row[1], high.row[0], high.row[1]});
  const std::uint32_t constant = shift > 28 ? 0 : 0x55550000u >> shift;
  return static_cast<std::int32_t>((words.row[0] >> shift) + (words.row[1] >> shift) - constant);
}

// Halves until it fits `bits`, doubles until it needs all of them; returns how often it doubled.
int fill(Wide& value, unsigned bits) {
  const Wide limit = static_cast<Wide>(1) << (bits - 1);
  int doubled = 0;
  while (value < limit / 2 && value >= -(limit / 2)) {
    value *= 2;
    ++doubled;
  }
  return doubled;
}

}  // namespace

std::int64_t RefStep::sum() const {
  std::int64_t total = 0;
  for (const std::int64_t one : products) total += one;
  return total;
}

RefStep multiply_step(const std::vector<std::uint16_t>& data,
                      const std::vector<std::uint16_t>& weights) {
  RefStep step;
  for (const auto* operand : {&weights, &data})
    for (const std::uint16_t value : *operand)
      if (is_nan(value)) {
        step.is_nan = true;
        step.nan = value;
        return step;
      }
  unsigned most = 0;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (!is_zero(data[i]) && !is_zero(weights[i]))
      most = std::max(most, exponent_of(data[i]) / 4 + exponent_of(weights[i]) / 4);
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::int64_t value = 0;
    if (!is_zero(data[i]) && !is_zero(weights[i])) {
      const unsigned group = exponent_of(data[i]) / 4 + exponent_of(weights[i]) / 4;
      const unsigned shift = 4 * (most - group);
      if (shift < 32) value = product(data[i], weights[i], shift);
    }
    step.products.push_back(value);
  }
  step.exponent = static_cast<int>(4 * most);
  return step;
}

void RefAccumulator::add(const RefStep& step, std::int64_t mantissa) {
  if (is_nan_) return;
  if (step.is_nan) {
    is_nan_ = true;
    nan_ = step.nan;
    return;
  }
  if (mantissa == 0) return;
  Wide incoming = mantissa;
  const int left = fill(incoming, 38);
  incoming *= 4;
  const int exponent = step.exponent - left + 49;
  if (mantissa_ == 0) {
    mantissa_ = static_cast<std::int64_t>(incoming);
    exponent_ = exponent;
    return;
  }
  // 40 more bits below both operands.
  Wide a = static_cast<Wide>(mantissa_), b = incoming;
  int top = exponent_;
  int difference = exponent_ - exponent;
  if (difference < 0) {
    std::swap(a, b);
    top = exponent;
    difference = -difference;
  }
  for (int i = 0; i < 40; ++i) a *= 2;
  for (int i = 0; i < 40; ++i) b *= 2;
  if (difference > 40) b = 0;
  for (int i = 0; i < difference && b != 0; ++i) b /= 2;  // exact: b has 40 zeros at its end
  Wide sum = a + b;
  if (sum == 0) {
    mantissa_ = 0;
    exponent_ = 0;
    return;
  }
  unsigned below = 40;
  const Wide limit = static_cast<Wide>(1) << 79;
  if (sum >= limit || sum < -limit) {
    ++below;
    ++top;
  } else {
    top -= fill(sum, 80);
  }
  const Wide unit = static_cast<Wide>(1) << below;
  Wide kept = sum / unit;
  Wide rest = sum % unit;
  if (rest < 0) {
    rest += unit;
    --kept;
  }
  // Half away from zero: for a negative number the half lies below.
  if (rest > unit / 2 || (rest == unit / 2 && sum > 0)) ++kept;
  if (kept == static_cast<Wide>(1) << 39) {
    kept /= 2;
    ++top;
  } else {
    top -= fill(kept, 40);
  }
  mantissa_ = static_cast<std::int64_t>(kept);
  exponent_ = top;
}

std::uint32_t RefAccumulator::fp32() const {
  if (is_nan_) return (nan_ & 0x8000u) << 16 | 0x7f800000u | (nan_ & 0x3ffu);
  if (mantissa_ == 0) return 0;
  const bool negative = mantissa_ < 0;
  std::int64_t magnitude = negative ? -mantissa_ : mantissa_;
  int exponent = exponent_ + 64;
  if (magnitude == std::int64_t{1} << 39) {
    magnitude /= 2;
    ++exponent;
  }
  // 38 fraction bits to 23, half up.
  magnitude = (magnitude + (1 << 14)) / (1 << 15);
  if (magnitude == 1 << 24) {
    magnitude /= 2;
    ++exponent;
  }
  return (negative ? 0x80000000u : 0u) | static_cast<std::uint32_t>(exponent) << 23 |
         (static_cast<std::uint32_t>(magnitude) & 0x7fffffu);
}

}  // namespace nvdla::test
