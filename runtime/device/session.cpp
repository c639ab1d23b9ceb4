// SPDX-License-Identifier: MIT
#include <utility>

#include "device/request_impl.hpp"
#include "device/session_impl.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

std::unique_ptr<Session::Impl> make_session(const CompiledNetwork& compiled) {
  Request request =
      detail::make_request(detail::Handles::impl(compiled), compiled.device().queue(), "session");
  return std::make_unique<Session::Impl>(Session::Impl{compiled, std::move(request)});
}

}  // namespace

Session::Session(const CompiledNetwork& compiled) : impl_(make_session(compiled)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
// The run, if there is one, holds what it needs.
Session::~Session() = default;

Session::Impl& Session::impl() const {
  if (impl_ == nullptr) detail::refuse_argument("the session is empty: it was moved from");
  return *impl_;
}

const CompiledNetwork& Session::network() const { return impl().compiled; }

std::uint32_t Session::inputs() const noexcept {
  return impl_ == nullptr ? 0 : impl_->compiled.inputs();
}

std::uint32_t Session::outputs() const noexcept {
  return impl_ == nullptr ? 0 : impl_->compiled.outputs();
}

std::string_view Session::input_name(std::uint32_t index) const {
  return impl().compiled.input_name(index);
}

std::string_view Session::output_name(std::uint32_t index) const {
  return impl().compiled.output_name(index);
}

const TensorDesc& Session::desc(std::string_view name) const { return impl().compiled.desc(name); }

const ImageDesc& Session::image(std::string_view name) const { return impl().compiled.image(name); }

Buffer Session::buffer(std::string_view name) const { return impl().request.buffer(name); }

void Session::bind(std::string_view name, const Buffer& buffer) {
  impl().request.bind(name, buffer);
}

void Session::write(std::string_view name, Layout layout, std::span<const std::int8_t> source) {
  impl().request.write(name, layout, source);
}

void Session::write(std::string_view name, Layout layout, std::span<const std::int16_t> source) {
  impl().request.write(name, layout, source);
}

void Session::write(std::string_view name, Layout layout, std::span<const std::uint16_t> source) {
  impl().request.write(name, layout, source);
}

void Session::write(std::string_view name, Layout layout, std::span<const float> source) {
  impl().request.write(name, layout, source);
}

void Session::write_pixels(std::string_view name, std::span<const std::byte> plane,
                           std::span<const std::byte> plane_uv) {
  impl().request.write_pixels(name, plane, plane_uv);
}

void Session::read(std::string_view name, Layout layout, std::span<std::int8_t> target) const {
  impl().request.read(name, layout, target);
}

void Session::read(std::string_view name, Layout layout, std::span<std::int16_t> target) const {
  impl().request.read(name, layout, target);
}

void Session::read(std::string_view name, Layout layout, std::span<std::uint16_t> target) const {
  impl().request.read(name, layout, target);
}

void Session::read(std::string_view name, Layout layout, std::span<float> target) const {
  impl().request.read(name, layout, target);
}

Fence Session::submit(const SubmitOptions& options) { return impl().request.submit(options); }

void Session::run() { impl().request.run(); }

std::uint32_t Session::layers() const noexcept {
  return impl_ == nullptr ? 0 : impl_->compiled.layers();
}

std::string_view Session::layer_name(std::uint32_t layer) const {
  return impl().compiled.layer_name(layer);
}

std::uint64_t Session::layer_cycles(std::uint32_t layer) const {
  return impl().compiled.layer_cycles(layer);
}

std::uint64_t Session::layer_macs(std::uint32_t layer) const {
  return impl().compiled.layer_macs(layer);
}

MemoryUse Session::memory() const { return impl().compiled.memory(); }

std::span<const nvdla_layer_stats> Session::statistics() const {
  return impl().request.statistics();
}

void Session::visit_layers(const LayerVisitor& visit) const { impl().request.visit_layers(visit); }

std::optional<LayerDifference> Session::compare_layers(const Device& reference,
                                                       const LayerVisitor& visit) const {
  return impl().request.compare_layers(reference, visit);
}

}  // namespace nvdla
