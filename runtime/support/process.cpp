// SPDX-License-Identifier: MIT
#include "support/process.hpp"

#include <pthread.h>

#include <atomic>

namespace nvdla::detail {
namespace {

std::atomic<std::uint32_t> g_number{0};

}  // namespace

std::uint32_t process_number() noexcept {
  static const bool kRegistered = ::pthread_atfork(nullptr, nullptr, [] {
                                    g_number.fetch_add(1, std::memory_order_relaxed);
                                  }) == 0;
  static_cast<void>(kRegistered);
  return g_number.load(std::memory_order_relaxed);
}

}  // namespace nvdla::detail
