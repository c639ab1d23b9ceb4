// SPDX-License-Identifier: MIT
#include "backend/backend.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "support/check.hpp"
#include "support/descriptor.hpp"

namespace nvdla::detail {

Error out_of_memory() {
  static const Error kError(ErrorCode::kNoMemory, "the host has no memory left for this job");
  return kError;
}

Error late() {
  static const Error kError(ErrorCode::kDeadline, "the deadline passed before the job had ended");
  return kError;
}

Error wait_failed(const Error& why) {
  try {
    return {ErrorCode::kCanceled,
            fmt::format("a job that this one waits for failed: {}", why.what())};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

int FenceImpl::poll_fd() {
  const std::lock_guard lock(poll_mutex_);
  if (poll_ == nullptr) poll_ = make_poll_fd();
  return poll_->get();
}

std::shared_ptr<Descriptor> FenceImpl::make_poll_fd() {
  auto file = std::make_shared<Descriptor>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (file->get() < 0) {
    throw_error(ErrorCode::kNoMemory, "no file descriptor to poll: {}", std::strerror(errno));
  }
  on_done([file]() {
    // Nobody reads it, so it takes the one.
    const std::uint64_t one = 1;
    static_cast<void>(::write(file->get(), &one, sizeof one));
  });
  return file;
}

std::shared_ptr<BufferImpl> Backend::adopt(const std::shared_ptr<HostPages>& pages, Memory memory) {
  std::shared_ptr<BufferImpl> copy = allocate(pages->size(), memory);
  std::memcpy(copy->begin_access(MapMode::kWrite), pages->data(), pages->size());
  copy->end_access(MapMode::kWrite);
  return copy;
}

}  // namespace nvdla::detail
