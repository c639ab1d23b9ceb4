// SPDX-License-Identifier: MIT
//
// Adding products of tensors and greatest channels, which the CPU computes, to a network.
#include <array>
#include <cmath>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/cpu_layer.hpp"
#include "packing/precision.hpp"

namespace nvdla {

using detail::check_range;
using detail::check_stands_for;
using detail::commit_cpu;
using detail::quantization_of;
using detail::TensorNode;
using detail::throw_invalid_argument;

Tensor detail::add_tensor_product(Network::Impl& net, Tensor a, Tensor b,
                                  const TensorProduct& layer) {
  const TensorNode &first = net.cube("a", a), &second = net.cube("b", b);
  if (first.precision != second.precision)
    throw_invalid_argument("a is {}, b is {}", precision_name(first.precision),
                           precision_name(second.precision));
  if (first.shape.batch != second.shape.batch)
    throw_invalid_argument("a has {} cubes, b has {}", first.shape.batch, second.shape.batch);
  const std::uint32_t positions = second.shape.height * second.shape.width;
  const std::uint32_t channels = second.shape.channels;
  const std::uint32_t length = layer.transposed ? channels : positions;
  if (first.shape.channels != length)
    throw_invalid_argument("a has {} channels, which are multiplied with the {} {} of b",
                           first.shape.channels, length,
                           layer.transposed ? "channels" : "positions");
  Shape out = first.shape;
  out.channels = layer.transposed ? positions : channels;
  check_range("output channels", out.channels, 1U, kMaxSide);
  const Quantization qa = quantization_of("a", first, layer.a);
  const Quantization qb = quantization_of("b", second, layer.b);
  check_stands_for("output", first.precision, layer.output);
  if (!std::isfinite(layer.factor)) throw_invalid_argument("factor {} is not finite", layer.factor);
  const double factor =
      layer.factor * double{qa.scale} * double{qb.scale} / double{layer.output.scale};
  const cpu::ProductOperation operation = {qa.zero_point, qb.zero_point, layer.output.zero_point,
                                           layer.transposed, factor};
  const std::array inputs = {a, b};
  return commit_cpu(net, layer.name, inputs, {{operation}}, {out, first.precision, layer.output});
}

Tensor Network::product(Tensor a, Tensor b, const TensorProduct& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_tensor_product(impl(), a, b, layer); });
}

Tensor detail::add_argmax(Network::Impl& net, Tensor input, const Argmax& layer) {
  const TensorNode& in = net.cube("input", input);
  if (layer.precision != Precision::kInt8 && layer.precision != Precision::kInt16)
    throw_invalid_argument("precision {}: channels are numbered in int8 (0) or int16 (1)",
                           static_cast<std::uint32_t>(layer.precision));
  if (layer.precision == Precision::kInt8 && in.shape.channels > 128)
    throw_invalid_argument("int8 has numbers for 128 channels, the input has {}",
                           in.shape.channels);
  Shape out = in.shape;
  out.channels = 1;
  return commit_cpu(net, layer.name, {&input, 1}, {{cpu::ArgmaxOperation{}}},
                    {out, layer.precision, Quantization{}});
}

Tensor Network::argmax(Tensor input, const Argmax& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_argmax(impl(), input, layer); });
}

}  // namespace nvdla
