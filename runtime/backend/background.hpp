// SPDX-License-Identifier: MIT
//
// Two threads of this process for what comes with the end of jobs: one that ends those whose
// deadline has passed, one that calls what applications want to be called. Each starts when it is
// needed and is joined when the process ends. No thread that runs jobs ever runs code of an
// application: that may wait, or drop the last handle of a device.
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
// Calls that call_later() takes without allocating: made where a failure can still be reported.
using PreparedCall = std::list<std::function<void()>>;
PreparedCall prepare_call(std::function<void()> call);
// Calls `call` soon, after those that came before. It must not throw.
void call_later(PreparedCall call) noexcept;
// Prepares the call, too. Throws std::bad_alloc.
void call_later(std::function<void()> call);
// Are we in such a call?
bool in_callback() noexcept;

// What this thread submits meanwhile it waits for at once; not in a callback, where it may not.
class WaitFollows {
 public:
  WaitFollows() noexcept;
  ~WaitFollows();
  WaitFollows(const WaitFollows&) = delete;
  WaitFollows& operator=(const WaitFollows&) = delete;

  static bool is_promised() noexcept;
};

// Cancels `fence` with kDeadline at `when`, unless it is gone before.
void arm_deadline(const std::shared_ptr<FenceImpl>& fence, FenceImpl::Clock::time_point when);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_BACKGROUND_HPP
