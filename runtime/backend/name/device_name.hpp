// SPDX-License-Identifier: MIT
//
// What the name of a device says. The one parser of such names, for Device::open() and for programs
// that only want to know the configuration.
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

// What may stand behind the commas of "model:<configuration>,<option>=<value>".
struct ModelOptions {
  unsigned threads = 0;   // 0: one for each processor
  bool gating = true;     // false: DeviceName::hw is without NVDLA_HW_WEIGHT_GATING
  unsigned revision = 0;  // of DeviceName::hw
  bool fast_fp16 = false;
  cost::MemoryTiming memory = {};  // in cycles of the clock that the name gives
  std::uint64_t sram_bytes = 0;    // of buffers in secondary memory; 0: as many as the host has
};

// What may stand behind the commas of "sim:<path>,<option>=<value>", but the configuration.
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

// A form that names have, by an example.
struct DeviceForm {
  std::string_view name, text;
};
// An option behind a comma, ",<key>=<value>", of names that begin with `form`.
struct DeviceOption {
  std::string_view form, key;
  std::string value, text;
};

// All of them, in the order in which --help lists them.
std::span<const DeviceForm> device_forms();
std::span<const DeviceOption> device_options();

// Reads a name as Device::open() describes them. Throws kNoDevice for what is none, listing what
// would be. Opens nothing, and does not look whether a file is there.
DeviceName parse_device_name(std::string_view name);

// Returns true for a name of a device model that parse_device_name() takes.
bool is_model_name(std::string_view name);

// The same, but "auto" is what the environment variable NVDLA_DEVICE says, if it says anything:
// kAuto is left where neither the name nor the variable decides.
DeviceName choose_device_name(std::string_view name);

// The configuration that "model" and, where there is no kernel device, "auto" stand for.
const nvdla_hw& default_configuration() noexcept;

// Returns the memory of a name as the interface of applications has it.
MemorySpeed memory_speed(const cost::MemoryTiming& timing) noexcept;

// Returns the name of the model of a configuration, with and without the fault of the clock gate,
// behind which there is this memory. A bandwidth is rounded to a thousandth of a byte a cycle.
std::string model_name(const nvdla_hw& hw, const MemorySpeed& memory = {},
                       std::uint64_t sram_bytes = 0);

// "nv_full, nv_large, ..."
std::string configuration_names();

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_NAME_DEVICE_NAME_HPP
