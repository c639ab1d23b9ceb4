// SPDX-License-Identifier: MIT
#include "backend/background.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "support/process.hpp"

namespace nvdla::detail {
namespace {

using Time = FenceImpl::Clock::time_point;

thread_local bool t_in_callback = false;
thread_local bool t_wait_follows = false;

struct Common {
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
  bool stopping = false;
  MadeHere made;
};

// Joins the thread of a state when the process ends; the state stays for ever, as handles in static
// objects may be dropped after that. A child of fork() has a state of its own: it has no thread of
// its parent, which may have held the mutex.
template <typename State>
class Background {
 public:
  static State& state() {
    static Background background;
    State* known = current.load(std::memory_order_acquire);
    if (known != nullptr && known->made.is_here()) return *known;
    auto made = std::make_unique<State>();
    if (current.compare_exchange_strong(known, made.get())) return *made.release();
    return *known;
  }
  ~Background() {
    State* const state = current.load(std::memory_order_acquire);
    if (state == nullptr || !state->made.is_here()) return;
    {
      const std::lock_guard lock(state->mutex);
      state->stopping = true;
    }
    state->changed.notify_all();
    if (!state->thread.joinable()) return;
    if (state->thread.get_id() == std::this_thread::get_id()) {
      state->thread.detach();
    } else {
      state->thread.join();
    }
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  Background() = default;
  static inline std::atomic<State*> current{nullptr};
};

struct Calls : Common {
  PreparedCall calls;

  void run() {
    t_in_callback = true;
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stopping || !calls.empty(); });
      if (calls.empty()) return;
      PreparedCall call;
      call.splice(call.end(), calls, calls.begin());
      lock.unlock();
      [&]() noexcept { call.front()(); }();
      call.clear();
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
  static_cast<void>(out_of_memory());
  Calls& all = Background<Calls>::state();
  const std::lock_guard lock(all.mutex);
  if (all.stopping || all.thread.joinable()) return;
  all.thread = start_thread("that calls what is to follow a job", [&all] { all.run(); });
}

PreparedCall prepare_call(std::function<void()> call) {
  PreparedCall prepared;
  prepared.push_back(std::move(call));
  return prepared;
}

void call_later(PreparedCall call) noexcept {
  Calls& all = Background<Calls>::state();
  {
    // Once the process ends nobody may call it. It is kept all the same: what it holds may be the
    // device whose thread this is.
    const std::lock_guard lock(all.mutex);
    all.calls.splice(all.calls.end(), call);
  }
  all.changed.notify_all();
}

void call_later(std::function<void()> call) { call_later(prepare_call(std::move(call))); }

bool in_callback() noexcept { return t_in_callback; }

WaitFollows::WaitFollows() noexcept { t_wait_follows = !in_callback(); }
WaitFollows::~WaitFollows() { t_wait_follows = false; }
bool WaitFollows::is_promised() noexcept { return t_wait_follows; }

namespace {

// The caller holds its mutex.
void start(Deadlines& all) {
  if (all.stopping || all.thread.joinable()) return;
  all.thread = start_thread("that ends jobs whose deadline has passed", [&all] { all.run(); });
}

}  // namespace

void start_deadlines(Time when) {
  if (when == Time::max()) return;
  static_cast<void>(late());
  Deadlines& all = Background<Deadlines>::state();
  const std::lock_guard lock(all.mutex);
  start(all);
}

void arm_deadline(const std::shared_ptr<FenceImpl>& fence, Time when) {
  if (when == Time::max() || fence->done()) return;
  Deadlines& all = Background<Deadlines>::state();
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(all.mutex);
    if (all.stopping) return;
    entry = std::make_shared<Entry>(Deadlines::Key(when, ++all.last));
    all.entries.emplace(entry->key, fence);
    start(all);
  }
  all.changed.notify_all();
  fence->keep_deadline(std::move(entry));
}

}  // namespace nvdla::detail
