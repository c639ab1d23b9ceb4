// SPDX-License-Identifier: MIT
//
// Network keeps tensors and reports on them; add_operators.hpp lists the functions that add layers,
// and compile.cpp compiles.
#include "nvdla/network.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "compiler/operators/network_impl.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/precision.hpp"
#include "support/check.hpp"

namespace nvdla {
namespace {

using detail::LayerNode;
using detail::OperatorNode;
using detail::TensorHandle;
using detail::TensorNode;
using detail::throw_invalid_argument;

void check_shape(const Shape& shape) {
  detail::check_range("channels", shape.channels, 1U, detail::kMaxSide);
  detail::check_range("height", shape.height, 1U, detail::kMaxSide);
  detail::check_range("width", shape.width, 1U, detail::kMaxSide);
  detail::check_range("batch", shape.batch, 1U, 32U);
}

}  // namespace

std::uint64_t Network::Impl::new_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::uint32_t Network::Impl::index(std::string_view what, Tensor tensor) const {
  if (!tensor) throw_invalid_argument("{}: the tensor handle is empty", what);
  if (TensorHandle::network(tensor) != id) {
    throw_invalid_argument(
        "{}: the tensor belongs to another network: take one that this one returned", what);
  }
  return TensorHandle::index(tensor);
}

const TensorNode& Network::Impl::any_tensor(std::string_view what, Tensor tensor) const {
  return tensors[index(what, tensor)];
}

const TensorNode& Network::Impl::tensor(std::string_view what, Tensor tensor) const {
  const TensorNode& node = any_tensor(what, tensor);
  if (node.image) {
    throw_invalid_argument("{}: {} is an image, which convolutions read only", what,
                           tensor_name(index(what, tensor)));
  }
  return node;
}

const TensorNode& Network::Impl::cube(std::string_view what, Tensor cube) const {
  const TensorNode& node = tensor(what, cube);
  if (node.planar) {
    throw_invalid_argument("{}: {} is planar: merge() it first", what,
                           tensor_name(index(what, cube)));
  }
  return node;
}

std::string Network::Impl::new_port(const std::vector<detail::IoTensor>& ports,
                                    std::string_view name) const {
  const char* const kind = &ports == &inputs ? "input" : "output";
  if (name.empty()) {
    throw_invalid_argument("{} {} has no name, by which sessions know it", kind, ports.size());
  }
  std::string place = fmt::format("{} {} '{}'", kind, ports.size(), name);
  for (const auto* others : {&inputs, &outputs}) {
    for (std::size_t i = 0; i < others->size(); ++i) {
      if ((*others)[i].name != name) continue;
      throw_invalid_argument("{}: {} {} has that name: those of inputs and outputs are unique",
                             place, others == &inputs ? "input" : "output", i);
    }
  }
  return place;
}

void Network::Impl::check_layer_name(std::string_view name) const {
  if (name.empty()) return;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].name == name) {
      throw_invalid_argument("layer {} has that name: those of layers are unique", i);
    }
  }
}

std::optional<detail::OperandTensor> Network::Impl::operand(const char* what,
                                                            Tensor operand) const {
  if (!operand) return std::nullopt;
  const TensorNode& node = cube(what, operand);
  return detail::OperandTensor{index(what, operand), node.shape, node.precision};
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
    throw_invalid_argument("the look-up table is for unit {}, the layer uses that of {} ({})",
                           lut.unit, unit == NVDLA_LUT_SDP ? "SDP" : "CDP", static_cast<int>(unit));
  }
  std::size_t index = 0;
  while (index < luts.size() && std::memcmp(&luts[index], &lut, sizeof lut) != 0) ++index;
  if (index == luts.size()) luts.push_back(lut);
  return static_cast<std::uint32_t>(index);
}

