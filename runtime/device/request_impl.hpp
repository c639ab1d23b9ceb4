// SPDX-License-Identifier: MIT
//
// The state of a request: its buffers, its queues and its last run.
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
  // Calls `unpack(port, map)` with the contents of an output, or of the input of that name.
  template <typename Unpack>
  void read(std::string_view name, const Unpack& unpack) const;

  Map map_input(const Port& port) const;
  static std::span<std::byte> bytes(const Port& port, const Map& map);

  // check_idle() and check_ran() throw if the request's state does not allow the operation that
  // `context` names. The caller holds `mutex`. check_idle() refuses access to buffers during a run.
  void check_idle(std::string_view context) const;
  // Checks that there was a run, and that it ended without an error.
  void check_ran(std::string_view context) const;

  const std::shared_ptr<const Network> net;
  const Network::Queues queues;

  // Guards every member below.
  mutable std::mutex mutex;
  std::vector<Binding> bindings;
  std::set<std::uint32_t> rebound;  // slots bound to another buffer since the last run
  Fence last;
};

namespace detail {

// Returns a request whose runs go to `queue`. Refuses a queue of another device.
Request make_request(std::shared_ptr<const CompiledNetwork::Impl> network, const Queue& queue);

}  // namespace detail
}  // namespace nvdla

#endif  // NVDLA_DEVICE_REQUEST_IMPL_HPP
