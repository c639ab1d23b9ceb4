// SPDX-License-Identifier: MIT
//
// Computes the layers that run on the CPU from their definitions, independently of the library.
#ifndef NVDLA_EXAMPLES_NETWORKS_CPU_REFERENCE_HPP
#define NVDLA_EXAMPLES_NETWORKS_CPU_REFERENCE_HPP

#include <cstdint>
#include <span>
#include <vector>

#include "graph.hpp"
#include "numbers.hpp"

namespace networks {

Integers sliced(const Graph& graph, const Layer& layer, const Slice& slice, const Integers& input);

// Returns sums of products of rows of `a` with rows or columns of `b`.
template <typename Sum, typename T>
std::vector<Sum> products_of_rows(const Graph& graph, const Layer& layer, const Product& product,
                                  std::span<const T> a, std::span<const T> b) {
  const std::size_t length = graph.shape(layer.inputs[0]).channels;
  const std::size_t width = graph.shape(layer.inputs[1]).channels;
  const std::size_t columns = layer.shape.channels;
  std::vector<Sum> sums(layer.shape.elements());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t row = i / columns, column = i % columns;
    for (std::size_t k = 0; k < length; ++k)
      sums[i] +=
          static_cast<Sum>(a[row * length + k]) *
          static_cast<Sum>(product.transposed ? b[column * width + k] : b[k * width + column]);
  }
  return sums;
}
std::vector<std::int64_t> sums_of_products(const Graph& graph, const Layer& layer,
                                           const Product& product, const Integers& a,
                                           const Integers& b);
Integers converted_sums(std::span<const std::int64_t> sums, const nvdla::Converter& output);

// `step` is the scale of the input's elements.
Integers probabilities(const Layer& layer, double step, const Integers& input);
Integers layer_normal(const Layer& layer, const Numbers& numbers, double step,
                      const Integers& input);
Integers smooth(const Integers& input);

// Compute the same for one position or one element, in floating point.
std::vector<double> softmax_of(std::span<const float> column, double step);
std::vector<double> normal_of(std::span<const float> column, double step, const Numbers& numbers);
double smooth_of(double x);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_CPU_REFERENCE_HPP
