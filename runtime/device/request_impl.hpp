// SPDX-License-Identifier: MIT
//
// What a request has for itself.
#ifndef NVDLA_DEVICE_REQUEST_IMPL_HPP
#define NVDLA_DEVICE_REQUEST_IMPL_HPP

#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "device/compiled_impl.hpp"
#include "nvdla/request.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {

struct Request::Impl {
  using Network = CompiledNetwork::Impl;
  using Port = Network::Port;

  Impl(std::shared_ptr<const Network> network, Queue in)
      : net(std::move(network)),
        queues(net->make_queues(std::move(in))),
        bindings(net->make_bindings()) {}

  template <typename T>
  void write(std::string_view name, Layout layout, std::span<const T> source);
  void write_reals(std::string_view name, Layout layout, std::span<const float> source);
  // Calls `unpack(port, map)` with the elements of an output, or with those that an input has.
  template <typename Unpack>
  void read(std::string_view name, const Unpack& unpack) const;

  Map map_input(const Port& port) const;
  static std::span<std::byte> bytes(const Port& port, const Map& map);

  // Both throw if the state of the request does not allow what `context` names. The caller holds
  // `mutex`. Nothing may touch the buffers while a run does.
  void check_idle(std::string_view context) const;
  // Checks that there was a run, and that it ended well.
  void check_ran(std::string_view context) const;

  const std::shared_ptr<const Network> net;
  const Network::Queues queues;

  // Guards every member below.
  mutable std::mutex mutex;
  std::vector<Binding> bindings;
  std::set<std::uint32_t> rebound;  // slots whose buffer the last run did not have
  Fence last;
};

namespace detail {

// Returns a request whose runs go to `queue`. Refuses a queue of another device.
Request make_request(std::shared_ptr<const CompiledNetwork::Impl> network, const Queue& queue);

}  // namespace detail
}  // namespace nvdla

#endif  // NVDLA_DEVICE_REQUEST_IMPL_HPP
