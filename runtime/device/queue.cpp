// SPDX-License-Identifier: MIT
#include "nvdla/queue.hpp"

#include <fmt/format.h>

#include <memory_resource>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/background.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"
#include "support/stack_memory.hpp"

namespace nvdla {
namespace {

using detail::Handles;
using detail::throw_invalid_argument;

// Throws in a callback: a callback that waits for another job's callback would wait for itself.
void check_may_wait(const detail::FenceImpl& fence) {
  if (fence.done()) return;
  fence.made().check("the job");
  if (!detail::in_callback()) return;
  throw_invalid_argument(
      "waiting in a callback (Fence::on_end) for what has not ended: submit what follows with "
      "wait_fences, or wait on another thread");
}

void check_ended_well(const detail::FenceImpl& fence) {
  const Error* error = fence.error();
  if (error == nullptr) return;
  const auto& names = fence.layer_names();
  const auto layer = static_cast<std::size_t>(error->layer());
  // An error of no layer has the greatest number as its layer.
  if (names == nullptr || layer >= names->size() || (*names)[layer].empty()) throw Error(*error);
  throw Error(static_cast<ErrorCode>(error->code().value()),
              fmt::format("'{}': {}", (*names)[layer], error->what()), error->detail());
}

}  // namespace

Fence::Fence() noexcept = default;
Fence::Fence(std::shared_ptr<detail::FenceImpl> impl) noexcept : impl_(std::move(impl)) {}
Fence::Fence(const Fence&) noexcept = default;
Fence::Fence(Fence&&) noexcept = default;
Fence& Fence::operator=(const Fence&) noexcept = default;
Fence& Fence::operator=(Fence&&) noexcept = default;
Fence::~Fence() = default;

bool Fence::done() const noexcept { return impl_ == nullptr || impl_->done(); }

void Fence::wait() const {
  if (impl_ == nullptr) return;
  check_may_wait(*impl_);
  impl_->wait(std::nullopt);
  check_ended_well(*impl_);
}

bool Fence::wait(std::chrono::nanoseconds timeout) const {
  if (impl_ == nullptr) return true;
  check_may_wait(*impl_);
  const auto now = detail::FenceImpl::Clock::now();
  // A time beyond the end of the clock is for ever.
  std::optional<detail::FenceImpl::Clock::time_point> until;
  if (timeout < detail::FenceImpl::Clock::time_point::max() - now) until = now + timeout;
  if (!impl_->wait(until)) return false;
  check_ended_well(*impl_);
  return true;
}

bool Fence::cancel() const {
  return impl_ != nullptr && impl_->cancel(Error(ErrorCode::kCanceled, "the job was canceled"));
}

int Fence::poll_fd() const {
  if (impl_ == nullptr)
    throw_invalid_argument("the fence handle is empty: there is nothing to poll");
  return impl_->poll_fd();
}

void Fence::on_end(std::function<void()> call) const {
  if (!call) throw_invalid_argument("the function to call at the end is empty");
  detail::start_callbacks();
  auto later = [call = std::move(call)]() mutable { detail::call_later(std::move(call)); };
  if (impl_ == nullptr) {
    later();
  } else {
    impl_->on_done(std::move(later));
  }
}

std::span<const nvdla_layer_stats> Fence::statistics() const noexcept {
  return done() && impl_ != nullptr ? impl_->statistics() : std::span<const nvdla_layer_stats>();
}

Queue::Queue() noexcept = default;
Queue::Queue(std::shared_ptr<detail::QueueImpl> impl) noexcept : impl_(std::move(impl)) {}
Queue::Queue(const Queue&) noexcept = default;
Queue::Queue(Queue&&) noexcept = default;
Queue& Queue::operator=(const Queue&) noexcept = default;
Queue& Queue::operator=(Queue&&) noexcept = default;
Queue::~Queue() = default;

Fence Queue::submit(const Program& program, std::span<const Binding> bindings,
                    const SubmitOptions& options) const {
  if (impl_ == nullptr) throw_invalid_argument("the queue handle is empty");
  impl_->made().check("the queue");
  if (!program) throw_invalid_argument("the program handle is empty");
  if (Handles::impl(program)->device() != impl_->device()) {
    throw_invalid_argument("the program was created for another device");
  }
  if (bindings.size() != program.slots()) {
    throw_invalid_argument("{} buffers bound, the program has {} slots", bindings.size(),
                           program.slots());
  }
  detail::StackMemory<NVDLA_MAX_SLOTS * sizeof(detail::BoundBuffer)> memory_of_bound;
  std::pmr::vector<detail::BoundBuffer> bound(memory_of_bound.resource());
  bound.reserve(bindings.size());
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const auto& buffer = Handles::impl(bindings[i].buffer);
    if (buffer == nullptr && bindings[i].offset == 0 &&
        Handles::impl(program)->is_control(static_cast<std::uint32_t>(i))) {
      bound.emplace_back();
      continue;
    }
    if (buffer == nullptr) throw_invalid_argument("the buffer for slot {} is an empty handle", i);
    if (buffer->device() != impl_->device()) {
      throw_invalid_argument("the buffer for slot {} belongs to another device", i);
    }
    if (bindings[i].offset >= buffer->size()) {
      throw_invalid_argument("the offset {} for slot {} is beyond the buffer's {} bytes",
                             bindings[i].offset, i, buffer->size());
    }
    bound.push_back({buffer, bindings[i].offset});
  }
  detail::start_deadlines(options.deadline);
  std::vector<std::shared_ptr<detail::FenceImpl>> waits;
  waits.reserve(options.wait_fences.size());
  for (const Fence& fence : options.wait_fences) {
    if (fence) waits.push_back(Handles::impl(fence));
  }
  const detail::JobTerms terms = {.waits = waits,
                                  .deadline = options.deadline,
                                  .waited_for = detail::WaitFollows::is_promised()};
  std::shared_ptr<detail::FenceImpl> fence = impl_->submit(Handles::impl(program), bound, terms);
  detail::arm_deadline(fence, options.deadline);
  return Handles::make<Fence>(std::move(fence));
}

}  // namespace nvdla
