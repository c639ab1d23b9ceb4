// SPDX-License-Identifier: MIT
//
// Says on a terminal what slow work is at.
#ifndef NVDLA_TOOLS_COMMON_PROGRESS_HPP
#define NVDLA_TOOLS_COMMON_PROGRESS_HPP

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "nvdla/build_options.hpp"

namespace nvdla::program {

// A line on standard error, if that is a terminal, from the first second on and gone at the end:
// "building, 12 of 45: layer 11 'conv3', 2 s". Threads may share it.
class Progress {
 public:
  explicit Progress(bool wanted = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is done from now on.
  void say(std::string text);
  // For BuildOptions::progress: `text` and the step.
  auto building(const std::string& text) {
    return [this, text](const BuildProgress& at) { say(build_text(text, at)); };
  }

 private:
  static std::string build_text(const std::string& text, const BuildProgress& at);
  void show();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::string text_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_PROGRESS_HPP
