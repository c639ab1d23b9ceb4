// SPDX-License-Identifier: MIT
#include "backend/kernel/backlog.hpp"

#include <utility>

namespace nvdla::detail {
namespace {

// Up to so many the end is not asked for: it is a call of the kernel.
constexpr std::size_t kFew = 64;

}  // namespace

SyncObject::SyncObject(std::shared_ptr<const Node> node)
    : node_(std::move(node)), handle_(node_->create_syncobj()) {}

SyncObject::~SyncObject() { node_->destroy_syncobj(handle_); }

bool SyncObject::wait(std::optional<FenceImpl::Clock::time_point> until) const {
  return node_->wait(handle_, until);
}

bool SyncObject::ended() const noexcept {
  try {
    return wait(FenceImpl::Clock::time_point());
  } catch (const Error&) {
    // The device is gone: who waits for it is told.
    return false;
  }
}

void Backlog::add(std::shared_ptr<const SyncObject> job) {
  const std::lock_guard lock(mutex_);
  while (jobs_.size() >= kFew && jobs_.front()->ended()) jobs_.pop_front();
  jobs_.push_back(std::move(job));
}

bool Backlog::wait_for_oldest() {
  std::shared_ptr<const SyncObject> oldest;
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.empty()) return false;
    oldest = jobs_.front();
  }
  oldest->wait(std::nullopt);
  const std::lock_guard lock(mutex_);
  // Unless somebody else waited for the same.
  if (!jobs_.empty() && jobs_.front() == oldest) jobs_.pop_front();
  return true;
}

}  // namespace nvdla::detail
