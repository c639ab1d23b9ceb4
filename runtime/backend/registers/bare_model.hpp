// SPDX-License-Identifier: MIT
//
// The device model as a bare device. Its time is its own: a step takes a microsecond, and where
// nothing can happen any more the end of a wait is there at once.
#ifndef NVDLA_BACKEND_REGISTERS_BARE_MODEL_HPP
#define NVDLA_BACKEND_REGISTERS_BARE_MODEL_HPP

#include <memory>
#include <optional>
#include <string>

#include "backend/registers/bare_device.hpp"
#include "backend/registers/block_table.hpp"
#include "model/core/bus.hpp"
#include "model/device.hpp"

namespace nvdla::detail {

// Blocks of a table as the model's bus. What is in none is refused.
class BlockBus final : public model::Bus {
 public:
  explicit BlockBus(const BlockTable& blocks) noexcept : blocks_(blocks) {}

  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override;
  // The host writes whenever it likes.
  std::uint64_t generation(model::Ram, std::uint64_t, std::uint64_t) const noexcept override {
    return 0;
  }
  void written(model::Ram, std::uint64_t, std::uint64_t) noexcept override {}

 private:
  const BlockTable& blocks_;
};

class BareModel final : public BareDevice {
 public:
  // `hw` outlives it. `name` is for messages.
  BareModel(std::string name, const nvdla_hw& hw, const model::Options& options);

  std::uint32_t read(std::uint32_t offset) override { return device_.read(offset); }
  void write(std::uint32_t offset, std::uint32_t value) override { device_.write(offset, value); }
  std::unique_ptr<BareMemory> allocate(std::uint64_t bytes, Memory memory) override;
  std::unique_ptr<BareMemory> allocate_at(std::uint64_t address, std::uint64_t bytes,
                                          std::optional<Memory> memory) override;
  bool wait_interrupt(Time until) override;
  void relax() override;
  Time now() override { return now_; }
  bool reset() override;
  std::string take_refusals() override;
  const nvdla_hw* configuration() const noexcept override { return &hw_; }
  std::string describe() const override { return name_; }

 private:
  std::string name_;
  const nvdla_hw& hw_;
  std::shared_ptr<BlockTable> blocks_;
  BlockBus bus_;
  model::Device device_;
  Time now_{0};
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BARE_MODEL_HPP
