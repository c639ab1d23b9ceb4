// SPDX-License-Identifier: MIT
//
// Adding slices and paddings to a network.
#include <cmath>
#include <utility>

#include "compiler/graph/add_layer.hpp"
#include "compiler/graph/axis.hpp"
#include "compiler/graph/network_impl.hpp"
#include "layout/precision.hpp"
#include "nvdla/half.hpp"

namespace nvdla {
namespace {

using detail::refuse_argument;
using detail::TensorNode;

std::int32_t element(double value, Precision precision) {
  if (precision == Precision::kFp16) {
    if (!std::isfinite(value)) refuse_argument("value {} is not finite", value);
    return to_half(static_cast<float>(value));
  }
  const double low = precision == Precision::kInt8 ? -128 : -32768;
  if (value != std::round(value)) {
    refuse_argument("value {} is no integer, the tensor is {}", value,
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

Tensor Network::slice(Tensor input, const Slice& s) {
  return detail::add_layer(impl(), s.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    const detail::AxisOf axis = detail::axis_of(s.axis);
    Shape shape = in.shape;
    const std::uint32_t all = shape.*axis.size;
    if (s.size == 0 || s.start >= all || s.size > all - s.start) {
      refuse_argument("{} {}..{} (size {}) are not within the {} that the input has", axis.name,
                      s.start, std::uint64_t{s.start} + s.size, s.size, all);
    }
    shape.*axis.size = s.size;
    const Precision precision = in.precision;
    detail::LayerNode layer = layer_of(s.name, impl().index("input", input));
    detail::SliceNode node;
    node.corner.*axis.corner = s.start;
    layer.part = node;
    return impl().commit(std::move(layer), shape, precision);
  });
}

Tensor Network::pad(Tensor input, const Padding& p) {
  return detail::add_layer(impl(), p.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    for (const std::uint32_t side : {p.top, p.bottom, p.left, p.right})
      detail::check_range("padding", side, 0U, detail::kMaxSide);
    Shape shape = in.shape;
    shape.height += p.top + p.bottom;
    shape.width += p.left + p.right;
    detail::check_range("height with padding", shape.height, 1U, detail::kMaxSide);
    detail::check_range("width with padding", shape.width, 1U, detail::kMaxSide);
    const Precision precision = in.precision;
    detail::LayerNode layer = layer_of(p.name, impl().index("input", input));
    layer.part = detail::PadNode{{0, p.top, p.left}, element(p.value, precision)};
    return impl().commit(std::move(layer), shape, precision);
  });
}

}  // namespace nvdla
