// SPDX-License-Identifier: MIT
//
// Adding slices and paddings to a network.
#include <cmath>
#include <utility>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/axis.hpp"
#include "compiler/operators/network_impl.hpp"
#include "nvdla/types/half.hpp"
#include "packing/precision.hpp"

namespace nvdla {
namespace {

using detail::TensorNode;
using detail::throw_invalid_argument;

std::int32_t element(double value, Precision precision) {
  if (precision == Precision::kFp16) {
    if (!std::isfinite(value)) throw_invalid_argument("value {} is not finite", value);
    return to_half(static_cast<float>(value));
  }
  const double low = precision == Precision::kInt8 ? -128 : -32768;
  if (value != std::round(value)) {
    throw_invalid_argument("value {} is no integer, the tensor is {}", value,
                           detail::precision_name(precision));
  }
  detail::check_range("value", value, low, -low - 1);
  return static_cast<std::int32_t>(value);
}

detail::LayerNode layer_of(std::string_view name, std::uint32_t input) {
  detail::LayerNode layer;
  layer.name = name;
  layer.input = input;
  return layer;
}

}  // namespace

Tensor detail::add_slice(Network::Impl& net, Tensor input, const Slice& s) {
  const TensorNode& in = net.cube("input", input);
  const AxisOf axis = axis_of(s.axis);
  Shape shape = in.shape;
  const std::uint32_t all = shape.*axis.size;
  if (s.size == 0 || s.start >= all || s.size > all - s.start) {
    throw_invalid_argument("{} {}..{} (size {}) are not within the {} that the input has",
                           axis.name, s.start, std::uint64_t{s.start} + s.size, s.size, all);
  }
  shape.*axis.size = s.size;
  const Precision precision = in.precision;
  LayerNode layer = layer_of(s.name, net.index("input", input));
  SliceNode node;
  node.corner.*axis.corner = s.start;
  layer.part = node;
  return net.commit(std::move(layer), shape, precision);
}

Tensor Network::slice(Tensor input, const Slice& s) {
  return detail::add_layer(impl(), s.name, [&] { return detail::add_slice(impl(), input, s); });
}

Tensor detail::add_padding(Network::Impl& net, Tensor input, const Padding& p) {
  const TensorNode& in = net.cube("input", input);
  for (const std::uint32_t side : {p.top, p.bottom, p.left, p.right})
    check_range("padding", side, 0U, kMaxSide);
  Shape shape = in.shape;
  shape.height += p.top + p.bottom;
  shape.width += p.left + p.right;
  check_range("height with padding", shape.height, 1U, kMaxSide);
  check_range("width with padding", shape.width, 1U, kMaxSide);
  const Precision precision = in.precision;
  LayerNode layer = layer_of(p.name, net.index("input", input));
  layer.part = PadNode{{0, p.top, p.left}, element(p.value, precision)};
  return net.commit(std::move(layer), shape, precision);
}

Tensor Network::pad(Tensor input, const Padding& p) {
  return detail::add_layer(impl(), p.name, [&] { return detail::add_padding(impl(), input, p); });
}

}  // namespace nvdla
