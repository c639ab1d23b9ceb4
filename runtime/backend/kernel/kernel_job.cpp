// SPDX-License-Identifier: MIT
#include "backend/kernel/kernel_job.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "support/check.hpp"
#include "support/descriptor.hpp"

namespace nvdla::detail {
namespace {

// Translates the errno of a fence, see "Fence errors" in uapi/drm/nvdla_accel.h.
Error fence_error(const Node& node, int error) {
  switch (error) {
    case ECANCELED:
      return {
          ErrorCode::kCanceled,
          fmt::format("{}: an earlier job of the queue hung, this one was not run", node.path())};
    case ENODEV:
      return {ErrorCode::kGone,
              fmt::format("{}: the device is gone or cannot be reset after a hang", node.path())};
    default:
      return {ErrorCode::kGone,
              fmt::format("{}: the job failed: {}", node.path(), std::strerror(error))};
  }
}

}  // namespace

KernelJob::KernelJob(std::shared_ptr<KernelCore> core, std::shared_ptr<const KernelProgram> program,
                     std::vector<BoundBuffer> bindings, const JobTerms& terms)
    : core_(std::move(core)),
      program_(std::move(program)),
      syncobj_(std::make_shared<const SyncObject>(core_->node())),
      deadline_(terms.deadline),
      bindings_(std::move(bindings)),
      waits_(terms.waits.begin(), terms.waits.end()) {}

bool KernelJob::waits_outside() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(waits_.begin(), waits_.end(), [this](const auto& wait) {
    if (wait->done()) return false;
    const auto* job = dynamic_cast<const KernelJob*>(wait.get());
    return job == nullptr || job->core_ != core_ || job->state_.load() == State::kHeld;
  });
}

const Error* KernelJob::failed_wait() const {
  for (const auto& wait : waits_) {
    if (wait->done() && wait->error() != nullptr) return wait->error();
  }
  return nullptr;
}

// Returns the error of a hung job. The kernel reports the layer that hung with the context, in
// which no other job hung.
Error KernelJob::hang() const {
  nvdla_error detail{};
  detail.object = NVDLA_OBJECT_LAYER;
  const auto layer = context_->guilty_layer();
  if (!layer || *layer >= program_->layers()) {
    detail.object = NVDLA_OBJECT_PROGRAM;
    return {ErrorCode::kHang,
            fmt::format("{}: a layer of the job does not end", core_->node()->path()), detail};
  }
  detail.index = *layer;
  return {ErrorCode::kHang,
          fmt::format("{}: layer {} ({}) does not end", core_->node()->path(), *layer,
                      layer_kind_name(program_->compiled().layers[*layer].kind)),
          detail};
}

int KernelJob::submit(std::shared_ptr<const KernelContext> context) {
  const std::lock_guard lock(mutex_);
  if (state_.load() == State::kDone) return 0;
  std::vector<drm_nvdla_binding> bindings;
  for (const BoundBuffer& bound : bindings_) {
    const auto* buffer = static_cast<const KernelBuffer*>(bound.buffer.get());
    bindings.push_back({bound.offset, buffer == nullptr ? 0 : buffer->handle(), 0});
  }
  std::vector<drm_nvdla_sync> syncs;
  for (const auto& wait : waits_) {
    // The others are done: submission was put off until then.
    const auto* job = dynamic_cast<const KernelJob*>(wait.get());
    if (job != nullptr && job->core_ == core_ && job->state_.load() == State::kSubmitted) {
      syncs.push_back({job->syncobj_->handle(), DRM_NVDLA_SYNC_WAIT, 0});
    }
  }
  syncs.push_back({syncobj_->handle(), DRM_NVDLA_SYNC_SIGNAL, 0});
  if (syncs.size() > DRM_NVDLA_MAX_SYNCS) return E2BIG;

  nvdla_error error{};
  drm_nvdla_submit submit{};
  submit.bindings = {reinterpret_cast<std::uintptr_t>(bindings.data()),
                     static_cast<std::uint32_t>(bindings.size()),
                     bindings.empty() ? 0 : static_cast<std::uint32_t>(sizeof(bindings[0]))};
  if (bindings.empty()) submit.bindings.pointer = 0;
  submit.syncs = {reinterpret_cast<std::uintptr_t>(syncs.data()),
                  static_cast<std::uint32_t>(syncs.size()), sizeof(syncs[0])};
  submit.error = reinterpret_cast<std::uintptr_t>(&error);
  submit.error_bytes = sizeof(error);
  submit.context = context->id();
  submit.program = program_->id();
  if (program_->statistics() && program_->layers() != 0) {
    if (stats_buffer_ == nullptr) {
      stats_buffer_ = core_->take_stats(program_->layers() * sizeof(nvdla_layer_stats));
    }
    submit.stats_handle = stats_buffer_->handle();
    submit.stats_stride = sizeof(nvdla_layer_stats);
  }
  const int code = core_->node()->call(DRM_IOCTL_NVDLA_SUBMIT, &submit);
  if (error.rule != NVDLA_RULE_NONE) throw Error(ErrorCode::kInvalidBinding, error);
  if (code == 0) {
    core_->backlog().add(syncobj_);
    context_ = std::move(context);
    state_.store(State::kSubmitted);
    changed_.notify_all();
    watch_locked();
  }
  return code;
}

