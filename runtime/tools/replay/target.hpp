// SPDX-License-Identifier: MIT
//
// A target is what a player drives: registers, memory and time. The device model is one, a device
// behind UIO another.
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

  // `offset` is in bytes, in the device's register space.
  virtual std::uint32_t read(std::uint32_t offset) = 0;
  virtual void write(std::uint32_t offset, std::uint32_t value) = 0;

  // Memory that was never loaded or filled is zero.
  virtual void load(model::Ram ram, std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual void fill(model::Ram ram, std::uint64_t address, std::uint64_t size,
                    std::uint8_t byte) = 0;
  virtual void fetch(model::Ram ram, std::uint64_t address, std::span<std::byte> bytes) = 0;

  // Advances time, at most to the next interrupt. Returns false if nothing can change by itself any
  // more.
  virtual bool step() = 0;

  // Does the same when an event must occur: a device that seems idle gets more time.
  virtual bool step_until_due() { return step(); }

  // Returns true if no unit is enabled and no completion is due.
  virtual bool idle() = 0;

  // Lists enabled units that cannot continue, with the reasons; a reason that contains "not
  // implemented yet" is a gap of the target. Empty if the target cannot know.
  virtual std::vector<std::string> blocked() = 0;

  // Describes accesses of the device that its memory refused; empty if none.
  virtual std::string refusals() = 0;
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_TARGET_HPP
