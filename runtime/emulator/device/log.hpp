// SPDX-License-Identifier: MIT
//
// Lines about what the device did, for the reader of an emulator run. One sink for the process: the
// server is a process of its own.
#ifndef NVDLA_EMULATOR_DEVICE_LOG_HPP
#define NVDLA_EMULATOR_DEVICE_LOG_HPP

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace nvdla::emulator {

// Null, the default, drops everything.
inline std::FILE* log_sink = nullptr;

template <typename... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  if (log_sink == nullptr) return;
  // One call, so that lines of several threads stay whole.
  const std::string line =
      "nvdla-device-server: " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  std::fwrite(line.data(), 1, line.size(), log_sink);
  std::fflush(log_sink);
}

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_LOG_HPP
