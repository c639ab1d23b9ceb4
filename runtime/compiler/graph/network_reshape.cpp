// SPDX-License-Identifier: MIT
//
// Adding normalisations and layers that only move elements to a network.
#include <utility>

#include "compiler/graph/add_layer.hpp"
#include "compiler/graph/network_impl.hpp"
#include "compiler/graph/operators.hpp"
#include "layout/convert.hpp"
#include "layout/precision.hpp"

namespace nvdla {

using detail::check_range;
using detail::refuse_argument;

Tensor Network::normalization(Tensor input, const Normalization& n) {
  return detail::add_layer(impl(), n.name, [&] {
    const detail::TensorNode& in = impl().cube("input", input);
    const Shape shape = in.shape;
    const Precision precision = in.precision;
    detail::check_nan_to_zero(n.nan_to_zero, precision);
    if (n.lut == nullptr) refuse_argument("a normalisation needs a look-up table");
    detail::NormNode node;
    node.cdp.flags = (n.bypass_square_sum ? NVDLA_CDP_BYPASS_SQUARE_SUM : 0) |
                     (n.bypass_multiply ? NVDLA_CDP_BYPASS_MUL : 0) |
                     (n.nan_to_zero ? NVDLA_CDP_NAN_TO_ZERO : 0);
    if (!n.bypass_square_sum) {
      if (n.window < 3 || n.window > 9 || n.window % 2 == 0) {
        refuse_argument("window {} is none of 3, 5, 7, 9", n.window);
      }
      node.cdp.window = n.window;
    }
    detail::check_converter(n.input, precision);
    detail::check_converter(n.output, precision);
    if (precision != Precision::kFp16) {
      node.cdp.in_cvt = detail::convert(n.input);
      node.cdp.out_cvt = detail::convert(n.output);
    }
    node.lut = impl().add_lut(*n.lut, NVDLA_LUT_CDP);
    detail::LayerNode layer;
    layer.name = n.name;
    layer.input = impl().index("input", input);
    layer.part = node;
    return impl().commit(std::move(layer), shape, precision);
  });
}

Tensor Network::contract(Tensor input, const Contraction& c) {
  return detail::add_layer(impl(), c.name, [&] {
    const detail::TensorNode& in = impl().cube("input", input);
    check_range("stride_y", c.stride_y, 1U, 32U);
    check_range("stride_x", c.stride_x, 1U, 32U);
    Shape out = in.shape;
    const std::uint32_t blocks = c.stride_y * c.stride_x;
    if (out.channels % blocks != 0) {
      refuse_argument("{} channels are no multiple of the {} positions that one becomes ({}x{})",
                      out.channels, blocks, c.stride_y, c.stride_x);
    }
    out.channels /= blocks;
    out.height *= c.stride_y;
    out.width *= c.stride_x;
    check_range("output height", out.height, 1U, detail::kMaxSide);
    check_range("output width", out.width, 1U, detail::kMaxSide);
    const Precision precision = in.precision;
    detail::RubikNode node;
    node.rubik.mode = NVDLA_RUBIK_CONTRACT;
    node.rubik.stride_height = c.stride_y;
    node.rubik.stride_width = c.stride_x;
    detail::LayerNode layer;
    layer.name = c.name;
    layer.input = impl().index("input", input);
    layer.part = node;
    return impl().commit(std::move(layer), out, precision);
  });
}

Tensor Network::upsample(Tensor input, const Upsampling& u) {
  return detail::add_layer(impl(), u.name, [&] {
    const detail::TensorNode& in = impl().cube("input", input);
    check_range("scale_y", u.scale_y, 1U, 32U);
    check_range("scale_x", u.scale_x, 1U, 32U);
    Shape out = in.shape;
    out.height *= u.scale_y;
    out.width *= u.scale_x;
    check_range("output height", out.height, 1U, detail::kMaxSide);
    check_range("output width", out.width, 1U, detail::kMaxSide);
    const Precision precision = in.precision;
    detail::LayerNode layer;
    layer.name = u.name;
    layer.input = impl().index("input", input);
    layer.part = detail::UpsampleNode{u.scale_y, u.scale_x};
    return impl().commit(std::move(layer), out, precision);
  });
}

Tensor Network::split(Tensor input, std::string_view name) {
  return detail::add_layer(impl(), name, [&] {
    const detail::TensorNode in = impl().cube("input", input);
    detail::RubikNode node;
    node.rubik.mode = NVDLA_RUBIK_SPLIT;
    detail::LayerNode layer;
    layer.name = name;
    layer.input = impl().index("input", input);
    layer.part = node;
    return impl().commit(std::move(layer), in.shape, in.precision, true);
  });
}

Tensor Network::merge(Tensor planes, std::string_view name) {
  return detail::add_layer(impl(), name, [&] {
    const detail::TensorNode in = impl().tensor("input", planes);
    if (!in.planar) refuse_argument("input: the tensor is a feature cube, which needs no merging");
    detail::RubikNode node;
    node.rubik.mode = NVDLA_RUBIK_MERGE;
    detail::LayerNode layer;
    layer.name = name;
    layer.input = impl().index("input", planes);
    layer.part = node;
    return impl().commit(std::move(layer), in.shape, in.precision);
  });
}

Tensor Network::copy(Tensor input, std::string_view name) {
  return detail::add_layer(impl(), name, [&] {
    const detail::TensorNode in = impl().tensor("input", input);
    detail::LayerNode layer;
    layer.name = name;
    layer.input = impl().index("input", input);
    layer.part = detail::CopyNode{};
    return impl().commit(std::move(layer), in.shape, in.precision, in.planar);
  });
}

}  // namespace nvdla
