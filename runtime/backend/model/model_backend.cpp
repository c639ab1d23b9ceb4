// SPDX-License-Identifier: MIT
#include "backend/model/model_backend.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "backend/compiled_program.hpp"
#include "backend/info.hpp"
#include "backend/local/address_space.hpp"
#include "backend/local/job.hpp"
#include "backend/local/worker.hpp"
#include "backend/model/model_buffer.hpp"

namespace nvdla::detail {
namespace {

// Held by the backend and its queues. Never by jobs: the last holder waits for them.
struct Core {
  Core(const nvdla_hw& configuration, unsigned threads)
      : hw(configuration),
        id(new_device_id()),
        space(std::make_shared<AddressSpace>(configuration.address_bits)),
        worker(new Worker(configuration,
                          {.quirks = model::silicon_quirks(configuration), .threads = threads})) {}
  ~Core() { worker->stop(); }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const nvdla_hw& hw;
  DeviceId id;
  std::shared_ptr<AddressSpace> space;
  std::shared_ptr<Worker> worker;
};

std::vector<nvdla_binding> device_bindings(std::span<const ModelBinding> bindings,
                                           const BufferImpl* control) {
  std::vector<nvdla_binding> result;
  result.reserve(bindings.size());
  for (const ModelBinding& binding : bindings) {
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
std::shared_ptr<ModelBuffer> copy_control(const Core& core, const ProgramDesc& desc) {
  if (desc.control.empty() || desc.control.size() > NVDLA_MAX_CONTROL_BYTES) return nullptr;
  const auto slot = std::find_if(desc.slots.begin(), desc.slots.end(), [](const nvdla_slot& s) {
    return s.access == NVDLA_SLOT_CONTROL;
  });
  const bool sram = slot != desc.slots.end() && slot->memory == NVDLA_MEMORY_SRAM;
  auto copy = std::make_shared<ModelBuffer>(core.id, core.space, desc.control.size(),
                                            sram ? Memory::kSram : Memory::kDram);
  std::memcpy(copy->data(), desc.control.data(), desc.control.size());
  return copy;
}

class ModelQueue final : public QueueImpl {
 public:
  explicit ModelQueue(std::shared_ptr<Core> core)
      : QueueImpl(core->id), core_(std::move(core)), job_queue_(core_->worker->add_queue()) {}

  std::shared_ptr<FenceImpl> submit(std::shared_ptr<const ProgramImpl> program,
                                    std::span<const BoundBuffer> bindings,
                                    std::span<const std::shared_ptr<FenceImpl>> waits) override {
    // Same device, so they are of our own making.
    auto compiled = std::static_pointer_cast<const CompiledProgram>(std::move(program));
    std::vector<ModelBinding> bound;
    bound.reserve(bindings.size());
    for (const BoundBuffer& binding : bindings) {
      const auto& buffer = binding.buffer == nullptr ? compiled->control() : binding.buffer;
      bound.push_back({std::static_pointer_cast<ModelBuffer>(buffer), binding.offset});
    }
    const std::vector<nvdla_binding> checked = device_bindings(bound, compiled->control().get());
    nvdla_error error = {};
    if (nvdla_program_check_bindings(&compiled->program(), checked.data(),
                                     static_cast<u32>(checked.size()), &error) != 0) {
      throw Error(ErrorCode::kInvalidBinding, error);
    }
    auto job = std::make_shared<Job>(std::move(compiled), std::move(bound),
                                     std::vector(waits.begin(), waits.end()));
    core_->worker->submit(*job_queue_, job);
    return job;
  }

 private:
  std::shared_ptr<Core> core_;
  std::shared_ptr<Worker::JobQueue> job_queue_;
};

class ModelBackend final : public Backend {
 public:
  ModelBackend(const nvdla_hw& hw, unsigned threads)
      : core_(std::make_shared<Core>(hw, threads)), info_(make_info(hw, "model")) {}

  const DeviceInfo& info() const noexcept override { return info_; }

  std::shared_ptr<BufferImpl> allocate(std::uint64_t bytes, Memory memory) override {
    return std::make_shared<ModelBuffer>(core_->id, core_->space, bytes, memory);
  }

  std::shared_ptr<const ProgramImpl> create_program(const ProgramDesc& desc) override {
    const auto control = copy_control(*core_, desc);
    ProgramDesc own = desc;
    if (control != nullptr) own.control = {control->data(), desc.control.size()};
    return std::make_shared<CompiledProgram>(core_->id, core_->hw, own, control);
  }

  std::shared_ptr<QueueImpl> create_queue() override { return std::make_shared<ModelQueue>(core_); }

 private:
  std::shared_ptr<Core> core_;
  DeviceInfo info_;
};

}  // namespace

std::shared_ptr<Backend> make_model_backend(const nvdla_hw& hw, unsigned threads) {
  return std::make_shared<ModelBackend>(hw, threads);
}

}  // namespace nvdla::detail
