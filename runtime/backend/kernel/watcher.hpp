// SPDX-License-Identifier: MIT
//
// Tells who asked to be told that a kernel job has ended. The kernel can only be waited for, so
// this takes a thread; it starts with the first request.
#ifndef NVDLA_BACKEND_KERNEL_WATCHER_HPP
#define NVDLA_BACKEND_KERNEL_WATCHER_HPP

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "backend/backend.hpp"

namespace nvdla::detail {

class Watcher {
 public:
  Watcher();
  // Waits for what is still being watched, unless it is called from there.
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void watch(std::shared_ptr<FenceImpl> fence, std::function<void()> then);

 private:
  struct Entry {
    std::shared_ptr<FenceImpl> fence;
    std::function<void()> then;
  };
  // The thread's too: letting go of an entry may end the last holder of the watcher.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Entry> entries;
    bool stopping = false;
  };

  static void run(State& state);

  std::shared_ptr<State> state_;
  std::thread thread_;
  MadeHere made_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_WATCHER_HPP
