// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <optional>
#include <type_traits>
#include <utility>

#include "device/request_impl.hpp"
#include "loadable/read/compiled_loadable.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla {

using detail::refuse_argument;

struct LoadedNetwork::Impl {
  std::shared_ptr<const loadable::CompiledLoadable> net;
  Request request;
  std::optional<Error> refused = {};  // why the last run did not start

  // What was there before is gone then, too.
  void check_started(std::string_view what) const {
    if (!refused) return;
    throw Error(static_cast<ErrorCode>(refused->code().value()),
                fmt::format("{}: the last run failed: {}", what, refused->what()),
                refused->detail());
  }
  const Loadable::Impl::Port& input(std::string_view name) const {
    const Loadable::Impl::Port& port = net->file().port(name);
    if (!port.input) refuse_argument("'{}' is an output: it is read, not written", name);
    return port;
  }
  const Buffer& buffer(std::string_view name) const {
    return detail::Handles::impl(request)->bindings[net->file().port(name).memory].buffer;
  }
  template <typename T>
  void write(std::string_view name, Layout layout, std::span<const T> source) {
    input(name);
    net->tensor_desc(name);
    request.write(name, layout, source);
  }
  // Inputs as they were written, outputs of the last run.
  template <typename T>
  void read(std::string_view name, Layout layout, std::span<T> target) const {
    const Loadable::Impl::Port& port = net->file().port(name);
    if (!port.input) {
      check_started(fmt::format("reading '{}'", name));
      request.read(name, layout, target);
      return;
    }
    const TensorDesc desc = net->tensor_desc(name);
    const Map map = buffer(name).map(MapMode::kRead);
    const LoadableTensor tensor = net->file().describe(port);
    const auto bytes = map.bytes().subspan(static_cast<std::size_t>(tensor.offset));
    if constexpr (std::is_same_v<T, float>) {
      const CompiledNetwork::Impl::Port& from = net->input(name);
      net->check_reals(from);
      unpack(desc, layout, bytes, from.quantization, target);
    } else {
      unpack(desc, layout, bytes, target);
    }
  }
};

LoadedNetwork::LoadedNetwork(const CompiledNetwork& compiled) {
  auto net =
      std::dynamic_pointer_cast<const loadable::CompiledLoadable>(detail::Handles::impl(compiled));
  if (net == nullptr) {
    refuse_argument("the compiled network is of no loadable: make a Session of it");
  }
  Request request = detail::make_request(net, compiled.device().queue(), "loadable");
  impl_ = std::make_unique<Impl>(Impl{std::move(net), std::move(request)});
}

LoadedNetwork::LoadedNetwork(LoadedNetwork&&) noexcept = default;
LoadedNetwork& LoadedNetwork::operator=(LoadedNetwork&&) noexcept = default;
LoadedNetwork::~LoadedNetwork() = default;

CompiledNetwork LoadedNetwork::network() const { return impl_->request.network(); }

LoadableTensor LoadedNetwork::tensor(std::string_view name) const {
  return impl_->net->file().describe(impl_->net->file().port(name));
}

TensorDesc LoadedNetwork::desc(std::string_view name) const {
  return impl_->net->tensor_desc(name);
}

ImageDesc LoadedNetwork::image(std::string_view name) const {
  impl_->input(name);
  return impl_->net->image_desc(name);
}

const Buffer& LoadedNetwork::buffer(std::string_view name) const { return impl_->buffer(name); }

void LoadedNetwork::bind(std::string_view name, const Buffer& buffer) {
  impl_->request.bind(name, buffer);
}

void LoadedNetwork::write(std::string_view name, Layout layout,
                          std::span<const std::int8_t> source) {
  impl_->write(name, layout, source);
}

void LoadedNetwork::write(std::string_view name, Layout layout,
                          std::span<const std::int16_t> source) {
  impl_->write(name, layout, source);
}

void LoadedNetwork::write(std::string_view name, Layout layout,
                          std::span<const std::uint16_t> source) {
  impl_->write(name, layout, source);
}

void LoadedNetwork::write(std::string_view name, Layout layout, std::span<const float> source) {
  impl_->write(name, layout, source);
}

void LoadedNetwork::write_pixels(std::string_view name, std::span<const std::byte> plane,
                                 std::span<const std::byte> plane_uv) {
  image(name);
  impl_->request.write_pixels(name, plane, plane_uv);
}

void LoadedNetwork::read(std::string_view name, Layout layout,
                         std::span<std::int8_t> target) const {
  impl_->read(name, layout, target);
}

void LoadedNetwork::read(std::string_view name, Layout layout,
                         std::span<std::int16_t> target) const {
  impl_->read(name, layout, target);
}

void LoadedNetwork::read(std::string_view name, Layout layout,
                         std::span<std::uint16_t> target) const {
  impl_->read(name, layout, target);
}

void LoadedNetwork::read(std::string_view name, Layout layout, std::span<float> target) const {
  impl_->read(name, layout, target);
}

void LoadedNetwork::run() {
  impl_->refused.reset();
  try {
    impl_->request.submit();
  } catch (const Error& error) {
    impl_->refused = error;
    throw;
  }
  impl_->request.fence().wait();
}

std::uint32_t LoadedNetwork::layers() const noexcept {
  return static_cast<std::uint32_t>(impl_->net->layers.size());
}

std::string_view LoadedNetwork::layer_name(std::uint32_t layer) const {
  if (layer >= layers()) refuse_argument("layer {}: the loadable has {}", layer, layers());
  return impl_->net->layers[layer].name;
}

std::uint64_t LoadedNetwork::layer_cycles(std::uint32_t layer) const {
  layer_name(layer);
  return impl_->net->layers[layer].cycles;
}

std::span<const nvdla_layer_stats> LoadedNetwork::statistics() const {
  if (impl_->net->statistics) impl_->check_started("statistics");
  return impl_->request.statistics();
}

void LoadedNetwork::visit_layers(const LayerVisitor& visit) const {
  impl_->request.visit_layers(visit);
}

std::optional<LayerDifference> LoadedNetwork::compare_layers(const Device& reference,
                                                             const LayerVisitor& visit) const {
  return impl_->request.compare_layers(reference, visit);
}

}  // namespace nvdla
