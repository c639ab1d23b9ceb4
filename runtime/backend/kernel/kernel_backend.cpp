// SPDX-License-Identifier: MIT
#include "backend/kernel/kernel_backend.hpp"

#include "backend/info.hpp"
#include "backend/kernel/kernel_core.hpp"
#include "backend/kernel/kernel_program.hpp"
#include "backend/kernel/kernel_queue.hpp"

namespace nvdla::detail {

namespace {

class KernelBackend final : public Backend {
 public:
  explicit KernelBackend(std::string_view path)
      : core_(std::make_shared<KernelCore>(path)), info_(make_info(core_->hw(), "kernel")) {
    // The configuration may have an SRAM interface for which the driver has no memory.
    info_.has_sram = (core_->info().flags & DRM_NVDLA_DEVICE_SRAM) != 0;
  }

  const DeviceInfo& info() const noexcept override { return info_; }

  std::shared_ptr<BufferImpl> allocate(std::uint64_t bytes, Memory memory) override {
    return core_->allocate(bytes, memory);
  }

  std::shared_ptr<const ProgramImpl> create_program(const ProgramDesc& desc) override {
    return std::make_shared<KernelProgram>(core_->id(), core_->hw(), core_->node(), desc);
  }

  std::shared_ptr<QueueImpl> create_queue() override {
    return std::make_shared<KernelQueue>(core_);
  }

 private:
  std::shared_ptr<KernelCore> core_;
  DeviceInfo info_;
};

}  // namespace

std::shared_ptr<Backend> make_kernel_backend(std::string_view path) {
  return std::make_shared<KernelBackend>(path);
}

KernelDevice describe_kernel_device(std::string_view path) {
  const KernelCore core(path);
  return {core.node()->path(), &core.hw(), core.node()->driver_version(), core.info().clock_khz};
}

}  // namespace nvdla::detail
