// SPDX-License-Identifier: MIT
//
// Adding products with constant matrices to a network: convolutions of all positions, and of one.
#include <cstddef>
#include <vector>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/conv_parts.hpp"

namespace nvdla {
namespace {

using detail::TensorNode;
using detail::throw_invalid_argument;

// All but the kernels.
template <typename Layer>
Convolution convolution_of(const Layer& layer) {
  Convolution conv{.name = layer.name};
  conv.bias = layer.bias;
  conv.bias_reals = layer.bias_reals;
  conv.relu = layer.relu;
  conv.arithmetic = layer.arithmetic;
  conv.x1 = layer.x1;
  conv.x2 = layer.x2;
  conv.y = layer.y;
  conv.output = layer.output;
  conv.bounds = layer.bounds;
  conv.precision = layer.precision;
  return conv;
}

// Rows become columns.
template <typename T>
std::vector<T> transposed(std::span<const T> matrix, std::size_t rows, std::size_t columns) {
  std::vector<T> list(matrix.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) list[c * rows + r] = matrix[r * columns + c];
  return list;
}

}  // namespace

Tensor detail::add_fully_connected(Network::Impl& net, Tensor input, const FullyConnected& f) {
  const TensorNode& in = net.cube("input", input);
  const Shape shape = in.shape;
  if (shape.height > kMostPositions || shape.width > kMostPositions) {
    throw_invalid_argument(
        "an input of {}x{} positions: at most {}x{}, let a pooling make them fewer", shape.height,
        shape.width, kMostPositions, kMostPositions);
  }
  check_range("outputs", f.outputs, 1U, kMaxSide);
  const std::uint64_t each = std::uint64_t{shape.channels} * shape.height * shape.width;
  if (const std::size_t count = kernel_count(f.weights); count != f.outputs * each) {
    throw_invalid_argument("{} weights given, {} outputs of {}x{}x{} elements (CHW) take {}", count,
                           f.outputs, shape.channels, shape.height, shape.width, f.outputs * each);
  }
  Convolution conv = convolution_of(f);
  conv.kernels = f.outputs;
  conv.kernel_height = shape.height;
  conv.kernel_width = shape.width;
  conv.weights = f.weights;
  return add_convolution(net, input, conv);
}

Tensor detail::add_matrix_product(Network::Impl& net, Tensor input, const MatrixProduct& m) {
  const std::uint32_t rows = net.cube("input", input).shape.channels;
  check_range("columns", m.columns, 1U, kMaxSide);
  if (const std::size_t count = kernel_count(m.matrix); count != std::size_t{rows} * m.columns) {
    throw_invalid_argument(
        "{} elements given, a matrix of {} rows, as the input has channels, and {} "
        "columns has {}",
        count, rows, m.columns, std::size_t{rows} * m.columns);
  }
  Convolution conv = convolution_of(m);
  conv.kernels = m.columns;
  return std::visit(
      [&](const auto& matrix) {
        const auto kernels = transposed(matrix, rows, m.columns);
        conv.weights = std::span(kernels);
        return add_convolution(net, input, conv);
      },
      m.matrix);
}

Tensor Network::fully_connected(Tensor input, const FullyConnected& f) {
  return detail::add_layer(impl(), f.name,
                           [&] { return detail::add_fully_connected(impl(), input, f); });
}

Tensor Network::matrix_product(Tensor input, const MatrixProduct& m) {
  return detail::add_layer(impl(), m.name,
                           [&] { return detail::add_matrix_product(impl(), input, m); });
}

}  // namespace nvdla
