// SPDX-License-Identifier: MIT
//
// A program in the kernel. The kernel checks and compiles it for itself; the same compiler, run
// here, answers questions about it.
#ifndef NVDLA_BACKEND_KERNEL_KERNEL_PROGRAM_HPP
#define NVDLA_BACKEND_KERNEL_KERNEL_PROGRAM_HPP

#include <cstdint>
#include <memory>

#include "backend/compiled_program.hpp"
#include "backend/kernel/node.hpp"

namespace nvdla::detail {

class KernelProgram final : public ProgramImpl {
 public:
  // Throws kInvalidProgram.
  KernelProgram(DeviceId device, const nvdla_hw& hw, std::shared_ptr<const Node> node,
                const ProgramDesc& desc);
  ~KernelProgram() override;

  std::uint32_t layers() const noexcept override { return compiled_.layers(); }
  std::uint32_t slots() const noexcept override { return compiled_.slots(); }
  bool statistics() const noexcept override { return compiled_.statistics(); }
  std::uint64_t cycles(std::uint32_t layer) const noexcept override {
    return compiled_.cycles(layer);
  }
  bool is_control(std::uint32_t slot) const noexcept override { return compiled_.is_control(slot); }

  std::uint32_t id() const noexcept { return id_; }
  const nvdla_program& compiled() const noexcept { return compiled_.program(); }

 private:
  CompiledProgram compiled_;
  std::shared_ptr<const Node> node_;
  std::uint32_t id_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_KERNEL_PROGRAM_HPP
