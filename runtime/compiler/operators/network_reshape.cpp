// SPDX-License-Identifier: MIT
//
// Adding normalisations and layers that only move elements to a network.
#include <utility>

#include "compiler/graph/operators.hpp"
#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/network_impl.hpp"
#include "packing/convert.hpp"
#include "packing/precision.hpp"
#include "packing/quantized.hpp"

namespace nvdla {

using detail::check_range;
using detail::throw_invalid_argument;

Tensor detail::add_normalization(Network::Impl& net, Tensor input, const Normalization& n) {
  const TensorNode& in = net.cube("input", input);
  const Shape shape = in.shape;
  const Precision precision = in.precision;
  check_nan_to_zero(n.nan_to_zero, precision);
  if (n.lut == nullptr) throw_invalid_argument("a normalisation needs a look-up table");
  NormNode node;
  node.cdp.flags = (n.bypass_square_sum ? NVDLA_CDP_BYPASS_SQUARE_SUM : 0) |
                   (n.bypass_multiply ? NVDLA_CDP_BYPASS_MUL : 0) |
                   (n.nan_to_zero ? NVDLA_CDP_NAN_TO_ZERO : 0);
  if (!n.bypass_square_sum) {
    if (n.window < 3 || n.window > 9 || n.window % 2 == 0) {
      throw_invalid_argument("window {} is none of 3, 5, 7, 9", n.window);
    }
    node.cdp.window = n.window;
  }
  check_converter(n.input, precision);
  check_converter(n.output, precision);
  if (precision != Precision::kFp16) {
    node.cdp.in_cvt = convert(n.input);
    node.cdp.out_cvt = convert(n.output);
  }
  if (n.quantization) detail::check_quantization("quantization", *n.quantization, precision);
  node.lut = net.add_lut(*n.lut, NVDLA_LUT_CDP);
  LayerNode layer;
  layer.name = n.name;
  layer.input = net.index("input", input);
  layer.part = node;
  const Tensor output = net.commit(std::move(layer), shape, precision);
  if (n.quantization && precision != Precision::kFp16)
    net.tensors[net.index("output", output)].quantization = n.quantization;
  return output;
}

Tensor Network::normalization(Tensor input, const Normalization& n) {
  return detail::add_layer(impl(), n.name,
                           [&] { return detail::add_normalization(impl(), input, n); });
}

Tensor detail::add_contraction(Network::Impl& net, Tensor input, const Contraction& c) {
  const TensorNode& in = net.cube("input", input);
  check_range("stride_height", c.stride_height, 1U, 32U);
  check_range("stride_width", c.stride_width, 1U, 32U);
  Shape out = in.shape;
  const std::uint32_t blocks = c.stride_height * c.stride_width;
  if (out.channels % blocks != 0) {
    throw_invalid_argument(
        "{} channels are no multiple of the {} positions that one becomes ({}x{})", out.channels,
        blocks, c.stride_height, c.stride_width);
  }
  out.channels /= blocks;
  out.height *= c.stride_height;
  out.width *= c.stride_width;
  check_range("output height", out.height, 1U, kMaxSide);
  check_range("output width", out.width, 1U, kMaxSide);
  const Precision precision = in.precision;
  RubikNode node;
  node.rubik.mode = NVDLA_RUBIK_CONTRACT;
  node.rubik.stride_height = c.stride_height;
  node.rubik.stride_width = c.stride_width;
  LayerNode layer;
  layer.name = c.name;
  layer.input = net.index("input", input);
  layer.part = node;
  return net.commit(std::move(layer), out, precision);
}

Tensor Network::contract(Tensor input, const Contraction& c) {
  return detail::add_layer(impl(), c.name,
                           [&] { return detail::add_contraction(impl(), input, c); });
}

Tensor detail::add_upsampling(Network::Impl& net, Tensor input, const Upsampling& u) {
  const TensorNode& in = net.cube("input", input);
  check_range("scale_height", u.scale_height, 1U, 32U);
  check_range("scale_width", u.scale_width, 1U, 32U);
  Shape out = in.shape;
  out.height *= u.scale_height;
  out.width *= u.scale_width;
  check_range("output height", out.height, 1U, kMaxSide);
  check_range("output width", out.width, 1U, kMaxSide);
  const Precision precision = in.precision;
  LayerNode layer;
  layer.name = u.name;
  layer.input = net.index("input", input);
  layer.part = UpsampleNode{u.scale_height, u.scale_width};
  return net.commit(std::move(layer), out, precision);
}

Tensor Network::upsample(Tensor input, const Upsampling& u) {
  return detail::add_layer(impl(), u.name,
                           [&] { return detail::add_upsampling(impl(), input, u); });
}

Tensor detail::add_split(Network::Impl& net, Tensor input, std::string_view name) {
  const TensorNode in = net.cube("input", input);
  RubikNode node;
  node.rubik.mode = NVDLA_RUBIK_SPLIT;
  LayerNode layer;
  layer.name = name;
  layer.input = net.index("input", input);
  layer.part = node;
  return net.commit(std::move(layer), in.shape, in.precision, true);
}

Tensor Network::split(Tensor input, std::string_view name) {
  return detail::add_layer(impl(), name, [&] { return detail::add_split(impl(), input, name); });
}

Tensor detail::add_merge(Network::Impl& net, Tensor planes, std::string_view name) {
  const TensorNode in = net.tensor("input", planes);
  if (!in.planar)
    throw_invalid_argument("input: the tensor is a feature cube, which needs no merging");
  RubikNode node;
  node.rubik.mode = NVDLA_RUBIK_MERGE;
  LayerNode layer;
  layer.name = name;
  layer.input = net.index("input", planes);
  layer.part = node;
  return net.commit(std::move(layer), in.shape, in.precision);
}

Tensor Network::merge(Tensor planes, std::string_view name) {
  return detail::add_layer(impl(), name, [&] { return detail::add_merge(impl(), planes, name); });
}

Tensor detail::add_copy(Network::Impl& net, Tensor input, std::string_view name) {
  const TensorNode in = net.tensor("input", input);
  LayerNode layer;
  layer.name = name;
  layer.input = net.index("input", input);
  layer.part = CopyNode{};
  return net.commit(std::move(layer), in.shape, in.precision, in.planar);
}

Tensor Network::copy(Tensor input, std::string_view name) {
  return detail::add_layer(impl(), name, [&] { return detail::add_copy(impl(), input, name); });
}

}  // namespace nvdla
