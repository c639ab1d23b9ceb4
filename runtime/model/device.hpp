// SPDX-License-Identifier: MIT
//
// A bit-exact, functional model of an NVDLA: driven by register reads and writes, moves bytes
// through its bus, raises an interrupt line. Knows nothing of descriptors, jobs or the runtime.
#ifndef NVDLA_MODEL_DEVICE_HPP
#define NVDLA_MODEL_DEVICE_HPP

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "model/core/bus.hpp"
#include "model/core/options.hpp"

namespace nvdla::model {

// Not thread safe: the owner serialises all calls.
class Device {
 public:
  // Throws std::invalid_argument for a configuration that cannot be, or kernels (NVDLA_KERNELS in
  // the environment) that this processor does not have.
  Device(const nvdla_hw& hw, Bus& bus, const Options& options = {});
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);
  // Does one after the other, in less time where they follow each other in a unit's window.
  void write(std::span<const nvdla_reg_write> writes);

  // Level of the interrupt line.
  bool interrupt() const;

  // Lets time pass: runs one layer that can run or delivers what is due. A register write never
  // runs a layer by itself. Returns false when nothing is left to do: idle or blocked.
  bool step();

  // Lets writes that are on their way to the interrupt line arrive; false if there are none. A step
  // does so, too.
  bool settle();

  // No unit is enabled and no completion is due.
  bool idle() const;

  std::vector<Blocked> blocked() const;
  Refusals refusals() const;
  void clear_refusals();

  // What the reset line does.
  void reset();

  const nvdla_hw& hw() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_DEVICE_HPP
