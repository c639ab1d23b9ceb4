// SPDX-License-Identifier: MIT
//
// Adding slices, paddings and reshapes to a network.
#include <cmath>
#include <utility>
#include <vector>

#include "layout/precision.hpp"
#include "network/add_layer.hpp"
#include "network/axis.hpp"
#include "network/conv_parts.hpp"
#include "network/network_impl.hpp"
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

// As a depthwise convolution: an element is a kernel, which sees its channel, and its position
// only.
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
  return detail::commit_same_scale(net, input, conv);
}

Tensor flatten(Network::Impl& net, Tensor input, const Shape& to, std::string_view name) {
  const TensorNode& in = net.cube("input", input);
  if (to.height != 1 || to.width != 1) {
    refuse_argument(
        "from {}x{}x{} to {}x{}x{} (CHW): a reshape keeps the channels or makes one position",
        in.shape.channels, in.shape.height, in.shape.width, to.channels, to.height, to.width);
  }
  if (in.precision == Precision::kFp16) {
    refuse_argument(
        "elements of fp16 do not become channels: let a fully connected layer take the input as "
        "it is");
  }
  const Shape shape = in.shape;
  if (shape.height > detail::kMostPositions || shape.width > detail::kMostPositions) {
    refuse_argument("{}x{} positions become channels of one: at most {}x{}", shape.height,
                    shape.width, detail::kMostPositions, detail::kMostPositions);
  }
  return in.precision == Precision::kInt8 ? flatten<std::int8_t>(net, input, shape, name)
                                          : flatten<std::int16_t>(net, input, shape, name);
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

Tensor Network::reshape(Tensor input, const Reshape& r) {
  return detail::add_layer(impl(), r.name, [&] {
    const TensorNode& in = impl().cube("input", input);
    const Shape shape{r.channels, r.height, r.width, in.shape.batch};
    for (const auto axis : {Axis::kChannels, Axis::kHeight, Axis::kWidth}) {
      const detail::AxisOf of = detail::axis_of(axis);
      detail::check_range(of.name, shape.*of.size, 1U, detail::kMaxSide);
    }
    if (shape.elements() != in.shape.elements()) {
      refuse_argument("{}x{}x{} (CHW) are not as many elements as the {}x{}x{} of the input",
                      shape.channels, shape.height, shape.width, in.shape.channels, in.shape.height,
                      in.shape.width);
    }
    const Precision precision = in.precision;
    if (shape.channels != in.shape.channels) return flatten(impl(), input, shape, r.name);
    detail::LayerNode layer = layer_of(r.name, impl().index("input", input));
    layer.part = detail::ReshapeNode{};
    return impl().commit(std::move(layer), shape, precision);
  });
}

}  // namespace nvdla
