// SPDX-License-Identifier: MIT
//
// Several programs one after another, with operations of the CPU between them, as one submission.
#ifndef NVDLA_DEVICE_CHAIN_FENCE_HPP
#define NVDLA_DEVICE_CHAIN_FENCE_HPP

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/backend.hpp"
#include "backend/background.hpp"
#include "nvdla/queue.hpp"

namespace nvdla::detail {

// One of the two.
struct ChainStep {
  // Submits a program. Throws Error.
  std::function<Fence(const SubmitOptions&)> submit = {};
  std::uint32_t first_layer = 0;  // what errors call the program's first one
  // Computes, on the thread of callbacks. Throws Error.
  std::function<void()> compute = {};
  bool counted = false;  // as a layer, whose statistics are zeros
};

// Statistics are those of all programs; what failed first is how it failed.
class ChainFence final : public FenceImpl, public std::enable_shared_from_this<ChainFence> {
 public:
  // Throws what the first step throws if that is a program: nothing has run then.
  static Fence start(std::vector<ChainStep> steps, const SubmitOptions& options);

  ChainFence(std::vector<ChainStep> steps, const SubmitOptions& options);

  bool done() const noexcept override;
  bool wait(std::optional<Clock::time_point> until) override;
  const Error* error() const noexcept override { return error_ ? &*error_ : nullptr; }
  std::span<const nvdla_layer_stats> statistics() const noexcept override { return statistics_; }
  void on_done(std::function<void()> then) override;
  bool cancel(const Error& why) override;

 private:
  void follow(Fence fence, const ChainStep& step);
  void step_ended(const Fence& step, std::uint32_t first_layer);
  void wait_ended();
  void advance();
  void compute(const ChainStep& step) noexcept;
  void finish(std::optional<Error> error);

  // `Held` is what a chain needs no more once it has ended.
  struct Held {
    std::vector<ChainStep> steps;
    std::vector<Fence> waits;

    void clear() {
      steps.clear();
      waits.clear();
    }
  };

  std::vector<ChainStep> steps_;
  std::vector<Fence> waits_;
  // Releases it on the thread of callbacks: it holds the device, which must not close on the thread
  // that runs its jobs.
  const std::shared_ptr<Held> held_ = std::make_shared<Held>();
  PreparedCall end_;
  const Clock::time_point deadline_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::size_t waiting_ = 0;  // for so many ends before the first step
  Fence current_;            // empty while no program runs
  std::optional<Error> canceled_;
  std::vector<std::function<void()>> then_;
  bool done_ = false;
  // Once done.
  std::optional<Error> error_;
  std::vector<nvdla_layer_stats> statistics_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_CHAIN_FENCE_HPP
