// SPDX-License-Identifier: MIT
#include "nvdla/compiled_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "device/compiled_impl.hpp"
#include "device/request_impl.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using detail::throw_invalid_argument;
using NetworkPort = CompiledNetwork::Impl::Port;

const NetworkPort* find_port(const std::vector<NetworkPort>& ports, std::string_view name) {
  for (const NetworkPort& port : ports) {
    if (port.name == name) return &port;
  }
  return nullptr;
}

// Returns the names of all ports as errors list them, inputs first.
std::string port_names(std::span<const NetworkPort> inputs,
                       std::span<const NetworkPort> outputs = {}) {
  std::string text;
  for (const std::span<const NetworkPort> ports : {inputs, outputs})
    for (const NetworkPort& port : ports)
      text += fmt::format("{}'{}'", text.empty() ? "" : ", ", port.name);
  return text.empty() ? "none" : text;
}

}  // namespace

const NetworkPort& CompiledNetwork::Impl::input(std::string_view name) const {
  const Port* port = find_port(inputs, name);
  if (port == nullptr) {
    if (find_port(outputs, name) != nullptr)
      throw_invalid_argument("'{}' is an output: it is read, not written", name);
    throw_invalid_argument("no input is called '{}'; there is {}", name, port_names(inputs));
  }
  return *port;
}

const NetworkPort& CompiledNetwork::Impl::readable(std::string_view name) const {
  const Port* output = find_port(outputs, name);
  return output != nullptr ? *output : port(name);
}

bool CompiledNetwork::Impl::is_output(const Port& port) const {
  return &port == find_port(outputs, port.name);
}

const NetworkPort& CompiledNetwork::Impl::port(std::string_view name) const {
  if (const Port* found = find_port(inputs, name)) return *found;
  if (const Port* found = find_port(outputs, name)) return *found;
  throw_invalid_argument("no input or output is called '{}'; there is {}", name,
                         port_names(inputs, outputs));
}

const NetworkPort& CompiledNetwork::Impl::tensor(const Port& port) const {
  if (port.unusable) throw Error(*port.unusable);
  if (port.image) {
    throw_invalid_argument(
        "'{}' is an image: write_pixels() writes it, image() tells where it lies", port.name);
  }
  return port;
}

void CompiledNetwork::Impl::check_reals(const Port& port) const {
  if (!port.integers_only || port.desc.precision == Precision::kFp16) return;
  detail::throw_error(
      ErrorCode::kNotAvailable,
      "'{}': the file does not say what its integers stand for: take them as they are", port.name);
}

const ImageDesc& CompiledNetwork::Impl::pixels(const Port& port) const {
  if (port.image) return *port.image;
  if (port.unusable) throw Error(*port.unusable);
  throw_invalid_argument("'{}' is a tensor, not an image", port.name);
}

const CompiledNetwork::Impl::Layer& CompiledNetwork::Impl::layer(std::uint32_t index) const {
  if (index >= layers.size()) {
    throw_invalid_argument("layer {}: the compiled network has {}", index, layers.size());
  }
  return layers[index];
}

std::vector<Binding> CompiledNetwork::Impl::make_bindings() const {
  std::vector<Binding> bindings;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (constants[slot]) {
      bindings.emplace_back(constants[slot]);
      continue;
    }
    detail::with_error_context(slot_names[slot], std::nullopt, [&] {
      bindings.emplace_back(
          device.allocate(slots[slot].size, static_cast<Memory>(slots[slot].memory)));
    });
  }
  return bindings;
}

CompiledNetwork::CompiledNetwork() noexcept = default;
CompiledNetwork::CompiledNetwork(std::shared_ptr<const Impl> impl) noexcept
    : impl_(std::move(impl)) {}
CompiledNetwork::CompiledNetwork(const CompiledNetwork&) noexcept = default;
CompiledNetwork::CompiledNetwork(CompiledNetwork&&) noexcept = default;
CompiledNetwork& CompiledNetwork::operator=(const CompiledNetwork&) noexcept = default;
CompiledNetwork& CompiledNetwork::operator=(CompiledNetwork&&) noexcept = default;
CompiledNetwork::~CompiledNetwork() = default;

const CompiledNetwork::Impl& CompiledNetwork::impl() const {
  if (impl_ == nullptr) throw_invalid_argument("the handle of the compiled network is empty");
  return *impl_;
}

Request CompiledNetwork::create_request() const { return create_request(impl().device.queue()); }

Request CompiledNetwork::create_request(const Queue& queue) const {
  impl();
  return detail::make_request(impl_, queue);
}

const Device& CompiledNetwork::device() const { return impl().device; }

std::uint32_t CompiledNetwork::inputs() const noexcept {
  return impl_ == nullptr ? 0 : static_cast<std::uint32_t>(impl_->inputs.size());
}

std::uint32_t CompiledNetwork::outputs() const noexcept {
  return impl_ == nullptr ? 0 : static_cast<std::uint32_t>(impl_->outputs.size());
}

std::string_view CompiledNetwork::input_name(std::uint32_t index) const {
  if (index >= impl().inputs.size()) throw_invalid_argument("input {} of {}", index, inputs());
  return impl().inputs[index].name;
}

std::string_view CompiledNetwork::output_name(std::uint32_t index) const {
  if (index >= impl().outputs.size()) throw_invalid_argument("output {} of {}", index, outputs());
  return impl().outputs[index].name;
}

const TensorDesc& CompiledNetwork::desc(std::string_view name) const {
  return impl().tensor(impl().port(name)).desc;
}

const ImageDesc& CompiledNetwork::image(std::string_view name) const {
  const NetworkPort& port = impl().input(name);
  return impl().pixels(port);
}

std::uint32_t CompiledNetwork::layers() const noexcept {
  return impl_ == nullptr ? 0 : static_cast<std::uint32_t>(impl_->layers.size());
}

std::string_view CompiledNetwork::layer_name(std::uint32_t layer) const {
  return impl().layer(layer).name;
}

std::uint64_t CompiledNetwork::layer_cycles(std::uint32_t layer) const {
  return impl().layer(layer).cycles;
}

std::uint64_t CompiledNetwork::layer_macs(std::uint32_t layer) const {
  return impl().layer(layer).macs;
}

bool CompiledNetwork::layer_on_cpu(std::uint32_t layer) const { return impl().layer(layer).cpu; }

std::uint32_t CompiledNetwork::programs() const noexcept {
  if (impl_ == nullptr) return 0;
  return static_cast<std::uint32_t>(
      std::count_if(impl_->parts.begin(), impl_->parts.end(), [](const detail::ChainPart& part) {
        return std::holds_alternative<detail::ProgramPart>(part);
      }));
}

MemoryUse CompiledNetwork::memory() const { return impl().memory; }

const std::vector<PassReport>& CompiledNetwork::passes() const { return impl().passes; }

}  // namespace nvdla
