// SPDX-License-Identifier: MIT
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/handles.hpp"
#include "base/rules.hpp"
#include "device/bound_buffer.hpp"
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

void Session::Impl::check_idle(std::string_view what) const {
  if (!last.done()) {
    detail::refuse(ErrorCode::kBusy, "{}: the session is running: wait for its fence first", what);
  }
}

void Session::Impl::check_ran(std::string_view what) const {
  check_idle(what);
  if (!last) refuse_argument("{}: the session has not run yet: run() or submit() it first", what);
  try {
    last.wait();
  } catch (const Error& error) {
    throw Error(static_cast<ErrorCode>(error.code().value()),
                fmt::format("{}: the last run failed: {}", what, error.what()), error.detail());
  }
}

Error Session::Impl::named(const Error& error) const {
  const auto code = static_cast<ErrorCode>(error.code().value());
  if (error.rule() != NVDLA_RULE_NONE) {
    return Error(code, detail::rule_text(error.detail(), {.slots = slot_names}), error.detail());
  }
  return error;
}

void Session::Impl::name_layers() {
  if (layer_names == nullptr) {
    std::vector<std::string> names;
    for (const Layer& layer : layers) names.push_back(layer.name);
    layer_names = std::make_shared<const std::vector<std::string>>(std::move(names));
  }
  detail::Handles::impl(last)->name_layers(layer_names);
}

template <typename T>
void Session::Impl::write(std::string_view name, Layout layout, std::span<const T> source) {
  const Port& port = tensor(input(name));
  const std::lock_guard lock(mutex);
  check_idle(fmt::format("writing '{}'", name));
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

void Session::Impl::write_reals(std::string_view name, Layout layout,
                                std::span<const float> source) {
  const Port& port = tensor(input(name));
  const std::lock_guard lock(mutex);
  check_idle(fmt::format("writing '{}'", name));
  const Map map = bindings[port.slot].buffer.map(MapMode::kWrite);
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

template <typename Unpack>
void Session::Impl::read(std::string_view name, const Unpack& unpack) const {
  const Port& port = output(name);
  const std::lock_guard lock(mutex);
  const std::string what = fmt::format("reading '{}'", name);
  check_ran(what);
  if (rebound.contains(port.slot)) {
    refuse_argument("{}: it was bound to another buffer after the last run: run again first", what);
  }
  unpack(port, bindings[port.slot].buffer.map(MapMode::kRead));
}

Session::Session(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
// The run, if there is one, holds what it needs.
Session::~Session() = default;

Session::Impl& Session::impl() const {
  if (impl_ == nullptr) refuse_argument("the session is empty: it was moved from");
  return *impl_;
}

std::uint32_t Session::inputs() const noexcept {
  return impl_ == nullptr ? 0 : static_cast<std::uint32_t>(impl_->inputs.size());
}

std::uint32_t Session::outputs() const noexcept {
  return impl_ == nullptr ? 0 : static_cast<std::uint32_t>(impl_->outputs.size());
}

std::string_view Session::input_name(std::uint32_t index) const {
  if (index >= impl().inputs.size()) refuse_argument("input {} of {}", index, inputs());
  return impl().inputs[index].name;
}

std::string_view Session::output_name(std::uint32_t index) const {
  if (index >= impl().outputs.size()) refuse_argument("output {} of {}", index, outputs());
  return impl().outputs[index].name;
}

const TensorDesc& Session::desc(std::string_view name) const {
  return impl().tensor(impl().port(name)).desc;
}

const ImageDesc& Session::image(std::string_view name) const {
  const Port& port = impl().input(name);
  if (!port.image) refuse_argument("'{}' is a tensor, not an image", name);
  return *port.image;
}

Buffer Session::buffer(std::string_view name) const {
  const Port& port = impl().port(name);
  const std::lock_guard lock(impl().mutex);
  return impl().bindings[port.slot].buffer;
}

void Session::bind(std::string_view name, const Buffer& buffer) {
  const Port& port = impl().port(name);
  const std::lock_guard lock(impl().mutex);
  impl().check_idle(fmt::format("binding '{}'", name));
  Buffer& bound = impl().bindings[port.slot].buffer;
  detail::check_bound(name, buffer, bound, impl().slots[port.slot].size);
  bound = buffer;
  impl().rebound.insert(port.slot);
}

void Session::write(std::string_view name, Layout layout, std::span<const std::int8_t> source) {
  impl().write(name, layout, source);
}

void Session::write(std::string_view name, Layout layout, std::span<const std::int16_t> source) {
  impl().write(name, layout, source);
}

void Session::write(std::string_view name, Layout layout, std::span<const std::uint16_t> source) {
  impl().write(name, layout, source);
}

void Session::write(std::string_view name, Layout layout, std::span<const float> source) {
  impl().write_reals(name, layout, source);
}

void Session::write_pixels(std::string_view name, std::span<const std::byte> plane,
                           std::span<const std::byte> plane_uv) {
  const ImageDesc& desc = image(name);
  const std::lock_guard lock(impl().mutex);
  impl().check_idle(fmt::format("writing '{}'", name));
  const Map map = impl().bindings[impl().input(name).slot].buffer.map(MapMode::kWrite);
  pack_image(impl().device.info(), desc, plane, plane_uv, map.bytes());
}

void Session::read(std::string_view name, Layout layout, std::span<std::int8_t> target) const {
  impl().read(name, [&](const Port& port, const Map& map) {
    unpack(port.desc, layout, map.bytes(), target);
  });
}

void Session::read(std::string_view name, Layout layout, std::span<std::int16_t> target) const {
  impl().read(name, [&](const Port& port, const Map& map) {
    unpack(port.desc, layout, map.bytes(), target);
  });
}

void Session::read(std::string_view name, Layout layout, std::span<std::uint16_t> target) const {
  impl().read(name, [&](const Port& port, const Map& map) {
    unpack(port.desc, layout, map.bytes(), target);
  });
}

void Session::read(std::string_view name, Layout layout, std::span<float> target) const {
  impl().read(name, [&](const Port& port, const Map& map) {
    unpack(port.desc, layout, map.bytes(), port.quantization, target);
  });
}

Fence Session::submit(const SubmitOptions& options) {
  const std::lock_guard lock(impl().mutex);
  impl().check_idle("submitting");
  try {
    impl().last = impl().device.submit(impl().program, impl().bindings, options);
  } catch (const Error& error) {
    throw impl().named(error);
  }
  impl().rebound.clear();
  impl().name_layers();
  return impl().last;
}

void Session::run() { submit().wait(); }

std::uint32_t Session::layers() const noexcept {
  return impl_ == nullptr ? 0 : static_cast<std::uint32_t>(impl_->layers.size());
}

std::string_view Session::layer_name(std::uint32_t layer) const { return impl().layer(layer).name; }

std::uint64_t Session::layer_cycles(std::uint32_t layer) const {
  impl().layer(layer);
  return impl().program.cycles(layer);
}

MemoryUse Session::memory() const { return impl().memory; }

std::uint64_t Session::layer_macs(std::uint32_t layer) const { return impl().layer(layer).macs; }

std::span<const nvdla_layer_stats> Session::statistics() const {
  const std::lock_guard lock(impl().mutex);
  if (!impl().program.statistics()) return {};
  impl().check_ran("statistics");
  return impl().last.statistics();
}

}  // namespace nvdla
