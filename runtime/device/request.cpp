// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/background.hpp"
#include "device/request_impl.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/fold_elements.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla {

using detail::throw_invalid_argument;

namespace {

// Refuses a buffer that cannot take the place of `old` for the tensor `name`: one of another
// device, in another memory, or of less than `bytes`.
void check_bound(std::string_view name, const Buffer& buffer, const Buffer& old,
                 std::uint64_t bytes) {
  if (!buffer) throw_invalid_argument("the buffer for '{}' is an empty handle", name);
  if (detail::Handles::impl(buffer)->device() != detail::Handles::impl(old)->device()) {
    throw_invalid_argument("the buffer for '{}' belongs to another device", name);
  }
  if (buffer.memory() != old.memory()) {
    const auto text = [](Memory m) { return m == Memory::kSram ? "SRAM" : "DRAM"; };
    throw_invalid_argument("the buffer for '{}' is in {}, the tensor lies in {}", name,
                           text(buffer.memory()), text(old.memory()));
  }
  if (buffer.size() < bytes) {
    throw_invalid_argument("the buffer for '{}' has {} bytes, {} are needed", name, buffer.size(),
                           bytes);
  }
}

}  // namespace

Request detail::make_request(std::shared_ptr<const CompiledNetwork::Impl> network,
                             const Queue& queue) {
  if (!queue) throw_invalid_argument("the queue handle is empty");
  if (Handles::impl(queue)->device() != Handles::impl(network->device.queue())->device()) {
    throw_invalid_argument("the queue belongs to another device than the compiled network");
  }
  return Handles::make<Request>(std::make_shared<Request::Impl>(std::move(network), queue));
}

// Other bytes of the buffer stay.
Map Request::Impl::map_input(const Port& port) const {
  const Buffer& buffer = bindings[port.slot].buffer;
  return buffer.map(port.offset == 0 ? MapMode::kWrite : MapMode::kReadWrite);
}

std::span<std::byte> Request::Impl::bytes(const Port& port, const Map& map) {
  return map.bytes().subspan(static_cast<std::size_t>(port.offset));
}

void Request::Impl::check_idle(std::string_view context) const {
  if (!last.done()) {
    detail::throw_error(ErrorCode::kBusy, "{}: the request is running: wait for its fence first",
                        context);
  }
}

void Request::Impl::check_ran(std::string_view context) const {
  check_idle(context);
  if (!last) throw_invalid_argument("{}: the request has not run yet: run it first", context);
  try {
    last.wait();
  } catch (const Error& error) {
    throw Error(static_cast<ErrorCode>(error.code().value()),
                fmt::format("{}: the last run failed: {}", context, error.what()), error.detail());
  }
}

namespace {

constexpr std::uint16_t kInfinity = 0x7c00, kSign = 0x8000, kLargest = 0x7bff;

bool is_infinite(std::uint16_t half) { return (half & ~kSign) == kInfinity; }

// Returns the halves with the largest number of its sign in place of each infinity.
std::vector<std::uint16_t> without_infinities(std::span<const std::uint16_t> halves) {
  std::vector<std::uint16_t> finite(halves.begin(), halves.end());
  for (std::uint16_t& half : finite)
    if (is_infinite(half)) half = static_cast<std::uint16_t>((half & kSign) | kLargest);
  return finite;
}

// Does the same to reals that become fp16.
std::vector<float> without_infinities(std::span<const float> reals, float scale) {
  const double limit = std::min(65504.0 * scale, double{std::numeric_limits<float>::max()});
  std::vector<float> finite(reals.begin(), reals.end());
  for (float& real : finite)
    if (std::isinf(real)) real = std::copysign(static_cast<float>(limit), real);
  return finite;
}

}  // namespace

template <typename T>
void Request::Impl::write(std::string_view name, Layout layout, std::span<const T> source) {
  if constexpr (std::is_same_v<T, std::uint16_t>) {
    if (std::any_of(source.begin(), source.end(), is_infinite))
      return write<T>(name, layout, without_infinities(source));
  }
  const Port& port = net->tensor(net->input(name));
  const std::lock_guard lock(mutex);
  check_idle(fmt::format("writing '{}'", name));
  const Map map = map_input(port);
  if (port.folded) {
    if constexpr (!std::is_same_v<T, std::uint16_t>) {
      const std::vector<T> folded = fold_tensor(*port.folded, layout, source);
      pack(port.desc, Layout::kNchw, std::span<const T>(folded), bytes(port, map));
      return;
    }
  }
  pack(port.desc, layout, source, bytes(port, map));
}

