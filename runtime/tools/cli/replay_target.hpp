// SPDX-License-Identifier: MIT
//
// What traces and records are played on: --device of `nvdla replay` and `nvdla diff`.
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
  // --device, or what NVDLA_DEVICE says; "auto": the model of what each file is for. Throws
  // UsageError for a kernel device, whose registers are not ours.
  explicit ReplayDevice(const std::string& device);

  // The configuration that it is known to have; nullptr: the one that a file is for.
  const nvdla_hw* hw() const noexcept { return hw_; }
  // Returns whether it may be real logic, rather than the model in this process.
  bool real() const noexcept { return !bare_.empty(); }
  // Threads that its name asks for, 0 for none.
  unsigned threads() const noexcept { return threads_; }
  const cost::MemoryTiming& memory() const noexcept { return memory_; }

  // A device as after power on, for a file of that kind. `options` are the model's.
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
