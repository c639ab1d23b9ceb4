// SPDX-License-Identifier: MIT
#include "nvdla/request_pool.hpp"

#include <vector>

#include "support/check.hpp"

namespace nvdla {
namespace {

// However it ends. Throws only where one may not wait.
void wait_for_end(const Request& request) {
  const Fence fence = request.fence();
  try {
    fence.wait();
  } catch (const Error&) {
    if (!fence.done()) throw;
  }
}

}  // namespace

struct RequestPool::Impl {
  std::vector<Request> requests;
  std::size_t turn = 0;  // of the one that comes next
};

RequestPool::RequestPool(const CompiledNetwork& network, std::uint32_t requests)
    : impl_(std::make_unique<Impl>()) {
  if (requests == 0) detail::throw_invalid_argument("a pool of 0 requests: expected at least 1");
  for (std::uint32_t i = 0; i < requests; ++i) {
    impl_->requests.push_back(network.create_request());
  }
}

RequestPool::RequestPool(RequestPool&&) noexcept = default;
RequestPool& RequestPool::operator=(RequestPool&&) noexcept = default;
RequestPool::~RequestPool() = default;

RequestPool::Impl& RequestPool::impl() const {
  if (impl_ == nullptr)
    detail::throw_invalid_argument("the pool of requests is empty: it was moved from");
  return *impl_;
}

std::uint32_t RequestPool::size() const noexcept {
  return impl_ == nullptr ? 0 : static_cast<std::uint32_t>(impl_->requests.size());
}

Request& RequestPool::at(std::uint32_t index) {
  if (index >= impl().requests.size()) {
    detail::throw_invalid_argument("request {}: the pool has {}", index, size());
  }
  return impl().requests[index];
}

Request& RequestPool::next() {
  Impl& pool = impl();
  Request& request = pool.requests[pool.turn];
  wait_for_end(request);
  pool.turn = (pool.turn + 1) % pool.requests.size();
  return request;
}

void RequestPool::wait() const {
  for (const Request& request : impl().requests) wait_for_end(request);
}

void RequestPool::run(std::uint64_t count, const Step& fill, const Step& take) {
  Impl& pool = impl();
  if (!fill || !take)
    detail::throw_invalid_argument("a pool fills and takes: both functions are needed");
  for (const Request& request : pool.requests) {
    if (!request.fence().done()) {
      detail::throw_error(ErrorCode::kBusy, "a request of the pool is running: wait() first");
    }
  }
  const std::uint64_t depth = pool.requests.size();
  try {
    for (std::uint64_t i = 0; i < count + depth; ++i) {
      Request& request = pool.requests[i % depth];
      if (i >= depth && i - depth < count) {
        request.fence().wait();
        take(request, i - depth);
      }
      if (i >= count) continue;
      fill(request, i);
      request.submit();
    }
  } catch (...) {
    for (const Request& request : pool.requests) request.fence().cancel();
    wait();
    throw;
  }
}

}  // namespace nvdla
