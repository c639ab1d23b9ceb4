// SPDX-License-Identifier: MIT
//
// A fence that the test ends by hand: what waits for it does not start before.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_MANUAL_FENCE_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_MANUAL_FENCE_HPP

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "backend/backend.hpp"
#include "nvdla/queue.hpp"
#include "support/handles.hpp"

namespace nvdla::test {

class ManualFence final : public detail::FenceImpl {
 public:
  bool done() const noexcept override { return done_; }
  bool wait(std::optional<Clock::time_point>) override { return done_; }
  const Error* error() const noexcept override { return error_ ? &*error_ : nullptr; }
  std::span<const nvdla_layer_stats> statistics() const noexcept override { return {}; }
  void on_done(std::function<void()> then) override { then_ = std::move(then); }
  bool cancel(const Error&) override { return false; }
  void end(std::optional<Error> error = {}) {
    error_ = std::move(error);
    done_ = true;
    // Who was told is held no longer.
    if (const auto then = std::exchange(then_, nullptr)) then();
  }

 private:
  std::atomic<bool> done_{false};
  std::optional<Error> error_;
  std::function<void()> then_;
};

inline Fence fence_of(const std::shared_ptr<ManualFence>& gate) {
  return detail::Handles::make<Fence>(std::shared_ptr<detail::FenceImpl>(gate));
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_MANUAL_FENCE_HPP
