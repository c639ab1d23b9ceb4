// SPDX-License-Identifier: MIT
//
// A bit-exact, functional model of an NVDLA: its owner reads and writes registers, and the model
// moves bytes over its bus and raises an interrupt line. It knows nothing of descriptors, jobs or
// the runtime.
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
  // Executes the writes in order, faster where they are consecutive in a unit's window.
  void write(std::span<const nvdla_reg_write> writes);

  // Level of the interrupt line.
  bool interrupt() const;

  // Advances time: runs one layer that can run, or delivers what is due. A register write never
  // runs a layer by itself. Returns false if nothing is left to do: the device is idle or blocked.
  bool step();

  // Completes posted writes that affect the interrupt line; false if there are none. step() does
  // so, too.
  bool settle();

  // Returns true if no unit is enabled and no completion is due.
  bool idle() const;

  std::vector<Blocked> blocked() const;
  Refusals refusals() const;
  void clear_refusals();

  // Resets the device as its reset line does.
  void reset();

  const nvdla_hw& hw() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_DEVICE_HPP
