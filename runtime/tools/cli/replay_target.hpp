// SPDX-License-Identifier: MIT
//
// Opens the device for traces and records: --device of `nvdla replay` and `nvdla diff`.
#ifndef NVDLA_TOOLS_CLI_REPLAY_TARGET_HPP
#define NVDLA_TOOLS_CLI_REPLAY_TARGET_HPP

#include <memory>
#include <optional>
#include <string>

#include "firmware/nvdla_hw.h"
#include "model/device.hpp"
#include "tools/replay/script.hpp"
#include "tools/replay/target.hpp"

namespace nvdla::cli {

class ReplayDevice {
 public:
  // Takes --device or the value of NVDLA_DEVICE; "auto" is the model of each file's configuration.
  // Throws UsageError for a kernel device, whose registers are not accessible.
  explicit ReplayDevice(const std::string& device);

  // Returns the configuration that the device is known to have; nullptr: each file's own.
  const nvdla_hw* hw() const noexcept { return hw_; }
  // Returns true if the device may be real logic rather than the model in this process.
  bool real() const noexcept { return !bare_.empty(); }
  // Returns the number of threads in the device's name, 0 for none.
  unsigned threads() const noexcept { return threads_; }
  const cost::MemoryTiming& memory() const noexcept { return memory_; }

  // Opens a device in the state after power on, for a file of kind `kind`. `options` are the
  // model's.
  std::unique_ptr<replay::Target> open(const nvdla_hw& hw, replay::Kind kind,
                                       const model::Options& options) const;

 private:
  std::string bare_;  // empty: the model
  const nvdla_hw* hw_ = nullptr;
  unsigned threads_ = 0;
  cost::MemoryTiming memory_;
};

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_REPLAY_TARGET_HPP
