// SPDX-License-Identifier: MIT
//
// Adding other shapes of the same elements to a network: reshapes and transpositions.
#include <array>
#include <utility>
#include <vector>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/axis.hpp"
#include "compiler/operators/conv_parts.hpp"
#include "compiler/operators/cpu_layer.hpp"
#include "packing/precision.hpp"

namespace nvdla {
namespace {

using detail::TensorNode;
using detail::throw_invalid_argument;

// Adds a depthwise convolution, in which each element has a kernel that sees its channel, and there
// only its position.
template <typename T>
Tensor flatten(Network::Impl& net, Tensor input, const Shape& in, std::string_view name) {
  const std::size_t positions = std::size_t{in.height} * in.width;
  std::vector<T> weights(in.channels * positions * positions);
  for (std::size_t k = 0; k < in.channels * positions; ++k)
    weights[k * positions + k % positions] = 1;
  Convolution conv{.name = name};
  conv.kernels = static_cast<std::uint32_t>(in.channels * positions);
  conv.groups = in.channels;
  conv.kernel_height = in.height;
  conv.kernel_width = in.width;
  conv.weights = std::span<const T>(weights);
  const Tensor output = detail::add_convolution(net, input, conv);
  net.tensors[net.index("output", output)].quantization = net.cube("input", input).quantization;
  return output;
}

// Returns true if a convolution makes channels of all positions. It keeps integers; of fp16 it
// would not keep the sign of zeros and NaN.
bool is_flattened(const TensorNode& in, const Shape& to) {
  return in.shape.channels != to.channels && to.height == 1 && to.width == 1 &&
         in.precision != Precision::kFp16 && in.shape.height <= detail::kMostPositions &&
         in.shape.width <= detail::kMostPositions;
}

}  // namespace

Tensor detail::add_reshape(Network::Impl& net, Tensor input, const Reshape& r) {
  const TensorNode& in = net.cube("input", input);
  const Shape shape{r.channels, r.height, r.width, in.shape.batch};
  for (const auto axis : {Axis::kChannels, Axis::kHeight, Axis::kWidth}) {
    const AxisOf of = axis_of(axis);
    check_range(of.name, shape.*of.size, 1U, kMaxSide);
  }
  if (shape.elements() != in.shape.elements()) {
    throw_invalid_argument("{}x{}x{} (CHW) are not as many elements as the {}x{}x{} of the input",
                           shape.channels, shape.height, shape.width, in.shape.channels,
                           in.shape.height, in.shape.width);
  }
  const Precision precision = in.precision;
  if (is_flattened(in, shape)) {
    const Shape from = in.shape;
    return precision == Precision::kInt8 ? flatten<std::int8_t>(net, input, from, r.name)
                                         : flatten<std::int16_t>(net, input, from, r.name);
  }
  LayerNode layer;
  layer.name = r.name;
  layer.input = net.index("input", input);
  layer.part = ReshapeNode{};
  return net.commit(std::move(layer), shape, precision);
}

Tensor Network::reshape(Tensor input, const Reshape& r) {
  return detail::add_layer(impl(), r.name, [&] { return detail::add_reshape(impl(), input, r); });
}

Tensor detail::add_transpose(Network::Impl& net, Tensor input, const Transpose& layer) {
  const TensorNode& in = net.cube("input", input);
  Shape out = in.shape;
  std::array<std::uint32_t, 3> order{};
  std::array<bool, 3> named{};
  constexpr std::array kAxes = {Axis::kChannels, Axis::kHeight, Axis::kWidth};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto from = axis_of(layer.order[i]);
    order[i] = static_cast<std::uint32_t>(layer.order[i]);
    if (std::exchange(named[order[i]], true))
      throw_invalid_argument("order names {} twice", from.name);
    out.*axis_of(kAxes[i]).size = in.shape.*from.size;
  }
  return commit_cpu(net, layer.name, {&input, 1}, {{cpu::TransposeOperation{order}}},
                    {out, in.precision, in.quantization});
}

Tensor Network::transpose(Tensor input, const Transpose& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_transpose(impl(), input, layer); });
}

}  // namespace nvdla
