// SPDX-License-Identifier: MIT
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "backend/backend.hpp"
#include "base/check.hpp"
#include "base/descriptor.hpp"

namespace nvdla::detail {

Error late() { return {ErrorCode::kDeadline, "the deadline passed before the job had ended"}; }

Error wait_failed(const Error& why) {
  return {ErrorCode::kCanceled,
          fmt::format("a job that this one waits for failed: {}", why.what())};
}

int FenceImpl::poll_fd() {
  const std::lock_guard lock(poll_mutex_);
  if (poll_ == nullptr) poll_ = make_poll_fd();
  return poll_->get();
}

std::shared_ptr<Descriptor> FenceImpl::make_poll_fd() {
  auto file = std::make_shared<Descriptor>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (file->get() < 0) {
    refuse(ErrorCode::kNoMemory, "no file descriptor to poll: {}", std::strerror(errno));
  }
  on_done([file]() {
    // Nobody reads it, so it takes the one.
    const std::uint64_t one = 1;
    static_cast<void>(::write(file->get(), &one, sizeof one));
  });
  return file;
}

}  // namespace nvdla::detail
