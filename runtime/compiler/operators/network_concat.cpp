// SPDX-License-Identifier: MIT
//
// Adding concatenations to a network.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/axis.hpp"
#include "compiler/operators/network_impl.hpp"
#include "packing/precision.hpp"

namespace nvdla {
namespace {

using detail::axis_of;
using detail::AxisOf;
using detail::throw_invalid_argument;

void check_same(const Shape& part, const Shape& first, const AxisOf& axis) {
  for (const AxisOf& other : {axis_of(Axis::kChannels), axis_of(Axis::kHeight),
                              axis_of(Axis::kWidth), AxisOf{"batch", &Shape::batch, nullptr}}) {
    if (other.size == axis.size || part.*other.size == first.*other.size) continue;
    throw_invalid_argument("{} {} differs from that of part 0, {}: parts differ in {} only",
                           other.name, part.*other.size, first.*other.size, axis.name);
  }
}

}  // namespace

Tensor detail::add_concatenation(Network::Impl& net, std::span<const Tensor> parts,
                                 const Concatenation& c) {
  const AxisOf axis = axis_of(c.axis);
  if (parts.size() < 2) {
    throw_invalid_argument("{} parts: a concatenation takes two or more", parts.size());
  }
  ConcatNode node;
  node.axis = c.axis;
  Shape shape;
  Precision precision = Precision::kInt8;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string what = fmt::format("part {}", i);
    const TensorNode& part = net.cube(what, parts[i]);
    with_error_context(what, std::nullopt, [&] {
      if (i == 0) {
        shape = part.shape;
        precision = part.precision;
      } else {
        check_same(part.shape, shape, axis);
        if (part.precision != precision) {
          throw_invalid_argument("its precision is {}, that of part 0 is {}: convert one of them",
                                 precision_name(part.precision), precision_name(precision));
        }
        shape.*axis.size += part.shape.*axis.size;
      }
    });
    node.parts.push_back(net.index(what, parts[i]));
  }
  check_range(axis.name, shape.*axis.size, 1U, kMaxSide);
  LayerNode layer;
  layer.name = c.name;
  layer.input = node.parts[0];
  layer.operands.assign(node.parts.begin() + 1, node.parts.end());
  layer.part = std::move(node);
  return net.commit(std::move(layer), shape, precision);
}

Tensor Network::concatenate(std::span<const Tensor> parts, const Concatenation& c) {
  return detail::add_layer(impl(), c.name,
                           [&] { return detail::add_concatenation(impl(), parts, c); });
}

}  // namespace nvdla