std::vector<std::shared_ptr<FenceImpl>> KernelJob::waits() const {
  const std::lock_guard lock(mutex_);
  return waits_;
}

void KernelJob::when_withdrawn(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  withdrawn_ = std::move(call);
}

void KernelJob::check_terms() {
  const std::lock_guard lock(mutex_);
  if (state_.load() == State::kDone) return;
  if (const Error* failed = failed_wait()) {
    fail_locked(wait_failed(*failed));
  } else if (deadline_ <= Clock::now()) {
    fail_locked(late());
  }
}

bool KernelJob::cancel(const Error& why) {
  if (done()) return false;
  std::function<void()> withdrawn;
  {
    const std::lock_guard lock(mutex_);
    if (state_.load() == State::kDone) return false;
    if (state_.load() == State::kSubmitted) {
      if (!canceled_) canceled_ = why;
      return true;
    }
    withdrawn = std::move(withdrawn_);
    fail_locked(why);
  }
  if (withdrawn) withdrawn();
  return true;
}

void KernelJob::fail(Error error) {
  const std::lock_guard lock(mutex_);
  fail_locked(std::move(error));
}

void KernelJob::fail_locked(Error error) {
  error_ = std::move(error);
  bindings_.clear();
  waits_.clear();
  state_.store(State::kDone);
  changed_.notify_all();
  watch_locked();
}

bool KernelJob::poll(std::optional<Clock::time_point> until) const {
  {
    std::unique_lock lock(mutex_);
    const auto given = [this] { return state_.load() != State::kHeld; };
    if (!until) {
      changed_.wait(lock, given);
    } else if (!changed_.wait_until(lock, *until, given)) {
      return false;
    }
  }
  if (state_.load() == State::kDone) return true;
  if (!syncobj_->wait(until)) return false;
  settle();
  return true;
}

void KernelJob::settle() const {
  const std::lock_guard lock(mutex_);
  if (state_.load() == State::kDone) return;
  if (const int status = syncobj_->status(); status == ETIME) {
    error_ = hang();
  } else if (status != 0) {
    error_ = fence_error(*core_->node(), status);
  } else if (const Error* failed = failed_wait()) {
    // The kernel waits for the end of a job, well or not.
    error_ = wait_failed(*failed);
  } else {
    error_ = canceled_;
  }
  if (stats_buffer_ != nullptr) {
    stats_.resize(program_->layers());
    std::memcpy(stats_.data(), stats_buffer_->data(), stats_.size() * sizeof(stats_[0]));
    core_->give_stats(std::move(stats_buffer_));
  }
  context_.reset();
  bindings_.clear();
  waits_.clear();
  state_.store(State::kDone);
}

bool KernelJob::done() const noexcept {
  if (state_.load() == State::kDone) return true;
  try {
    return poll(Clock::time_point());
  } catch (...) {
    // Out of memory for a message, or the device is gone: wait() tells.
    return false;
  }
}

bool KernelJob::wait(std::optional<Clock::time_point> until) { return poll(until); }

std::shared_ptr<Descriptor> KernelJob::make_poll_fd() {
  if (state_.load() != State::kSubmitted) return FenceImpl::make_poll_fd();
  return std::make_shared<Descriptor>(core_->node()->export_sync_file(syncobj_->handle()));
}

void KernelJob::watch_locked() {
  for (auto& then : then_) core_->watcher().watch(shared_from_this(), std::move(then));
  then_.clear();
}

void KernelJob::on_done(std::function<void()> then) {
  {
    const std::lock_guard lock(mutex_);
    if (state_.load() == State::kHeld) {
      then_.push_back(std::move(then));
      return;
    }
  }
  if (done()) {
    then();
  } else {
    core_->watcher().watch(shared_from_this(), std::move(then));
  }
}

}  // namespace nvdla::detail
