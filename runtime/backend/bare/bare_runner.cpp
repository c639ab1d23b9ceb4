// SPDX-License-Identifier: MIT
#include "backend/bare/bare_runner.hpp"

#include <atomic>
#include <utility>

#include "backend/bare/bare_buffer.hpp"
#include "base/check.hpp"
#include "model/register_info.hpp"

namespace nvdla::detail {

template <typename Result, typename Call>
Result BareRunner::guarded(Result otherwise, const Call& call) noexcept {
  if (lost_) return otherwise;
  try {
    return call();
  } catch (const Error& error) {
    lost_ = error;
  } catch (const std::exception& error) {
    lost_ = Error(ErrorCode::kGone, error.what());
  }
  return otherwise;
}

// Memory is coherent, or synchronised before the job came here.
const nvdla_port BareRunner::kPort = {
    .reg_read = [](void* context, u32 offset) -> u32 {
      auto& self = *static_cast<BareRunner*>(context);
      return self.guarded(~u32{0}, [&] { return self.device_->read(offset); });
    },
    .reg_write =
        [](void* context, u32 offset, u32 value) {
          auto& self = *static_cast<BareRunner*>(context);
          self.guarded(false, [&] { return self.device_->write(offset, value), true; });
        },
    .dma_barrier = [](void*) { std::atomic_thread_fence(std::memory_order_seq_cst); },
    .relax =
        [](void* context) {
          auto& self = *static_cast<BareRunner*>(context);
          self.guarded(false, [&] { return self.device_->relax(), true; });
        },
    .now_ns = [](void* context) -> u64 {
      return static_cast<u64>(static_cast<BareRunner*>(context)->device_->now().count());
    },
    .take_irq = nullptr,
    .layer_start = nullptr,
    .layer_end = nullptr,
};

BareRunner::BareRunner(std::shared_ptr<BareDevice> device, const nvdla_hw& hw)
    : device_(std::move(device)), hw_(hw), engine_(std::make_unique<nvdla_engine>()) {
  int error = start();
  if (error == NVDLA_START_BUSY && device_->reset()) error = start();
  if (error != 0) refuse_start(error);
}

int BareRunner::start() {
  nvdla_engine_init(engine_.get(), &hw_, &kPort, this);
  nvdla_engine_set_clock(engine_.get(), device_->clock_khz());
  const int error = -nvdla_engine_start(engine_.get());
  return lost_ ? NVDLA_START_GONE : error;
}

void BareRunner::refuse_start(int error) const {
  if (lost_) throw *lost_;
  const std::string name = device_->describe();
  switch (error) {
    case NVDLA_START_BUSY:
      refuse(ErrorCode::kBusy,
             "{}: a unit is running and cannot be reset from here: reset the device", name);
    case NVDLA_START_FLUSH:
      refuse(ErrorCode::kGone,
             "{}: the convolution buffer is not cleared after reset: does the core have its clock?",
             name);
    case NVDLA_START_VERSION:
      refuse(ErrorCode::kNoDevice, "{}: is no {}", name, hw_.name);
    default:
      refuse(ErrorCode::kGone, "{}: the device does not answer: registers read as ones", name);
  }
}

void BareRunner::drive() {
  while (nvdla_engine_done(engine_.get()) == nullptr) {
    const std::uint64_t deadline = nvdla_engine_next_deadline(engine_.get());
    if (lost_ || deadline == NVDLA_NO_DEADLINE) {
      nvdla_engine_abort(engine_.get());
      continue;
    }
    const auto until = BareDevice::Time(static_cast<std::int64_t>(deadline));
    if (guarded(false, [&] { return device_->wait_interrupt(until); })) {
      const u32 bits = nvdla_engine_read_irq(engine_.get());
      // A line that is up for nothing must not keep time from passing.
      if (bits == 0) kPort.relax(this);
      nvdla_engine_interrupt(engine_.get(), bits);
    }
    nvdla_engine_poll(engine_.get());
  }
}

std::string BareRunner::busy_units() {
  std::string text;
  for (u32 unit = 0; unit < NVDLA_UNIT_COUNT; ++unit) {
    const std::string_view name = model::unit_name(static_cast<model::Unit>(unit));
    const auto reg = model::find_register(std::string(name) + ".S_STATUS");
    const auto address =
        reg ? model::register_address(static_cast<model::RegisterMap>(hw_.regmap), *reg)
            : std::nullopt;
    if (address && kPort.reg_read(this, *address) != 0) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
    }
  }
  return text.empty() ? "no unit is busy, its interrupt did not come"
                      : fmt::format("{} did not come to an end", text);
}

std::optional<Error> BareRunner::outcome(const nvdla_job& job) {
  if (lost_) return lost_;
  if (job.result == NVDLA_JOB_GONE) {
    return job_failure(job, device_->describe() +
                                ": the device does not answer any more: "
                                "registers read as ones");
  }
  if (job.result != NVDLA_JOB_OK) return job_failure(job, busy_units());
  const std::string refusals = guarded(std::string(), [&] { return device_->take_refusals(); });
  if (lost_) return lost_;
  if (refusals.empty()) return std::nullopt;
  return bus_fault(refusals, 0, 0);
}

// What the device was at it may still write, until it is reset.
void BareRunner::recover(const Job& job) {
  const std::string name = device_->describe();
  if (!guarded(false, [&] { return device_->reset(); })) {
    broken_ = lost_ ? lost_->what() : name + ": the device cannot be reset after a failure";
  } else if (start() != 0) {
    broken_ = lost_ ? lost_->what() : name + ": the device does not start after a reset";
  } else {
    // What it reached for before is reported.
    guarded(std::string(), [&] { return device_->take_refusals(); });
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
  engine_job.serial = job.program().serial();

  if (const int refused = nvdla_engine_submit(engine_.get(), &engine_job); refused != 0) {
    return Error(ErrorCode::kGone, fmt::format("the engine takes no job: error {}", -refused));
  }
  drive();
  std::optional<Error> error = outcome(engine_job);
  if (engine_job.result != NVDLA_JOB_OK || lost_) recover(job);
  return error;
}

}  // namespace nvdla::detail
