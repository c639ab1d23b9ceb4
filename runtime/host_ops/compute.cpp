// SPDX-License-Identifier: MIT
#include "host_ops/compute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

namespace nvdla::cpu {
namespace {

// Reads all channels of a position before one is written, as numbers of type `Real`.
template <typename Real, typename Change>
void for_each_column(const Source& from, const Target& to, const Change& change) {
  std::vector<double> reals(from.shape().channels);
  std::vector<Real> column(reals.size());
  for_each_position(from.shape(), [&](std::uint32_t n, std::uint32_t y, std::uint32_t x) {
    from.get({n, 0, y, x}, reals);
    std::transform(reals.begin(), reals.end(), column.begin(),
                   [](double real) { return static_cast<Real>(real); });
    change(column);
    std::copy(column.begin(), column.end(), reals.begin());
    to.put({n, 0, y, x}, reals);
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

// Computes the softmax of int8 elements with a table. Only 256 differences to the greatest element
// exist, and doubles represent them exactly, so the table has the same powers that softmax_of()
// computes.
void softmax_of_bytes(const Source& from, const Target& to) {
  std::array<double, 256> powers{};
  for (std::size_t below = 0; below < powers.size(); ++below)
    powers[below] =
        std::exp(-static_cast<double>(below) * double{from.elements().quantization.scale});
  std::vector<double> column(from.shape().channels);
  for_each_position(from.shape(), [&](std::uint32_t n, std::uint32_t y, std::uint32_t x) {
    from.get_raw({n, 0, y, x}, column);
    const double greatest = *std::max_element(column.begin(), column.end());
    double sum = 0;
    for (double& value : column) {
      value = powers[static_cast<std::size_t>(greatest - value)];
      sum += value;
    }
    for (double& value : column) value /= sum;
    to.put({n, 0, y, x}, column);
  });
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
  } else if (from.elements().precision == Precision::kInt8) {
    softmax_of_bytes(from, to);
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
  std::vector<double> column(from.shape().channels);
  for_each_position(from.shape(), [&](std::uint32_t n, std::uint32_t y, std::uint32_t x) {
    from.get_raw({n, 0, y, x}, column);
    std::size_t best = 0;
    for (std::size_t c = 1; c < column.size(); ++c) {
      const bool first_number = std::isnan(column[best]) && !std::isnan(column[c]);
      if (column[c] > column[best] || first_number) best = c;
    }
    const auto number = static_cast<double>(best);
    to.put_steps({n, 0, y, x}, {&number, 1});
  });
}

namespace {

// Calls visit(column, position) with all channels of each position of a cube.
template <typename Visit>
void for_each_of_cube(const Source& from, std::uint32_t n, const Visit& visit) {
  std::vector<double> column(from.shape().channels);
  for (std::uint32_t y = 0; y < from.shape().height; ++y)
    for (std::uint32_t x = 0; x < from.shape().width; ++x) {
      from.get({n, 0, y, x}, column);
      visit(column, Position{n, 0, y, x});
    }
}

}  // namespace

void normalise_positions(const Source& from, const Target& to, const Normal& numbers) {
  const Shape& shape = from.shape();
  const double count = static_cast<double>(shape.height) * shape.width;
  for (std::uint32_t n = 0; n < shape.batch; ++n) {
    std::vector<double> means(shape.channels), deviations(shape.channels);
    for_each_of_cube(from, n, [&](const std::vector<double>& column, const Position&) {
      for (std::size_t c = 0; c < column.size(); ++c) means[c] += column[c];
    });
    for (double& mean : means) mean /= count;
    for_each_of_cube(from, n, [&](const std::vector<double>& column, const Position&) {
      for (std::size_t c = 0; c < column.size(); ++c)
        deviations[c] += (column[c] - means[c]) * (column[c] - means[c]);
    });
    for (double& value : deviations) value = std::sqrt(value / count + numbers.epsilon);
    for_each_of_cube(from, n, [&](std::vector<double>& column, const Position& at) {
      for (std::size_t c = 0; c < column.size(); ++c) {
        const double gamma = numbers.gamma.empty() ? 1 : double{numbers.gamma[c]};
        const double beta = numbers.beta.empty() ? 0 : double{numbers.beta[c]};
        column[c] = (column[c] - means[c]) / deviations[c] * gamma + beta;
      }
      to.put(at, column);
    });
  }
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

namespace {

template <typename T>
void look_up_as(const Source& from, const Target& to, std::span<const std::byte> table) {
  for_each_position(from.shape(), [&](std::uint32_t n, std::uint32_t y, std::uint32_t x) {
    for_each_atom(from.layout(), {n, 0, y, x},
                  [&](std::uint32_t c, std::uint32_t count, std::uint64_t) {
                    const std::byte* const source = from.at({n, c, y, x});
                    std::byte* const target = to.at({n, c, y, x});
                    for (std::size_t i = 0; i < count * sizeof(T); i += sizeof(T)) {
                      T bits;
                      std::memcpy(&bits, source + i, sizeof bits);
                      std::memcpy(target + i, &table[bits * sizeof bits], sizeof bits);
                    }
                  });
  });
}

}  // namespace

void look_up(const Source& from, const Target& to, std::span<const std::byte> table) {
  to.layout().element_bytes == 1 ? look_up_as<std::uint8_t>(from, to, table)
                                 : look_up_as<std::uint16_t>(from, to, table);
}

}  // namespace nvdla::cpu
