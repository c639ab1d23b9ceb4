// SPDX-License-Identifier: MIT
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "device/session_impl.hpp"
#include "layout/fold_elements.hpp"
#include "nvdla/folding.hpp"

namespace nvdla {
namespace {

using Port = Session::Impl::Port;
using detail::refuse_argument;

const Port* find(const std::vector<Port>& ports, std::string_view name) {
  for (const Port& port : ports) {
    if (port.name == name) return &port;
  }
  return nullptr;
}

std::string names(const std::vector<Port>& ports) {
  std::string text;
  for (const Port& port : ports) text += (text.empty() ? "'" : ", '") + port.name + "'";
  return text;
}

}  // namespace

const Port& Session::Impl::input(std::string_view name) const {
  const Port* port = find(inputs, name);
  if (port == nullptr) refuse_argument("no input is called '{}'; there is {}", name, names(inputs));
  return *port;
}

const Port& Session::Impl::output(std::string_view name) const {
  const Port* port = find(outputs, name);
  if (port == nullptr) {
    refuse_argument("no output is called '{}'; there is {}", name, names(outputs));
  }
  return *port;
}

const Port& Session::Impl::port(std::string_view name) const {
  if (const Port* found = find(inputs, name)) return *found;
  if (const Port* found = find(outputs, name)) return *found;
  refuse_argument("no input or output is called '{}'; there is {}, {}", name, names(inputs),
                  names(outputs));
}

const Port& Session::Impl::tensor(const Port& port) const {
  if (port.image) {
    refuse_argument("'{}' is an image: write_pixels() writes it, image() tells where it lies",
                    port.name);
  }
  return port;
}

const Session::Impl::Layer& Session::Impl::layer(std::uint32_t index) const {
  if (index >= layers.size()) {
    refuse_argument("layer {}: the session has {}", index, layers.size());
  }
  return layers[index];
}

void Session::Impl::check_idle() const {
  if (!last.done()) {
    detail::refuse(ErrorCode::kBusy, "the session is running: wait for its fence first");
  }
}

template <typename T>
void Session::Impl::write(std::string_view name, Layout layout, std::span<const T> source) {
  const Port& port = tensor(input(name));
  check_idle();
  const Map map = bindings[port.slot].buffer.map(MapMode::kWrite);
  if (port.folded) {
    if constexpr (!std::is_same_v<T, std::uint16_t>) {
      const std::vector<T> folded = fold_tensor(*port.folded, layout, source);
      pack(port.desc, Layout::kNchw, std::span<const T>(folded), map.bytes());
      return;
    }
  }
  pack(port.desc, layout, source, map.bytes());
}

template <typename T>
void Session::Impl::read(std::string_view name, Layout layout, std::span<T> target) const {
  const Port& port = output(name);
  check_idle();
  unpack(port.desc, layout, bindings[port.slot].buffer.map(MapMode::kRead).bytes(), target);
}

Session::Session(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
// The run, if there is one, holds what it needs.
Session::~Session() = default;

std::uint32_t Session::inputs() const noexcept {
  return static_cast<std::uint32_t>(impl_->inputs.size());
}

std::uint32_t Session::outputs() const noexcept {
  return static_cast<std::uint32_t>(impl_->outputs.size());
}

std::string_view Session::input_name(std::uint32_t index) const {
  if (index >= impl_->inputs.size()) refuse_argument("input {} of {}", index, inputs());
  return impl_->inputs[index].name;
}

std::string_view Session::output_name(std::uint32_t index) const {
  if (index >= impl_->outputs.size()) refuse_argument("output {} of {}", index, outputs());
  return impl_->outputs[index].name;
}

const TensorDesc& Session::desc(std::string_view name) const {
  return impl_->tensor(impl_->port(name)).desc;
}

const ImageDesc& Session::image(std::string_view name) const {
  const Port& port = impl_->input(name);
  if (!port.image) refuse_argument("'{}' is a tensor, not an image", name);
  return *port.image;
}

const Buffer& Session::buffer(std::string_view name) const {
  return impl_->bindings[impl_->port(name).slot].buffer;
}

void Session::bind(std::string_view name, const Buffer& buffer) {
  const Port& port = impl_->port(name);
  impl_->check_idle();
  if (!buffer) refuse_argument("the buffer for '{}' is an empty handle", name);
  if (const std::uint64_t need = impl_->slots[port.slot].size; buffer.size() < need) {
    refuse_argument("the buffer for '{}' has {} bytes, {} are needed", name, buffer.size(), need);
  }
  impl_->bindings[port.slot].buffer = buffer;
}

void Session::write(std::string_view name, Layout layout, std::span<const std::int8_t> source) {
  impl_->write(name, layout, source);
}

void Session::write(std::string_view name, Layout layout, std::span<const std::int16_t> source) {
  impl_->write(name, layout, source);
}

void Session::write(std::string_view name, Layout layout, std::span<const std::uint16_t> source) {
  impl_->write(name, layout, source);
}

void Session::write(std::string_view name, Layout layout, std::span<const float> source) {
  const Port& port = impl_->tensor(impl_->input(name));
  impl_->check_idle();
  const Map map = buffer(name).map(MapMode::kWrite);
  if (port.folded) {
    // The real number of the padding value, for the columns behind the last one.
    const Quantization& q = port.quantization;
    const float pad = static_cast<float>(port.folded->pad_value - q.zero_point) * q.scale;
    const std::vector<float> folded =
        detail::fold_elements<float>(*port.folded, layout, source, pad);
    pack(port.desc, Layout::kNchw, folded, q, map.bytes());
    return;
  }
  pack(port.desc, layout, source, port.quantization, map.bytes());
}

void Session::write_pixels(std::string_view name, std::span<const std::byte> plane,
                           std::span<const std::byte> plane_uv) {
  const ImageDesc& desc = image(name);
  impl_->check_idle();
  pack_image(impl_->device.info(), desc, plane, plane_uv,
             buffer(name).map(MapMode::kWrite).bytes());
}

void Session::read(std::string_view name, Layout layout, std::span<std::int8_t> target) const {
  impl_->read(name, layout, target);
}

void Session::read(std::string_view name, Layout layout, std::span<std::int16_t> target) const {
  impl_->read(name, layout, target);
}

void Session::read(std::string_view name, Layout layout, std::span<std::uint16_t> target) const {
  impl_->read(name, layout, target);
}

void Session::read(std::string_view name, Layout layout, std::span<float> target) const {
  const Port& port = impl_->output(name);
  impl_->check_idle();
  unpack(port.desc, layout, buffer(name).map(MapMode::kRead).bytes(), port.quantization, target);
}

Fence Session::submit(const SubmitOptions& options) {
  impl_->check_idle();
  impl_->last = impl_->device.submit(impl_->program, impl_->bindings, options);
  return impl_->last;
}

void Session::run() {
  const Fence fence = submit();
  try {
    fence.wait();
  } catch (const Error& error) {
    // The device knows layers by number, people by name.
    const std::int64_t layer = error.layer();
    if (layer < 0 || layer >= std::int64_t{layers()}) throw;
    const std::string_view name = layer_name(static_cast<std::uint32_t>(layer));
    if (name.empty()) throw;
    throw Error(static_cast<ErrorCode>(error.code().value()),
                fmt::format("'{}': {}", name, error.what()), error.detail());
  }
}

std::uint32_t Session::layers() const noexcept {
  return static_cast<std::uint32_t>(impl_->layers.size());
}

std::string_view Session::layer_name(std::uint32_t layer) const { return impl_->layer(layer).name; }

std::uint64_t Session::layer_cycles(std::uint32_t layer) const {
  impl_->layer(layer);
  return impl_->program.cycles(layer);
}

std::uint64_t Session::layer_macs(std::uint32_t layer) const { return impl_->layer(layer).macs; }

std::span<const nvdla_layer_stats> Session::statistics() const noexcept {
  return impl_->last.statistics();
}

}  // namespace nvdla
