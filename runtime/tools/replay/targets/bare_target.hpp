// SPDX-License-Identifier: MIT
//
// A device whose registers and memory can be reached, as a target: simulated, mapped, or the model.
#ifndef NVDLA_TOOLS_REPLAY_TARGETS_BARE_TARGET_HPP
#define NVDLA_TOOLS_REPLAY_TARGETS_BARE_TARGET_HPP

#include <map>
#include <memory>
#include <set>

#include "backend/registers/bare_device.hpp"
#include "tools/replay/target.hpp"

namespace nvdla::replay {

class BareTarget final : public Target {
 public:
  // Resets the device and waits until it is ready. `separate`: the memory interfaces have addresses
  // of their own. Throws nvdla::Error.
  BareTarget(std::unique_ptr<detail::BareDevice> device, const nvdla_hw& hw, bool separate);

  std::uint32_t read(std::uint32_t offset) override { return device_->read(offset); }
  void write(std::uint32_t offset, std::uint32_t value) override;
  void load(model::Ram ram, std::uint64_t address, std::span<const std::byte> bytes) override;
  void fill(model::Ram ram, std::uint64_t address, std::uint64_t size, std::uint8_t byte) override;
  void fetch(model::Ram ram, std::uint64_t address, std::span<std::byte> bytes) override;
  bool step() override;
  bool step_until_due() override;
  bool idle() override;
  std::vector<std::string> blocked() override { return {}; }
  std::string refusals() override { return device_->take_refusals(); }

 private:
  using Blocks = std::map<std::uint64_t, std::unique_ptr<detail::BareMemory>>;

  Blocks& blocks(model::Ram ram);
  // Calls `visit` with each part of a range that lies in one block of the device's memory.
  template <typename Visit>
  void for_parts(model::Ram ram, std::uint64_t address, std::uint64_t size, Visit visit);
  void take(model::Ram ram, std::uint64_t address, std::uint64_t size);
  // False when an idle device has shown no sign of life for so long.
  bool look(detail::BareDevice::Time quiet);

  std::unique_ptr<detail::BareDevice> device_;
  const nvdla_hw& hw_;
  const bool separate_;
  Blocks blocks_[2];
  // Units that were written to: of others nothing is asked, they may not be there.
  std::set<std::uint32_t> used_;
  std::uint64_t state_ = 0;
  detail::BareDevice::Time changed_{0};
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_TARGETS_BARE_TARGET_HPP