void Request::Impl::write_reals(std::string_view name, Layout layout,
                                std::span<const float> source) {
  const Port& port = net->tensor(net->input(name));
  net->check_reals(port);
  const bool half = port.desc.precision == Precision::kFp16;
  if (half && std::any_of(source.begin(), source.end(), [](float x) { return std::isinf(x); }))
    return write_reals(name, layout, without_infinities(source, port.quantization.scale));
  const std::lock_guard lock(mutex);
  check_idle(fmt::format("writing '{}'", name));
  const Map map = map_input(port);
  if (port.folded) {
    // The real number of the padding value, for the columns behind the last one.
    const Quantization& q = port.quantization;
    const float pad = static_cast<float>(port.folded->pad_value - q.zero_point) * q.scale;
    const std::vector<float> folded =
        detail::fold_elements<float>(*port.folded, layout, source, pad);
    pack(port.desc, Layout::kNchw, folded, q, bytes(port, map));
    return;
  }
  pack(port.desc, layout, source, port.quantization, bytes(port, map));
}

template <typename Unpack>
void Request::Impl::read(std::string_view name, const Unpack& unpack) const {
  const Port& port = net->tensor(net->readable(name));
  const std::lock_guard lock(mutex);
  const std::string context = fmt::format("reading '{}'", name);
  if (net->is_output(port)) {
    check_ran(context);
    if (rebound.contains(port.slot)) {
      throw_invalid_argument(
          "{}: it was bound to another buffer after the last run: run again first", context);
    }
  } else {
    check_idle(context);
    if (port.folded) {
      throw_invalid_argument(
          "{}: it lies folded in width, see CompiledNetwork::desc(): map its buffer", context);
    }
  }
  unpack(port, bindings[port.slot].buffer.map(MapMode::kRead));
}

Request::Request(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
// The run, if there is one, holds what it needs.
Request::~Request() = default;

Request::Impl& Request::impl() const {
  if (impl_ == nullptr) throw_invalid_argument("the request is empty: it was moved from");
  return *impl_;
}

CompiledNetwork Request::network() const {
  return detail::Handles::make<CompiledNetwork>(impl().net);
}

Buffer Request::buffer(std::string_view name) const {
  const Impl::Port& port = impl().net->port(name);
  const std::lock_guard lock(impl().mutex);
  return impl().bindings[port.slot].buffer;
}

void Request::bind(std::string_view name, const Buffer& buffer) {
  const Impl::Port& port = impl().net->port(name);
  const std::lock_guard lock(impl().mutex);
  impl().check_idle(fmt::format("binding '{}'", name));
  Buffer& bound = impl().bindings[port.slot].buffer;
  check_bound(name, buffer, bound, impl().net->slots[port.slot].size);
  bound = buffer;
  impl().rebound.insert(port.slot);
}

void Request::write(std::string_view name, Layout layout, std::span<const std::int8_t> source) {
  impl().write(name, layout, source);
}

void Request::write(std::string_view name, Layout layout, std::span<const std::int16_t> source) {
  impl().write(name, layout, source);
}

void Request::write(std::string_view name, Layout layout, std::span<const std::uint16_t> source) {
  impl().write(name, layout, source);
}

void Request::write(std::string_view name, Layout layout, std::span<const float> source) {
  impl().write_reals(name, layout, source);
}

void Request::write_pixels(std::string_view name, std::span<const std::byte> plane,
                           std::span<const std::byte> plane_uv) {
  const Impl::Port& port = impl().net->input(name);
  const ImageDesc& image = impl().net->pixels(port);
  const std::lock_guard lock(impl().mutex);
  impl().check_idle(fmt::format("writing '{}'", name));
  const Map map = impl().map_input(port);
  pack_image(impl().net->device.info(), image, plane, plane_uv, Impl::bytes(port, map));
}

void Request::read(std::string_view name, Layout layout, std::span<std::int8_t> target) const {
  impl().read(name, [&](const Impl::Port& port, const Map& map) {
    unpack(port.desc, layout, Impl::bytes(port, map), target);
  });
}

void Request::read(std::string_view name, Layout layout, std::span<std::int16_t> target) const {
  impl().read(name, [&](const Impl::Port& port, const Map& map) {
    unpack(port.desc, layout, Impl::bytes(port, map), target);
  });
}

void Request::read(std::string_view name, Layout layout, std::span<std::uint16_t> target) const {
  impl().read(name, [&](const Impl::Port& port, const Map& map) {
    unpack(port.desc, layout, Impl::bytes(port, map), target);
  });
}

void Request::read(std::string_view name, Layout layout, std::span<float> target) const {
  impl().read(name, [&](const Impl::Port& port, const Map& map) {
    impl().net->check_reals(port);
    unpack(port.desc, layout, Impl::bytes(port, map), port.quantization, target);
  });
}

Fence Request::submit(const SubmitOptions& options) {
  const std::lock_guard lock(impl().mutex);
  impl().check_idle("submitting");
  impl().last = impl().net->submit(impl().queues, impl().bindings, options);
  impl().rebound.clear();
  return impl().last;
}

void Request::run() {
  Fence fence;
  {
    const detail::WaitFollows promise;
    fence = submit();
  }
  fence.wait();
}

Fence Request::fence() const {
  const std::lock_guard lock(impl().mutex);
  return impl().last;
}

std::span<const nvdla_layer_stats> Request::statistics() const {
  const std::lock_guard lock(impl().mutex);
  if (!impl().net->statistics) return {};
  impl().check_ran("statistics");
  return impl().last.statistics();
}

}  // namespace nvdla
