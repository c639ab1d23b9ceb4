// SPDX-License-Identifier: MIT
//
// Says on a terminal that something slow goes on.
#ifndef NVDLA_TOOLS_CLI_STOPWATCH_HPP
#define NVDLA_TOOLS_CLI_STOPWATCH_HPP

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace nvdla::cli {

class Stopwatch {
 public:
  explicit Stopwatch(bool wanted) {
    if (wanted && isatty(STDERR_FILENO)) {
      thread_ = std::thread([this] { show(); });
    }
  }
  ~Stopwatch() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  void show() {
    std::unique_lock lock(mutex_);
    int seconds = 0;
    while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
      fmt::print(stderr, "\r\x1b[Krunning, {} s", ++seconds);
      std::fflush(stderr);
    }
    if (seconds != 0) fmt::print(stderr, "\r\x1b[K");
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_STOPWATCH_HPP
