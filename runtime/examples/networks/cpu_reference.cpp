// SPDX-License-Identifier: MIT
#include "cpu_reference.hpp"

#include <algorithm>
#include <cmath>

#include "rounding.hpp"

namespace networks {
namespace {

std::int8_t nearest(double steps) {
  return static_cast<std::int8_t>(std::clamp(std::round(steps), -128.0, 127.0));
}

// `of` gives what the elements of a position become.
Integers by_position(const Layer& layer, const Integers& input, double step, const auto& of) {
  Integers result;
  const std::vector<float> reals(input.begin(), input.end());
  for (std::size_t i = 0; i < reals.size(); i += layer.shape.channels)
    for (const double value : of(std::span(reals).subspan(i, layer.shape.channels)))
      result.push_back(nearest(value / step));
  return result;
}

}  // namespace

Integers sliced(const Graph& graph, const Layer& layer, const Slice& slice, const Integers& input) {
  const std::size_t all = graph.input_shape(layer).channels, own = layer.shape.channels;
  Integers result(layer.shape.elements());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = input[i / own * all + slice.first + i % own];
  return result;
}

std::vector<std::int64_t> sums_of_products(const Graph& graph, const Layer& layer,
                                           const Product& product, const Integers& a,
                                           const Integers& b) {
  return products_of_rows<std::int64_t>(graph, layer, product, std::span<const std::int8_t>(a),
                                        std::span<const std::int8_t>(b));
}

Integers converted_sums(std::span<const std::int64_t> sums, const nvdla::Converter& output) {
  Integers result;
  for (const std::int64_t sum : sums)
    result.push_back(static_cast<std::int8_t>(
        saturated(rounded(sum * output.scale, static_cast<int>(output.shift)), 8)));
  return result;
}

std::vector<double> softmax_of(std::span<const float> column, double step) {
  long double sum = 0;
  for (const float x : column) sum += std::exp(static_cast<long double>(x) * step);
  std::vector<double> result;
  for (const float x : column)
    result.push_back(static_cast<double>(std::exp(static_cast<long double>(x) * step) / sum));
  return result;
}

std::vector<double> normal_of(std::span<const float> column, double step, const Numbers& numbers) {
  const auto count = static_cast<long double>(column.size());
  long double sum = 0, squares = 0;
  for (const float x : column) {
    sum += x * step;
    squares += x * step * (x * step);
  }
  const long double mean = sum / count, variance = squares / count - mean * mean;
  const long double deviation = std::sqrt(variance + LayerNorm::kEpsilon);
  std::vector<double> result;
  for (std::size_t c = 0; c < column.size(); ++c)
    result.push_back(static_cast<double>((column[c] * step - mean) / deviation * numbers.gamma[c] +
                                         numbers.beta[c]));
  return result;
}

double smooth_of(double x) { return x * std::erfc(-x / Gelu::kUnit / std::sqrt(2.0)) / 2; }

Integers probabilities(const Layer& layer, double step, const Integers& input) {
  return by_position(layer, input, kProbability,
                     [&](auto column) { return softmax_of(column, step); });
}

Integers layer_normal(const Layer& layer, const Numbers& numbers, double step,
                      const Integers& input) {
  // The library gets the step as a float.
  const double told = static_cast<float>(step);
  return by_position(layer, input, 1,
                     [&](auto column) { return normal_of(column, told, numbers); });
}

Integers smooth(const Integers& input) {
  Integers result;
  for (const std::int8_t x : input) result.push_back(nearest(smooth_of(x)));
  return result;
}

}  // namespace networks
