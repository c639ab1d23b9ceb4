// SPDX-License-Identifier: MIT
//
// Tensors of a network and what it can tell. Layers are added in files of their own, building is in
// build.cpp.
#include "nvdla/network.hpp"

#include <utility>

#include "core/check.hpp"
#include "core/network_impl.hpp"
#include "core/precision.hpp"

namespace nvdla {
namespace {

using detail::LayerNode;
using detail::OperatorNode;
using detail::refuse_argument;
using detail::TensorNode;

void check_shape(const Shape& shape) {
  detail::check_range("channels", shape.channels, 1U, 8192U);
  detail::check_range("height", shape.height, 1U, 8192U);
  detail::check_range("width", shape.width, 1U, 8192U);
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

void Network::Impl::check_name(const char* what, std::string_view name) const {
  if (name.empty()) refuse_argument("an {} needs a name", what);
  for (const auto* ports : {&inputs, &outputs}) {
    for (const auto& port : *ports) {
      if (port.name == name) refuse_argument("there is an input or output '{}' already", name);
    }
  }
}

OperatorNode Network::Impl::make_operator(const char* what, const Operator& op, const Shape& shape,
                                          Precision processing) const {
  std::optional<detail::OperandTensor> operand;
  if (op.tensor.index != Tensor().index) {
    const TensorNode& node = tensor(what, op.tensor);
    operand = {op.tensor.index, node.shape, node.precision};
  }
  return detail::check_operator(what, op, shape, processing, operand);
}

Tensor Network::Impl::commit(LayerNode layer, const Shape& shape, Precision precision) {
  TensorNode output;
  output.shape = shape;
  output.precision = precision;
  output.producer = static_cast<std::uint32_t>(layers.size());
  tensors[layer.input].read = true;
  for (const std::uint32_t operand : layer.operands) tensors[operand].read = true;
  layer.output = static_cast<std::uint32_t>(tensors.size());
  tensors.push_back(output);
  layers.push_back(std::move(layer));
  return {layers.back().output};
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
  impl_->check_name("input", name);
  check_shape(shape);
  detail::check_precision(precision);
  const auto index = static_cast<std::uint32_t>(impl_->tensors.size());
  impl_->inputs.push_back({std::string(name), index, quantization});
  TensorNode node;
  node.shape = shape;
  node.precision = precision;
  impl_->tensors.push_back(node);
  return {index};
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
