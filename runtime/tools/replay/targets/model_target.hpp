// SPDX-License-Identifier: MIT
//
// The device model with sparse memory as a target.
#ifndef NVDLA_TOOLS_REPLAY_TARGETS_MODEL_TARGET_HPP
#define NVDLA_TOOLS_REPLAY_TARGETS_MODEL_TARGET_HPP

#include "model/core/memory.hpp"
#include "model/device.hpp"
#include "tools/replay/target.hpp"

namespace nvdla::replay {

class ModelTarget final : public Target {
 public:
  // Cases use one address space for both RAM types, and in traces the two never collide.
  ModelTarget(const nvdla_hw& hw, const model::Options& options,
              model::Memory::Spaces spaces = model::Memory::Spaces::kShared);

  std::uint32_t read(std::uint32_t offset) override;
  void write(std::uint32_t offset, std::uint32_t value) override;
  void load(model::Ram ram, std::uint64_t address, std::span<const std::byte> bytes) override;
  void fill(model::Ram ram, std::uint64_t address, std::uint64_t size, std::uint8_t byte) override;
  void fetch(model::Ram ram, std::uint64_t address, std::span<std::byte> bytes) override;
  bool step() override;
  bool idle() override;
  std::vector<std::string> blocked() override;
  std::string refusals() override;

 private:
  model::Memory memory_;
  model::Device device_;
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_TARGETS_MODEL_TARGET_HPP
