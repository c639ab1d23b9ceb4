// SPDX-License-Identifier: MIT
//
// Work on as many threads as there are processors.
#ifndef NVDLA_EXAMPLES_NETWORKS_PARALLEL_HPP
#define NVDLA_EXAMPLES_NETWORKS_PARALLEL_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace networks {

// body(0) ... body(count - 1), in any order; none may throw.
template <typename Body>
void in_parallel(std::uint32_t count, const Body& body) {
  std::atomic<std::uint32_t> next = 0;
  const auto work = [&] {
    for (std::uint32_t i; (i = next.fetch_add(1)) < count;) body(i);
  };
  std::vector<std::jthread> others;
  const std::uint32_t threads = std::min(count, std::max(1U, std::thread::hardware_concurrency()));
  for (std::uint32_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
}

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_PARALLEL_HPP
