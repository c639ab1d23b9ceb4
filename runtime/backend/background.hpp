// SPDX-License-Identifier: MIT
//
// Two threads of this process act when jobs end: one ends jobs whose deadline has passed, the other
// runs the callbacks of applications. Each thread starts when it is first needed and is joined when
// the process ends. Threads that run jobs never run an application's code, which may wait or drop
// the last handle of a device.
#ifndef NVDLA_BACKEND_BACKGROUND_HPP
#define NVDLA_BACKEND_BACKGROUND_HPP

#include <functional>
#include <list>
#include <memory>

#include "backend/backend.hpp"

namespace nvdla::detail {

// Starts the thread for call_later(), which then needs none. Throws kNoMemory.
void start_callbacks();
// Starts the thread for arm_deadline() if there is a deadline, likewise.
void start_deadlines(FenceImpl::Clock::time_point when);
// Calls prepared in advance, so that call_later() need not allocate: they are made where a failure
// can still be reported.
using PreparedCall = std::list<std::function<void()>>;
PreparedCall prepare_call(std::function<void()> call);
// Runs `call` on the callback thread, after earlier calls. `call` must not throw.
void call_later(PreparedCall call) noexcept;
// Prepares the call, too. Throws std::bad_alloc.
void call_later(std::function<void()> call);
// Does this thread run such a call now?
bool in_callback() noexcept;

// While a `WaitFollows` exists, this thread promises to wait at once for each job that it submits
// (JobTerms::waited_for). In a callback, which may not wait, it promises nothing.
class WaitFollows {
 public:
  WaitFollows() noexcept;
  ~WaitFollows();
  WaitFollows(const WaitFollows&) = delete;
  WaitFollows& operator=(const WaitFollows&) = delete;

  static bool is_promised() noexcept;
};

// Cancels `fence` with kDeadline at `when`, unless the fence is destroyed before.
void arm_deadline(const std::shared_ptr<FenceImpl>& fence, FenceImpl::Clock::time_point when);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_BACKGROUND_HPP
