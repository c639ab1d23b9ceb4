// SPDX-License-Identifier: MIT
#include "backend/record/record_backend.hpp"

#include <algorithm>
#include <utility>

#include "backend/compiled_program.hpp"
#include "backend/info.hpp"
#include "backend/record/recorder.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

class RecordBuffer final : public BufferImpl {
 public:
  RecordBuffer(std::shared_ptr<BufferImpl> inner, std::shared_ptr<AddressSpace> space)
      : BufferImpl(inner->device(), inner->size(), inner->memory()),
        inner_(std::move(inner)),
        recorded_(std::move(space), size(), memory()) {}

  std::byte* begin_access(MapMode mode) override { return inner_->begin_access(mode); }
  void end_access(MapMode mode) noexcept override { inner_->end_access(mode); }

  const std::shared_ptr<BufferImpl>& inner() const noexcept { return inner_; }
  RecordedMemory& recorded() noexcept { return recorded_; }

 private:
  std::shared_ptr<BufferImpl> inner_;
  RecordedMemory recorded_;
};

Memory control_memory(const ProgramDesc& desc) {
  const auto slot = std::find_if(desc.slots.begin(), desc.slots.end(), [](const nvdla_slot& s) {
    return s.access == NVDLA_SLOT_CONTROL;
  });
  return slot != desc.slots.end() && slot->memory == NVDLA_MEMORY_SRAM ? Memory::kSram
                                                                       : Memory::kDram;
}

// The same compiler, run here, knows the registers that the device is given.
class RecordProgram final : public ProgramImpl {
 public:
  RecordProgram(std::shared_ptr<const ProgramImpl> inner, const nvdla_hw& hw,
                const std::shared_ptr<AddressSpace>& space, const ProgramDesc& desc)
      : ProgramImpl(inner->device()),
        inner_(std::move(inner)),
        control_(desc.control.begin(), desc.control.end()),
        compiled_(device(), hw, with_control(desc, control_)) {
    if (!control_.empty()) {
      recorded_ = std::make_unique<RecordedMemory>(space, control_.size(), control_memory(desc));
    }
  }

  std::uint32_t layers() const noexcept override { return inner_->layers(); }
  std::uint32_t slots() const noexcept override { return inner_->slots(); }
  bool statistics() const noexcept override { return inner_->statistics(); }
  std::uint64_t cycles(std::uint32_t layer) const noexcept override {
    return inner_->cycles(layer);
  }
  bool is_control(std::uint32_t slot) const noexcept override { return inner_->is_control(slot); }

  const std::shared_ptr<const ProgramImpl>& inner() const noexcept { return inner_; }
  const CompiledProgram& compiled() const noexcept { return compiled_; }
  RecordedBinding control() const {
    return {recorded_.get(), nullptr, std::as_bytes(std::span(control_)), 0};
  }

 private:
  using Control = std::vector<std::remove_cv_t<decltype(ProgramDesc::control)::element_type>>;

  static ProgramDesc with_control(const ProgramDesc& desc, const Control& control) {
    ProgramDesc own = desc;
    own.control = control;
    return own;
  }

  std::shared_ptr<const ProgramImpl> inner_;
  Control control_;
  CompiledProgram compiled_;
  std::unique_ptr<RecordedMemory> recorded_;  // of the control data, if there are any
};

class RecordQueue final : public QueueImpl {
 public:
  RecordQueue(std::shared_ptr<QueueImpl> inner, std::shared_ptr<Recorder> recorder)
      : QueueImpl(inner->device()), inner_(std::move(inner)), recorder_(std::move(recorder)) {}

  std::shared_ptr<FenceImpl> submit(std::shared_ptr<const ProgramImpl> program,
                                    std::span<const BoundBuffer> bindings,
                                    const JobTerms& terms) override {
    // Same device, so they are of our own making.
    const auto own = std::static_pointer_cast<const RecordProgram>(std::move(program));
    std::vector<BoundBuffer> inner;
    std::vector<RecordedBinding> recorded;
    for (const BoundBuffer& binding : bindings) {
      if (binding.buffer == nullptr) {
        inner.push_back(binding);
        recorded.push_back(own->control());
        continue;
      }
      auto& buffer = static_cast<RecordBuffer&>(*binding.buffer);
      inner.push_back({buffer.inner(), binding.offset});
      recorded.push_back({&buffer.recorded(), buffer.inner().get(), {}, binding.offset});
    }
    // The recorder reads the job's inputs, which are complete only after these fences.
    for (const auto& fence : terms.waits) fence->wait(std::nullopt);
    return recorder_->record(own->compiled(), own->layer_names(), recorded,
                             [&] { return inner_->submit(own->inner(), inner, terms); });
  }

 private:
  std::shared_ptr<QueueImpl> inner_;
  std::shared_ptr<Recorder> recorder_;
};

class RecordBackend final : public Backend {
 public:
  RecordBackend(std::shared_ptr<Backend> inner, std::string path, bool numbered)
      : inner_(std::move(inner)),
        hw_(find_configuration(info())),
        space_(std::make_shared<AddressSpace>(info().address_bits)),
        recorder_(std::make_shared<Recorder>(std::move(path), numbered, info())) {}

  const DeviceInfo& info() const noexcept override { return inner_->info(); }

  std::shared_ptr<BufferImpl> allocate(std::uint64_t bytes, Memory memory) override {
    return std::make_shared<RecordBuffer>(inner_->allocate(bytes, memory), space_);
  }

  std::shared_ptr<const ProgramImpl> create_program(const ProgramDesc& desc) override {
    return std::make_shared<RecordProgram>(inner_->create_program(desc), *hw_, space_, desc);
  }

  std::shared_ptr<QueueImpl> create_queue() override {
    return std::make_shared<RecordQueue>(inner_->create_queue(), recorder_);
  }

 private:
  std::shared_ptr<Backend> inner_;
  const nvdla_hw* hw_;
  std::shared_ptr<AddressSpace> space_;
  std::shared_ptr<Recorder> recorder_;
};

}  // namespace

std::shared_ptr<Backend> make_record_backend(std::shared_ptr<Backend> inner, std::string path,
                                             bool numbered) {
  return std::make_shared<RecordBackend>(std::move(inner), std::move(path), numbered);
}

}  // namespace nvdla::detail
