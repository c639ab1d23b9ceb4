// SPDX-License-Identifier: MIT
//
// Tensors of a network and what it can tell. Layers are added in files of their own, building is in
// build.cpp.
#include "nvdla/network.hpp"

#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "layout/precision.hpp"
#include "network/network_impl.hpp"

namespace nvdla {
namespace {

using detail::LayerNode;
using detail::OperatorNode;
using detail::refuse_argument;
using detail::TensorNode;

void check_shape(const Shape& shape) {
  detail::check_range("channels", shape.channels, 1U, detail::kMaxSide);
  detail::check_range("height", shape.height, 1U, detail::kMaxSide);
  detail::check_range("width", shape.width, 1U, detail::kMaxSide);
  detail::check_range("batch", shape.batch, 1U, 32U);
}

}  // namespace

const TensorNode& Network::Impl::any_tensor(const char* what, Tensor tensor) const {
  if (tensor.index >= tensors.size()) {
    refuse_argument("{}: the tensor is none of this network, which has {}", what, tensors.size());
  }
  return tensors[tensor.index];
}

const TensorNode& Network::Impl::tensor(const char* what, Tensor tensor) const {
  const TensorNode& node = any_tensor(what, tensor);
  if (node.image) refuse_argument("{}: the tensor is an image, which convolutions read only", what);
  return node;
}

const TensorNode& Network::Impl::cube(const char* what, Tensor cube) const {
  const TensorNode& node = tensor(what, cube);
  if (node.planar) refuse_argument("{}: the tensor is planar: merge() it first", what);
  return node;
}

void Network::Impl::check_name(const char* what, std::string_view name) const {
  if (name.empty()) refuse_argument("an {} needs a name", what);
  for (const auto* ports : {&inputs, &outputs}) {
    for (const auto& port : *ports) {
      if (port.name == name) refuse_argument("there is an input or output '{}' already", name);
    }
  }
}

std::optional<detail::OperandTensor> Network::Impl::operand(const char* what,
                                                            Tensor operand) const {
  if (operand.index == Tensor().index) return std::nullopt;
  const TensorNode& node = cube(what, operand);
  return detail::OperandTensor{operand.index, node.shape, node.precision};
}

OperatorNode Network::Impl::make_operator(const char* what, const Operator& op, const Shape& shape,
                                          Precision processing) const {
  return detail::check_operator(what, op, shape, processing, operand(what, op.tensor));
}

detail::OperatorYNode Network::Impl::make_operator_y(const OperatorY& op, bool compares,
                                                     const Shape& shape, Precision processing) {
  detail::OperatorYNode node =
      detail::check_operator_y(op, compares, shape, processing, operand("y", op.tensor));
  if (op.lut != nullptr) node.lut = add_lut(*op.lut, NVDLA_LUT_SDP);
  return node;
}

std::uint32_t Network::Impl::add_lut(const nvdla_lut& lut, nvdla_lut_unit unit) {
  if (lut.unit != static_cast<std::uint32_t>(unit)) {
    refuse_argument("the look-up table is for unit {}, the layer uses that of {} ({})", lut.unit,
                    unit == NVDLA_LUT_SDP ? "SDP" : "CDP", static_cast<int>(unit));
  }
  std::size_t index = 0;
  while (index < luts.size() && std::memcmp(&luts[index], &lut, sizeof lut) != 0) ++index;
  if (index == luts.size()) luts.push_back(lut);
  return static_cast<std::uint32_t>(index);
}

Tensor Network::Impl::add_input(std::string_view name, TensorNode node,
                                const Quantization& quantization) {
  check_name("input", name);
  check_shape(node.shape);
  detail::check_precision(node.precision);
  const auto index = static_cast<std::uint32_t>(tensors.size());
  inputs.push_back({std::string(name), index, quantization});
  tensors.push_back(std::move(node));
  return {index};
}

Tensor Network::Impl::commit(LayerNode layer, const Shape& shape, Precision precision,
                             bool planar) {
  TensorNode output;
  output.shape = shape;
  output.precision = precision;
  output.planar = planar;
  output.producer = static_cast<std::uint32_t>(layers.size());
  layer.output = static_cast<std::uint32_t>(tensors.size());
  commit_silent(std::move(layer));
  tensors.push_back(output);
  return {static_cast<std::uint32_t>(tensors.size() - 1)};
}

void Network::Impl::commit_silent(LayerNode layer) {
  tensors[layer.input].read = true;
  for (const std::uint32_t operand : layer.operands) tensors[operand].read = true;
  layers.push_back(std::move(layer));
}

Network::Network() : impl_(std::make_unique<Impl>()) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Tensor Network::input(std::string_view name, const Shape& shape, const Quantization& quantization) {
  return input(name, shape, Precision::kInt8, quantization);
}

Tensor Network::input(std::string_view name, const Shape& shape, Precision precision,
                      const Quantization& quantization) {
  TensorNode node;
  node.shape = shape;
  node.precision = precision;
  return impl_->add_input(name, node, quantization);
}

Tensor Network::planar_input(std::string_view name, const Shape& shape, Precision precision,
                             const Quantization& quantization) {
  TensorNode node;
  node.shape = shape;
  node.precision = precision;
  node.planar = true;
  return impl_->add_input(name, node, quantization);
}

void Network::place(Tensor tensor, Memory memory) {
  impl_->tensor("place", tensor);
  if (memory != Memory::kDram && memory != Memory::kSram) {
    refuse_argument("memory {} is none of DRAM (0), SRAM (1)", static_cast<std::uint32_t>(memory));
  }
  impl_->tensors[tensor.index].memory = memory;
}

void Network::output(Tensor tensor, std::string_view name, const Quantization& quantization) {
  impl_->check_name("output", name);
  if (!impl_->any_tensor("output", tensor).producer) {
    refuse_argument("output '{}' is an input of the network: no layer writes it", name);
  }
  impl_->outputs.push_back({std::string(name), tensor.index, quantization});
}

Shape Network::shape(Tensor tensor) const { return impl_->any_tensor("shape", tensor).shape; }

Precision Network::precision(Tensor tensor) const {
  return impl_->any_tensor("precision", tensor).precision;
}

std::uint32_t Network::layers() const noexcept {
  return static_cast<std::uint32_t>(impl_->layers.size());
}

std::string_view Network::layer_name(std::uint32_t layer) const {
  if (layer >= impl_->layers.size()) {
    refuse_argument("layer {}: the network has {}", layer, impl_->layers.size());
  }
  return impl_->layers[layer].name;
}

std::uint64_t Network::macs() const noexcept {
  std::uint64_t sum = 0;
  for (const LayerNode& layer : impl_->layers) sum += layer.macs;
  return sum;
}

}  // namespace nvdla
