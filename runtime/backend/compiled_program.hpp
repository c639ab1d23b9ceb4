// SPDX-License-Identifier: MIT
//
// A program compiled by firmware/compile in this process, for backends that run the engine here.
#ifndef NVDLA_BACKEND_COMPILED_PROGRAM_HPP
#define NVDLA_BACKEND_COMPILED_PROGRAM_HPP

#include <cstdint>
#include <memory>

#include "backend/backend.hpp"
#include "firmware/compile/nvdla_compile.h"

namespace nvdla::detail {

class CompiledProgram final : public ProgramImpl {
 public:
  // `control` is the buffer that desc.control lies in, for a backend that binds it.
  // `clock_khz` is the device's, for the bounds on layers' times; 0: 1 GHz.
  // Throws kInvalidProgram.
  CompiledProgram(DeviceId device, const nvdla_hw& hw, const ProgramDesc& desc,
                  std::shared_ptr<BufferImpl> control = nullptr, std::uint32_t clock_khz = 0);

  std::uint32_t layers() const noexcept override { return program_.num_layers; }
  std::uint32_t slots() const noexcept override { return program_.num_slots; }
  bool statistics() const noexcept override { return (program_.flags & NVDLA_PROGRAM_STATS) != 0; }
  std::uint64_t cycles(std::uint32_t layer) const noexcept override {
    return layer < program_.num_layers ? program_.layers[layer].cycles : 0;
  }
  bool is_control(std::uint32_t slot) const noexcept override {
    return slot < program_.num_slots && program_.slots[slot].access == NVDLA_SLOT_CONTROL;
  }

  const nvdla_program& program() const noexcept { return program_; }
  // Never reused in this process, never 0: by it the engine knows whose tables a LUT holds.
  std::uint64_t serial() const noexcept { return serial_; }
  const std::shared_ptr<BufferImpl>& control() const noexcept { return control_; }

 private:
  std::unique_ptr<std::uint64_t[]> memory_;
  nvdla_program program_ = {};
  std::uint64_t serial_;
  std::shared_ptr<BufferImpl> control_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_COMPILED_PROGRAM_HPP