Tensor Network::Impl::add_input(std::string_view name, TensorNode node,
                                const Quantization& quantization) {
  const std::string place = new_port(inputs, name);
  detail::with_error_context(place, std::nullopt, [&] {
    if (node.image) {
      const PixelLayout pixel = pixel_layout(node.image->format);
      node.shape.channels = pixel.components;
      node.precision = pixel.precision;
    }
    check_shape(node.shape);
    detail::check_precision(node.precision);
  });
  const std::size_t index = tensors.size();
  // The layers that read pixels choose what converters make of them.
  if (!node.image) node.quantization = quantization;
  inputs.push_back({std::string(name), static_cast<std::uint32_t>(index), quantization});
  tensors.push_back(std::move(node));
  return TensorHandle::make(id, index);
}

void Network::Impl::add_output(Tensor tensor, std::string_view name,
                               const std::optional<Quantization>& quantization) {
  const std::string place = new_port(outputs, name);
  const std::uint32_t at = index(place, tensor);
  if (!tensors[at].producer) {
    throw_invalid_argument("{}: {} is written by the application, not by a layer", place,
                           tensor_name(at));
  }
  const Quantization known = tensors[at].quantization.value_or(Quantization{});
  outputs.push_back({std::string(name), at, quantization.value_or(known)});
}

Tensor Network::Impl::commit(LayerNode layer, const Shape& shape, Precision precision,
                             bool planar) {
  TensorNode output;
  output.shape = shape;
  output.precision = precision;
  output.planar = planar;
  output.quantization = detail::kept_quantization(*this, layer);
  output.producer = static_cast<std::uint32_t>(layers.size());
  layer.output = static_cast<std::uint32_t>(tensors.size());
  commit_silent(std::move(layer));
  tensors.push_back(output);
  return TensorHandle::make(id, tensors.size() - 1);
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

Network::Impl& Network::impl() {
  if (impl_ == nullptr) throw_invalid_argument("the network is empty: it was moved from");
  return *impl_;
}

const Network::Impl& Network::impl() const { return const_cast<Network*>(this)->impl(); }

Tensor Network::input(std::string_view name, const Shape& shape, const Quantization& quantization) {
  return input(name, shape, Precision::kInt8, quantization);
}

Tensor Network::input(std::string_view name, const Shape& shape, Precision precision,
                      const Quantization& quantization) {
  TensorNode node;
  node.shape = shape;
  node.precision = precision;
  return impl().add_input(name, node, quantization);
}

Tensor Network::planar_input(std::string_view name, const Shape& shape, Precision precision,
                             const Quantization& quantization) {
  TensorNode node;
  node.shape = shape;
  node.precision = precision;
  node.planar = true;
  return impl().add_input(name, node, quantization);
}

Tensor Network::image(std::string_view name, const ImageDesc& desc) {
  TensorNode node;
  node.shape.height = desc.height;
  node.shape.width = desc.width;
  node.image = desc;
  return impl().add_input(name, node, {});
}

void Network::place(Tensor tensor, Memory memory) {
  impl().tensor("place", tensor);
  if (memory != Memory::kDram && memory != Memory::kSram) {
    throw_invalid_argument("memory {} is none of DRAM (0), SRAM (1)",
                           static_cast<std::uint32_t>(memory));
  }
  impl().tensors[impl().index("place", tensor)].memory = memory;
}

void Network::output(Tensor tensor, std::string_view name) {
  impl().add_output(tensor, name, std::nullopt);
}

void Network::output(Tensor tensor, std::string_view name, const Quantization& quantization) {
  impl().add_output(tensor, name, quantization);
}

Shape Network::shape(Tensor tensor) const { return impl().any_tensor("shape", tensor).shape; }

Precision Network::precision(Tensor tensor) const {
  return impl().any_tensor("precision", tensor).precision;
}

std::uint32_t Network::layers() const noexcept {
  return impl_ == nullptr ? 0 : static_cast<std::uint32_t>(impl_->layers.size());
}

std::string_view Network::layer_name(std::uint32_t layer) const {
  if (layer >= impl().layers.size()) {
    throw_invalid_argument("layer {}: the network has {}", layer, impl().layers.size());
  }
  return impl().layers[layer].name;
}

std::uint64_t Network::macs() const noexcept {
  std::uint64_t sum = 0;
  if (impl_ == nullptr) return sum;
  for (const LayerNode& layer : impl_->layers) sum += layer.macs;
  return sum;
}

}  // namespace nvdla
