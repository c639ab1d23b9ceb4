// SPDX-License-Identifier: MIT
//
// What a player plays on: registers, memory and time. The device model is one; a device behind
// UIO will be another.
#ifndef NVDLA_TOOLS_REPLAY_TARGET_HPP
#define NVDLA_TOOLS_REPLAY_TARGET_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/core/bus.hpp"

namespace nvdla::replay {

class Target {
 public:
  virtual ~Target() = default;

  // Byte offset in the device's register space.
  virtual std::uint32_t read(std::uint32_t offset) = 0;
  virtual void write(std::uint32_t offset, std::uint32_t value) = 0;

  // All memory that was never loaded or filled is zero.
  virtual void load(model::Ram ram, std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual void fill(model::Ram ram, std::uint64_t address, std::uint64_t size,
                    std::uint8_t byte) = 0;
  virtual void fetch(model::Ram ram, std::uint64_t address, std::span<std::byte> bytes) = 0;

  // Lets time pass, until an interrupt at most. False when nothing can change by itself any more.
  virtual bool step() = 0;

  // The same where something has to come: a device that seems idle is given more time.
  virtual bool step_until_due() { return step(); }

  // No unit is enabled and no completion is due.
  virtual bool idle() = 0;

  // Enabled units that cannot go on, and why; a reason that contains "not implemented yet" is a
  // gap of the target. Empty where that cannot be known.
  virtual std::vector<std::string> blocked() = 0;

  // Accesses of the device that its memory refused, for people; empty if none.
  virtual std::string refusals() = 0;
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_TARGET_HPP
