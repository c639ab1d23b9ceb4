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

  Impl(std::shared_ptr<const Network> network, Queue in, std::string_view called)
      : net(std::move(network)),
        noun(called),
        queues(net->make_queues(std::move(in))),
        bindings(net->make_bindings()) {}

  template <typename T>
  void write(std::string_view name, Layout layout, std::span<const T> source);
  void write_reals(std::string_view name, Layout layout, std::span<const float> source);
  // Calls `unpack(port, map)` with the elements of an output.
  template <typename Unpack>
  void read(std::string_view name, const Unpack& unpack) const;

  Map map_input(const Port& port) const;
  static std::span<std::byte> bytes(const Port& port, const Map& map);

  // What the state of the request allows; `what` would have been done. The caller holds `mutex`.
  // Nothing may touch the buffers while a run does.
  void check_idle(std::string_view what) const;
  // There was a run, and it ended well.
  void check_ran(std::string_view what) const;

  const std::shared_ptr<const Network> net;
  const std::string_view noun;  // what errors call it
  const Network::Queues queues;

  // Of everything that changes, all below.
  mutable std::mutex mutex;
  std::vector<Binding> bindings;
  std::set<std::uint32_t> rebound;  // slots whose buffer the last run did not have
  Fence last;
};

namespace detail {

// Refuses a queue of another device. `noun` is what errors call it.
Request make_request(std::shared_ptr<const CompiledNetwork::Impl> network, const Queue& queue,
                     std::string_view noun);

}  // namespace detail
}  // namespace nvdla

#endif  // NVDLA_DEVICE_REQUEST_IMPL_HPP
