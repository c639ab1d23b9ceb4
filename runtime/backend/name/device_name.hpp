// SPDX-License-Identifier: MIT
//
// Parses the names of devices. This is the only parser of such names; Device::open() uses it, and
// so do tools that need only the configuration.
#ifndef NVDLA_BACKEND_NAME_DEVICE_NAME_HPP
#define NVDLA_BACKEND_NAME_DEVICE_NAME_HPP

#include <span>
#include <string>
#include <string_view>

#include "backend/name/mmio_name.hpp"
#include "cost/memory_timing.hpp"
#include "firmware/nvdla_hw.h"
#include "nvdla/types/memory_speed.hpp"

namespace nvdla::detail {

// Options of "model:<configuration>,<option>=<value>".
struct ModelOptions {
  unsigned threads = 0;   // 0: one for each processor
  bool gating = true;     // false: DeviceName::hw is without NVDLA_HW_WEIGHT_GATING
  unsigned revision = 0;  // of DeviceName::hw
  bool fast_fp16 = false;
  cost::MemoryTiming memory = {};  // in cycles of the clock in the name
  std::uint64_t sram_bytes = 0;    // size of secondary memory; 0: as much as the host has
};

// Options of "sim:<path>,<option>=<value>", without the configuration.
struct SimOptions {
  unsigned stall = 60;    // seconds without a sign of life
  bool messages = false;  // never share memory
};

struct DeviceName {
  enum class Kind { kAuto, kKernel, kModel, kSim, kMmio };

  Kind kind = Kind::kAuto;
  // kKernel: its file; empty: the first that there is. kSim: its socket.
  std::string path = {};
  const nvdla_hw* hw = nullptr;  // kModel; kSim, kMmio: as named, or nullptr
  ModelOptions options = {};     // kModel
  SimOptions sim = {};           // kSim
  MmioName mmio = {};            // kMmio
};

// A form of names, with an example and a description for --help.
struct DeviceForm {
  std::string_view name, text;
};
// An option ",<key>=<value>" of names that begin with `form`.
struct DeviceOption {
  std::string_view form, key;
  std::string value, text;
};

// Return all forms and options in the order in which --help lists them.
std::span<const DeviceForm> device_forms();
std::span<const DeviceOption> device_options();

// Parses a name as Device::open() documents it. Throws kNoDevice for anything else, with a list of
// the valid forms. Opens nothing, and does not check that a file exists.
DeviceName parse_device_name(std::string_view name);

// Returns true for the name of a device model that parse_device_name() accepts.
bool is_model_name(std::string_view name);

// Does the same, but resolves "auto" by the environment variable NVDLA_DEVICE. kAuto remains only
// if neither the name nor the variable decides.
DeviceName choose_device_name(std::string_view name);

// Returns the configuration of "model" and, where there is no kernel device, of "auto".
const nvdla_hw& default_configuration() noexcept;

// Converts the memory timing of a name to the public type.
MemorySpeed memory_speed(const cost::MemoryTiming& timing) noexcept;

// Returns the name of a model of a configuration, with or without the fault of the clock gate, and
// with this memory. A bandwidth is rounded to a thousandth of a byte per cycle.
std::string model_name(const nvdla_hw& hw, const MemorySpeed& memory = {},
                       std::uint64_t sram_bytes = 0);

// "nv_full, nv_large, ..."
std::string configuration_names();

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_NAME_DEVICE_NAME_HPP
