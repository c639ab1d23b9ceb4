// SPDX-License-Identifier: MIT
#include "backend/model/runner.hpp"

#include <chrono>

#include "base/check.hpp"
#include "model/register_info.hpp"

namespace nvdla::detail {
namespace {

model::Device& device_of(void* context) { return *static_cast<model::Device*>(context); }

// The model's memory is the host's own: nothing to wait for.
constexpr nvdla_port kPort = {
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

Runner::Runner(const nvdla_hw& hw, const model::Options& options)
    : hw_(hw), device_(hw, bus_, options), engine_(std::make_unique<nvdla_engine>()) {
  start();
}

Runner::~Runner() = default;

void Runner::start() {
  nvdla_engine_init(engine_.get(), &hw_, &kPort, &device_);
  if (const int error = nvdla_engine_start(engine_.get()); error != 0) {
    refuse(ErrorCode::kGone, "the model of {} does not start: error {}", hw_.name, -error);
  }
}

void Runner::bind(const Job& job) {
  const nvdla_program& program = job.program().program();
  bases_.clear();
  regions_.clear();
  for (std::uint32_t i = 0; i < program.num_slots; ++i) {
    const nvdla_slot& slot = program.slots[i];
    const ModelBinding& binding = job.bindings()[i];
    JobBus::Region region;
    region.begin = binding.buffer->address() + binding.offset;
    region.end = region.begin + slot.size;
    region.data = binding.buffer->data() + binding.offset;
    region.buffer = binding.buffer.get();
    region.ram = slot.memory == NVDLA_MEMORY_SRAM ? model::Ram::kSecondary : model::Ram::kPrimary;
    region.readable = (slot.access & (NVDLA_SLOT_READ | NVDLA_SLOT_CONTROL)) != 0;
    region.writable = (slot.access & NVDLA_SLOT_WRITE) != 0;
    regions_.push_back(region);
    bases_.push_back(region.begin);
  }
  bus_.set(regions_);
}

void Runner::drive() {
  // Time passes only here, so a layer that computes for long never misses its deadline: a layer
  // that does not end shows in the model, which then has nothing left to do.
  while (nvdla_engine_done(engine_.get()) == nullptr) {
    const bool raised = device_.interrupt();
    const u32 bits = raised ? nvdla_engine_read_irq(engine_.get()) : 0;
    if (bits != 0) {
      nvdla_engine_interrupt(engine_.get(), bits);
    } else if (!device_.step() && (raised || !device_.interrupt())) {
      return;
    }
  }
}

std::optional<Error> Runner::outcome(const nvdla_job& job) {
  nvdla_error detail = {};
  detail.object = NVDLA_OBJECT_LAYER;
  detail.index = job.layer;
  if (job.result == NVDLA_JOB_OK) {
    const model::Refusals refusals = device_.refusals();
    if (refusals.count == 0) return std::nullopt;
    device_.clear_refusals();
    detail.object = NVDLA_OBJECT_PROGRAM;
    detail.index = 0;
    detail.dma = refusals.first_dma;
    detail.value = static_cast<std::int64_t>(refusals.first_address);
    return Error(ErrorCode::kBusFault,
                 fmt::format("the device touched memory outside of the job's buffers: {} at {:#x}, "
                             "{}; {} accesses were refused",
                             dma_name(refusals.first_dma), refusals.first_address,
                             refusals.first_write ? "writing" : "reading", refusals.count),
                 detail);
  }
  const nvdla_layer_image& layer = job.program->layers[job.layer];
  if (job.result == NVDLA_JOB_GONE || job.result == NVDLA_JOB_BROKEN) {
    return Error(ErrorCode::kGone,
                 job.result == NVDLA_JOB_GONE ? "the device does not answer any more"
                                              : "the program's image is broken",
                 detail);
  }
  return Error(ErrorCode::kHang,
               fmt::format("layer {} ({}) does not end: {}", job.layer, layer_kind_name(layer.kind),
                           blocked_text(device_)),
               detail);
}

std::optional<Error> Runner::run(Job& job) {
  bind(job);
  nvdla_job engine_job = {};
  engine_job.program = &job.program().program();
  engine_job.bases = bases_.data();
  engine_job.stats = job.stats().empty() ? nullptr : job.stats().data();
  engine_job.serial = job.program().serial();
  device_.clear_refusals();

  std::optional<Error> error;
  if (const int refused = nvdla_engine_submit(engine_.get(), &engine_job); refused != 0) {
    error = Error(ErrorCode::kGone, fmt::format("the engine takes no job: error {}", -refused));
  } else {
    drive();
    // Nothing goes on and no layer ended: silicon would wait for its deadline, here it is known.
    const bool stuck = engine_job.result == NVDLA_JOB_RUNNING;
    if (stuck) nvdla_engine_abort(engine_.get());
    error = outcome(engine_job);
    if (engine_job.result != NVDLA_JOB_OK) {
      device_.reset();
      start();
    }
  }
  bus_.clear();
  return error;
}

}  // namespace nvdla::detail
