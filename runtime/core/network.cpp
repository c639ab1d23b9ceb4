// SPDX-License-Identifier: MIT
//
// Adding to a network. Building one is in build.cpp.
#include "nvdla/network.hpp"

#include <utility>

#include "core/check.hpp"
#include "core/network_impl.hpp"

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
  if (shape.batch != 1) {
    detail::refuse(ErrorCode::kNotAvailable, "batch {}: networks have batch 1 in this version",
                   shape.batch);
  }
}

// Runs `add`; what it refuses is said of the layer that was to be added.
template <typename Add>
Tensor add_layer(std::size_t index, std::string_view name, const Add& add) {
  try {
    return add();
  } catch (const Error& error) {
    nvdla_error detail = error.detail();
    detail.object = NVDLA_OBJECT_LAYER;
    detail.index = static_cast<std::uint32_t>(index);
    throw Error(static_cast<ErrorCode>(error.code().value()),
                fmt::format("layer {}{}{}{}: {}", index, name.empty() ? "" : " '", name,
                            name.empty() ? "" : "'", error.what()),
                detail);
  }
}

OperatorNode make_operator(Network::Impl& net, const char* what, const Operator& op,
                           const Shape& shape) {
  std::optional<Shape> tensor_shape;
  if (op.tensor.index != Tensor().index) tensor_shape = net.tensor(what, op.tensor).shape;
  return detail::check_operator(what, op, shape, tensor_shape);
}

// The layer is right: makes its output and marks what it reads.
Tensor commit(Network::Impl& net, LayerNode layer, const Shape& shape) {
  TensorNode output;
  output.shape = shape;
  output.producer = static_cast<std::uint32_t>(net.layers.size());
  net.tensors[layer.input].read = true;
  for (const OperatorNode* op : {&layer.operators.x1, &layer.operators.x2}) {
    if (op->tensor) net.tensors[*op->tensor].read = true;
  }
  layer.output = static_cast<std::uint32_t>(net.tensors.size());
  net.tensors.push_back(output);
  net.layers.push_back(std::move(layer));
  return {net.layers.back().output};
}

}  // namespace

const TensorNode& Network::Impl::tensor(const char* what, Tensor tensor) const {
  if (tensor.index >= tensors.size()) {
    refuse_argument("{}: the tensor is none of this network, which has {}", what, tensors.size());
  }
  return tensors[tensor.index];
}

void Network::Impl::check_name(const char* what, std::string_view name) const {
  if (name.empty()) refuse_argument("an {} needs a name", what);
  for (const auto* ports : {&inputs, &outputs}) {
    for (const auto& port : *ports) {
      if (port.name == name) refuse_argument("there is an input or output '{}' already", name);
    }
  }
}

Network::Network() : impl_(std::make_unique<Impl>()) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Tensor Network::input(std::string_view name, const Shape& shape, const Quantization& quantization) {
  impl_->check_name("input", name);
  check_shape(shape);
  const auto index = static_cast<std::uint32_t>(impl_->tensors.size());
  impl_->inputs.push_back({std::string(name), index, quantization});
  TensorNode node;
  node.shape = shape;
  impl_->tensors.push_back(node);
  return {index};
}

Tensor Network::convolution(Tensor input, const Convolution& c) {
  return add_layer(impl_->layers.size(), c.name, [&] {
    const Shape& in = impl_->tensor("input", input).shape;
    WeightsDesc weights;
    weights.kernels = c.kernels;
    weights.channels = in.channels;
    weights.kernel_height = c.kernel_height;
    weights.kernel_width = c.kernel_width;
    detail::check_range("kernels", c.kernels, 1U, 8192U);
    TensorDesc desc;
    desc.shape = in;

    LayerNode layer;
    layer.name = c.name;
    layer.input = input.index;
    layer.has_conv = true;
    layer.conv = make_conv(desc, weights);
    layer.conv.stride_x = c.stride_x;
    layer.conv.stride_y = c.stride_y;
    layer.conv.dilation_x = c.dilation_x;
    layer.conv.dilation_y = c.dilation_y;
    layer.conv.pad_left = c.pad_left;
    layer.conv.pad_right = c.pad_right;
    layer.conv.pad_top = c.pad_top;
    layer.conv.pad_bottom = c.pad_bottom;
    layer.conv.pad_value = c.pad_value;
    layer.conv.clip_truncate = c.accumulator_shift;
    const Shape out = conv_output(layer.conv);
    if (c.weights.size() != weights.elements()) {
      refuse_argument("{} weights given, {}x{}x{}x{} (KCRS) are {}", c.weights.size(), c.kernels,
                      in.channels, c.kernel_height, c.kernel_width, weights.elements());
    }
    layer.weights.assign(c.weights.begin(), c.weights.end());
    if (!c.bias.empty() && c.bias.size() != c.kernels) {
      refuse_argument("{} bias values given, {} kernels need as many or none", c.bias.size(),
                      c.kernels);
    }
    layer.operators = detail::place_operators(c.bias, make_operator(*impl_, "x1", c.x1, out),
                                              make_operator(*impl_, "x2", c.x2, out), c.relu, out);
    layer.converter = c.output;
    layer.macs = weights.elements() * out.height * out.width;
    return commit(*impl_, std::move(layer), out);
  });
}

Tensor Network::pointwise(Tensor input, const Pointwise& p) {
  return add_layer(impl_->layers.size(), p.name, [&] {
    const Shape shape = impl_->tensor("input", input).shape;
    LayerNode layer;
    layer.name = p.name;
    layer.input = input.index;
    layer.operators.x1 = make_operator(*impl_, "x1", p.x1, shape);
    layer.operators.x2 = make_operator(*impl_, "x2", p.x2, shape);
    layer.converter = p.output;
    return commit(*impl_, std::move(layer), shape);
  });
}

void Network::output(Tensor tensor, std::string_view name, const Quantization& quantization) {
  impl_->check_name("output", name);
  if (!impl_->tensor("output", tensor).producer) {
    refuse_argument("output '{}' is an input of the network: no layer writes it", name);
  }
  impl_->outputs.push_back({std::string(name), tensor.index, quantization});
}

Shape Network::shape(Tensor tensor) const { return impl_->tensor("shape", tensor).shape; }

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
