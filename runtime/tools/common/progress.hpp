// SPDX-License-Identifier: MIT
//
// Shows the progress of slow work on a terminal.
#ifndef NVDLA_TOOLS_COMMON_PROGRESS_HPP
#define NVDLA_TOOLS_COMMON_PROGRESS_HPP

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "nvdla/build_options.hpp"

namespace nvdla::program {

// `Progress` shows a line on standard error, if that is a terminal, from the first second on until
// the end: "building, 12 of 45: layer 11 'conv3', 2 s". Several threads may use it.
class Progress {
 public:
  explicit Progress(bool wanted = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Sets the text for the current work.
  void say(std::string text);
  // Returns a callback for BuildOptions::progress, which shows `text` and the step.
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
