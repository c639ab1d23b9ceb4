// SPDX-License-Identifier: MIT
#include "backend/registers/bare_runner.hpp"

#include <utility>

#include "backend/registers/bare_buffer.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

BareRunner::BareRunner(std::shared_ptr<BareDevice> device, const nvdla_hw& hw)
    : device_(std::move(device)), hw_(hw), engine_(*device_, hw) {
  int error = engine_.start();
  if (error == NVDLA_START_BUSY && device_->reset()) error = engine_.start();
  if (error != 0) refuse_start(error);
}

void BareRunner::refuse_start(int error) const {
  if (engine_.lost()) throw *engine_.lost();
  const std::string name = device_->describe();
  switch (error) {
    case NVDLA_START_BUSY:
      throw_error(ErrorCode::kBusy,
                  "{}: a unit is running and cannot be reset from here: reset the device", name);
    case NVDLA_START_FLUSH:
      throw_error(
          ErrorCode::kGone,
          "{}: the convolution buffer is not cleared after reset: does the core have its clock?",
          name);
    case NVDLA_START_VERSION:
      throw_error(ErrorCode::kNoDevice, "{}: is no {}", name, hw_.name);
    default:
      throw_error(ErrorCode::kGone, "{}: the device does not answer: registers read as ones", name);
  }
}

std::optional<Error> BareRunner::outcome(const nvdla_job& job) {
  if (engine_.lost()) return engine_.lost();
  if (job.result == NVDLA_JOB_GONE) {
    return job_failure(job, device_->describe() +
                                ": the device does not answer any more: "
                                "registers read as ones");
  }
  if (failed(job)) {
    const std::string busy = engine_.busy_units();
    return job_failure(job, busy.empty() ? "no unit is busy, its interrupt did not come"
                                         : fmt::format("{} did not come to an end", busy));
  }
  const std::string refusals =
      engine_.guarded(std::string(), [&] { return device_->take_refusals(); });
  if (engine_.lost()) return engine_.lost();
  if (refusals.empty()) return std::nullopt;
  return bus_fault(refusals, 0, 0);
}

// Resets the device after a failure. If that fails, abandons the job's buffers, since the device
// may still write to them.
void BareRunner::recover(const Job& job) {
  const std::string name = device_->describe();
  const auto why = [&](const char* otherwise) {
    return engine_.lost() ? engine_.lost()->what() : name + otherwise;
  };
  if (!engine_.guarded(false, [&] { return device_->reset(); })) {
    broken_ = why(": the device cannot be reset after a failure");
  } else if (engine_.start() != 0) {
    broken_ = why(": the device does not start after a reset");
  } else {
    // Drops the refused accesses of the failed job, which are reported already.
    engine_.guarded(std::string(), [&] { return device_->take_refusals(); });
    return;
  }
  for (const LocalBinding& binding : job.bindings()) {
    static_cast<BareBuffer*>(binding.buffer.get())->abandon();
  }
}

std::optional<Error> BareRunner::run(Job& job) {
  if (!broken_.empty()) return Error(ErrorCode::kGone, broken_);
  bases_.clear();
  for (const LocalBinding& binding : job.bindings()) {
    bases_.push_back(binding.buffer->address() + binding.offset);
  }
  nvdla_job engine_job = {};
  engine_job.program = &job.program().program();
  engine_job.bases = bases_.data();
  engine_job.stats = job.stats().empty() ? nullptr : job.stats().data();
  engine_job.stats_stride = sizeof(nvdla_layer_stats);
  engine_job.serial = job.program().serial();

  try {
    engine_.run(engine_job, {}, [&] { return job.canceled(); });
  } catch (const Error& error) {
    return error;
  }
  std::optional<Error> error = outcome(engine_job);
  if (failed(engine_job) || engine_.lost()) recover(job);
  return error;
}

}  // namespace nvdla::detail
