// SPDX-License-Identifier: MIT
#include "backend/background.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace nvdla::detail {
namespace {

using Time = FenceImpl::Clock::time_point;

thread_local bool t_in_callback = false;
thread_local bool t_wait_follows = false;

// What must be joined lives as long as the process, what it works on for ever: handles in static
// objects may be dropped after it.
template <typename State>
class Background {
 public:
  static State& state() {
    static State* const state = new State;
    static Background background(*state);
    return *state;
  }
  ~Background() {
    {
      const std::lock_guard lock(state_.mutex);
      state_.stopping = true;
    }
    state_.changed.notify_all();
    if (!state_.thread.joinable()) return;
    if (state_.thread.get_id() == std::this_thread::get_id()) {
      state_.thread.detach();
    } else {
      state_.thread.join();
    }
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  explicit Background(State& state) : state_(state) {}
  State& state_;
};

struct Common {
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
  bool stopping = false;
};

struct Calls : Common {
  std::deque<std::function<void()>> calls;

  void run() {
    t_in_callback = true;
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stopping || !calls.empty(); });
      if (calls.empty()) return;
      std::function<void()> call = std::move(calls.front());
      calls.pop_front();
      lock.unlock();
      [&]() noexcept { call(); }();
      call = nullptr;
      lock.lock();
    }
  }
};

struct Deadlines : Common {
  // The number tells those of one time apart.
  using Key = std::pair<Time, std::uint64_t>;
  std::map<Key, std::weak_ptr<FenceImpl>> entries;
  std::uint64_t last = 0;

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      if (entries.empty()) {
        changed.wait(lock);
        continue;
      }
      const auto first = entries.begin();
      if (const Time when = first->first.first; when > FenceImpl::Clock::now()) {
        changed.wait_until(lock, when);
        continue;
      }
      std::shared_ptr<FenceImpl> fence = first->second.lock();
      entries.erase(first);
      lock.unlock();
      if (fence != nullptr) fence->cancel(late());
      // Perhaps the last handle, which takes its entry away.
      fence.reset();
      lock.lock();
    }
  }
};

struct Entry {
  explicit Entry(Deadlines::Key at) : key(at) {}
  ~Entry() {
    Deadlines& all = Background<Deadlines>::state();
    const std::lock_guard lock(all.mutex);
    all.entries.erase(key);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  Deadlines::Key key;
};

}  // namespace

void start_callbacks() {
  Calls& all = Background<Calls>::state();
  const std::lock_guard lock(all.mutex);
  if (all.stopping || all.thread.joinable()) return;
  all.thread = std::thread([&all] { all.run(); });
}

void call_later(std::function<void()> call) {
  Calls& all = Background<Calls>::state();
  {
    const std::lock_guard lock(all.mutex);
    if (all.stopping) return;
    all.calls.push_back(std::move(call));
  }
  all.changed.notify_all();
}

bool in_callback() noexcept { return t_in_callback; }

WaitFollows::WaitFollows() noexcept { t_wait_follows = !in_callback(); }
WaitFollows::~WaitFollows() { t_wait_follows = false; }
bool WaitFollows::is_promised() noexcept { return t_wait_follows; }

void arm_deadline(const std::shared_ptr<FenceImpl>& fence, Time when) {
  if (when == Time::max() || fence->done()) return;
  Deadlines& all = Background<Deadlines>::state();
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(all.mutex);
    if (all.stopping) return;
    entry = std::make_shared<Entry>(Deadlines::Key(when, ++all.last));
    all.entries.emplace(entry->key, fence);
    if (!all.thread.joinable()) all.thread = std::thread([&all] { all.run(); });
  }
  all.changed.notify_all();
  fence->keep_deadline(std::move(entry));
}

}  // namespace nvdla::detail
