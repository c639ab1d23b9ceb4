// SPDX-License-Identifier: MIT
#include "backend/model/runner.hpp"

#include <chrono>
#include <new>

#include "backend/model/refusal_text.hpp"
#include "model/core/register_info.hpp"
#include "nvdla/device.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

model::Device& device_of(void* context) { return *static_cast<model::Device*>(context); }

// The model's memory is the host's own: nothing to wait for.
constexpr nvdla_hw_ops kHwOps = {
    .reg_read = [](void* context, u32 offset) -> u32 { return device_of(context).read(offset); },
    .reg_write = [](void* context, u32 offset,
                    u32 value) { device_of(context).write(offset, value); },
    .dma_barrier = [](void*) {},
    .relax = [](void* context) { device_of(context).step(); },
    .now_ns = [](void*) -> u64 {
      return static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::steady_clock::now().time_since_epoch())
                                  .count());
    },
    .take_irq = nullptr,
    .layer_start = nullptr,
    .layer_end = nullptr,
    .reg_writes =
        [](void* context, const nvdla_reg_write* writes, u32 count) {
          device_of(context).write({writes, count});
        },
};

std::string blocked_text(const model::Device& device) {
  std::string text;
  for (const model::Blocked& blocked : device.blocked()) {
    text += fmt::format("{}{} group {}: {}", text.empty() ? "" : "; ",
                        model::unit_name(static_cast<model::Unit>(blocked.unit)), blocked.group,
                        blocked.reason);
  }
  return text.empty() ? "no unit is enabled" : text;
}

}  // namespace

ModelRunner::ModelRunner(const nvdla_hw& hw, const model::Options& options)
    : hw_(hw), device_(hw, bus_, options), engine_(std::make_unique<nvdla_engine>()) {
  start();
}

ModelRunner::~ModelRunner() = default;

void ModelRunner::start() {
  nvdla_engine_init(engine_.get(), &hw_, &kHwOps, &device_);
  if (const int error = nvdla_engine_start(engine_.get()); error != 0) {
    throw_error(ErrorCode::kGone, "the model of {} does not start: error {}", hw_.name, -error);
  }
}

void ModelRunner::bind(const Job& job) {
  const nvdla_program& program = job.program().program();
  bases_.clear();
  regions_.clear();
  for (std::uint32_t i = 0; i < program.num_slots; ++i) {
    const nvdla_slot& slot = program.slots[i];
    const LocalBinding& binding = job.bindings()[i];
    JobBus::Region region;
    region.begin = binding.buffer->address() + binding.offset;
    region.end = region.begin + slot.size;
    region.data = binding.buffer->data() + binding.offset;
    // All buffers of this backend are ModelBuffers.
    region.buffer = static_cast<ModelBuffer*>(binding.buffer.get());
    region.ram = slot.memory == NVDLA_MEMORY_SRAM ? model::Ram::kSecondary : model::Ram::kPrimary;
    region.readable = (slot.access & (NVDLA_SLOT_READ | NVDLA_SLOT_CONTROL)) != 0;
    region.writable = (slot.access & NVDLA_SLOT_WRITE) != 0;
    regions_.push_back(region);
    bases_.push_back(region.begin);
  }
  bus_.set(regions_);
}

void ModelRunner::drive(const Job& job) {
  // Time passes only here, so a layer that computes for long never misses its deadline: a layer
  // that does not end shows in the model, which then has nothing left to do.
  while (nvdla_engine_done(engine_.get()) == nullptr) {
    if (job.canceled()) nvdla_engine_yield(engine_.get());
    const bool raised = device_.interrupt();
    const u32 bits = raised ? nvdla_engine_read_irq(engine_.get()) : 0;
    if (bits != 0) {
      nvdla_engine_interrupt(engine_.get(), bits);
    } else if (!device_.step() && (raised || !device_.interrupt())) {
      return;
    }
  }
}

std::optional<Error> ModelRunner::outcome(const nvdla_job& job) {
  if (job.result == NVDLA_JOB_GONE) return job_failure(job, "the device does not answer any more");
  if (failed(job)) return job_failure(job, blocked_text(device_));
  const model::Refusals refusals = device_.refusals();
  if (refusals.count == 0) return std::nullopt;
  device_.clear_refusals();
  return bus_fault(refusal_text(refusals), refusals.first_dma, refusals.first_address);
}

std::optional<Error> ModelRunner::run(Job& job) {
  bind(job);
  nvdla_job engine_job = {};
  engine_job.program = &job.program().program();
  engine_job.bases = bases_.data();
  engine_job.stats = job.stats().empty() ? nullptr : job.stats().data();
  engine_job.stats_stride = sizeof(nvdla_layer_stats);
  engine_job.serial = job.program().serial();
  device_.clear_refusals();

  std::optional<Error> error;
  if (const int refused = nvdla_engine_submit(engine_.get(), &engine_job); refused != 0) {
    error = Error(ErrorCode::kGone, fmt::format("the engine takes no job: error {}", -refused));
  } else {
    try {
      drive(job);
    } catch (const std::bad_alloc&) {
      // The engine still has the job, which ends with this call.
      error = out_of_memory();
    }
    // Nothing goes on and no layer ended: silicon would wait for its deadline, here it is known.
    const bool stuck = engine_job.result == NVDLA_JOB_RUNNING;
    if (stuck) nvdla_engine_abort(engine_.get());
    try {
      if (!error) error = outcome(engine_job);
    } catch (const std::bad_alloc&) {
      error = out_of_memory();
    }
    if (failed(engine_job)) {
      device_.reset();
      start();
    }
  }
  bus_.clear();
  return error;
}

}  // namespace nvdla::detail
