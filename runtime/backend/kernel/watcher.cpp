// SPDX-License-Identifier: MIT
#include "backend/kernel/watcher.hpp"

#include <utility>

namespace nvdla::detail {

Watcher::Watcher() : state_(std::make_shared<State>()) {}

Watcher::~Watcher() {
  if (!made_.is_here()) {
    // The thread is the parent's, which may have held the mutex.
    if (thread_.joinable()) thread_.detach();
    static_cast<void>(new std::shared_ptr<State>(std::move(state_)));
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Watcher::watch(std::shared_ptr<FenceImpl> fence, std::function<void()> then) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->entries.push_back({std::move(fence), std::move(then)});
    if (!thread_.joinable()) {
      thread_ =
          start_thread("that watches the jobs of the kernel", [state = state_] { run(*state); });
    }
  }
  state_->changed.notify_all();
}

// In the order of the requests: jobs of a device end nearly in that order.
void Watcher::run(State& state) {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.stopping || !state.entries.empty(); });
    if (state.entries.empty()) return;
    Entry entry = std::move(state.entries.front());
    state.entries.pop_front();
    lock.unlock();
    entry.fence->wait(std::nullopt);
    entry.then();
    entry = {};
    lock.lock();
  }
}

}  // namespace nvdla::detail
