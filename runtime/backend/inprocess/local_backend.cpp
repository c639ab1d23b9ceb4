// SPDX-License-Identifier: MIT
#include "backend/inprocess/local_backend.hpp"

#include <algorithm>
#include <cstring>
#include <memory_resource>
#include <utility>
#include <vector>

#include "backend/compiled_program.hpp"
#include "backend/info.hpp"
#include "backend/inprocess/job_pool.hpp"
#include "backend/inprocess/worker.hpp"
#include "support/process.hpp"
#include "support/stack_memory.hpp"

namespace nvdla::detail {
namespace {

// Held by the backend and its queues. Never by jobs: the last holder waits for them.
struct Core {
  explicit Core(LocalDevice device)
      : hw(*device.hw),
        clock_khz(device.clock_khz),
        id(new_device_id()),
        allocate(std::move(device.allocate)),
        adopt(std::move(device.adopt)),
        worker(std::make_shared<Worker>(std::move(device.runner))) {}
  ~Core() {
    if (made.is_here()) {
      worker->stop();
    } else {
      // The child of a fork() has no thread to wait for, and the device is its parent's.
      static_cast<void>(new std::shared_ptr<Worker>(std::move(worker)));
    }
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const nvdla_hw& hw;
  std::uint32_t clock_khz;
  DeviceId id;
  decltype(LocalDevice::allocate) allocate;
  decltype(LocalDevice::adopt) adopt;
  std::shared_ptr<Worker> worker;
  MadeHere made;
};

using DeviceBindings = std::pmr::vector<nvdla_binding>;

DeviceBindings device_bindings(std::span<const LocalBinding> bindings, const BufferImpl* control,
                               std::pmr::memory_resource* memory) {
  DeviceBindings result(memory);
  result.reserve(bindings.size());
  for (const LocalBinding& binding : bindings) {
    nvdla_binding b = {};
    b.address = binding.buffer->address() + binding.offset;
    b.size = binding.buffer->size() - binding.offset;
    b.memory = static_cast<std::uint32_t>(binding.buffer->memory());
    b.access =
        binding.buffer.get() == control ? NVDLA_SLOT_CONTROL : NVDLA_SLOT_READ | NVDLA_SLOT_WRITE;
    result.push_back(b);
  }
  return result;
}

// A copy of the control data that nobody else holds, or nullptr: what is checked there is what the
// device finds. More than there may be is left to the compiler to refuse.
std::shared_ptr<LocalBuffer> copy_control(const Core& core, const ProgramDesc& desc) {
  if (desc.control.empty() || desc.control.size() > NVDLA_MAX_CONTROL_BYTES) return nullptr;
  const auto slot = std::find_if(desc.slots.begin(), desc.slots.end(), [](const nvdla_slot& s) {
    return s.access == NVDLA_SLOT_CONTROL;
  });
  const bool sram = slot != desc.slots.end() && slot->memory == NVDLA_MEMORY_SRAM;
  auto copy = core.allocate(core.id, desc.control.size(), sram ? Memory::kSram : Memory::kDram);
  std::memcpy(copy->data(), desc.control.data(), desc.control.size());
  copy->changed();
  return copy;
}

class LocalQueue final : public QueueImpl {
 public:
  explicit LocalQueue(std::shared_ptr<Core> core)
      : QueueImpl(core->id), core_(std::move(core)), job_queue_(core_->worker->add_queue()) {}

  std::shared_ptr<FenceImpl> submit(std::shared_ptr<const ProgramImpl> program,
                                    std::span<const BoundBuffer> bindings,
                                    const JobTerms& terms) override {
    // Same device, so they are of our own making.
    auto compiled = std::static_pointer_cast<const CompiledProgram>(std::move(program));
    std::pmr::vector<LocalBinding> bound(core_->worker->pool().get());
    bound.reserve(bindings.size());
    for (const BoundBuffer& binding : bindings) {
      const auto& buffer = binding.buffer == nullptr ? compiled->control() : binding.buffer;
      bound.push_back({std::static_pointer_cast<LocalBuffer>(buffer), binding.offset});
    }
    StackMemory<NVDLA_MAX_SLOTS * sizeof(nvdla_binding)> memory;
    const DeviceBindings checked =
        device_bindings(bound, compiled->control().get(), memory.resource());
    nvdla_error error = {};
    if (nvdla_program_check_bindings(&compiled->program(), checked.data(),
                                     static_cast<u32>(checked.size()), &error) != 0) {
      throw Error(ErrorCode::kInvalidBinding, error);
    }
    auto job = make_job(core_->worker->pool(), std::move(compiled), std::move(bound), terms);
    core_->worker->submit(*job_queue_, job);
    return job;
  }

 private:
  std::shared_ptr<Core> core_;
  std::shared_ptr<Worker::JobQueue> job_queue_;
};

class LocalBackend final : public Backend {
 public:
  explicit LocalBackend(LocalDevice device) : info_(make_info(*device.hw, device.backend)) {
    info_.fast_fp16 = device.fast_fp16;
    info_.memory = device.memory;
    info_.sram_bytes = device.sram_bytes;
    core_ = std::make_shared<Core>(std::move(device));
  }

  const DeviceInfo& info() const noexcept override { return info_; }

  std::shared_ptr<BufferImpl> allocate(std::uint64_t bytes, Memory memory) override {
    return core_->allocate(core_->id, bytes, memory);
  }

  std::shared_ptr<BufferImpl> adopt(const std::shared_ptr<HostPages>& pages,
                                    Memory memory) override {
    std::shared_ptr<BufferImpl> buffer;
    if (core_->adopt) buffer = core_->adopt(core_->id, pages, memory);
    return buffer != nullptr ? buffer : Backend::adopt(pages, memory);
  }

  std::shared_ptr<const ProgramImpl> create_program(const ProgramDesc& desc) override {
    const auto control = copy_control(*core_, desc);
    ProgramDesc own = desc;
    if (control != nullptr) own.control = {control->data(), desc.control.size()};
    return std::make_shared<CompiledProgram>(core_->id, core_->hw, own, control, core_->clock_khz);
  }

  std::shared_ptr<QueueImpl> create_queue() override { return std::make_shared<LocalQueue>(core_); }

 private:
  DeviceInfo info_;
  std::shared_ptr<Core> core_;
};

}  // namespace

std::shared_ptr<Backend> make_local_backend(LocalDevice device) {
  return std::make_shared<LocalBackend>(std::move(device));
}

}  // namespace nvdla::detail
