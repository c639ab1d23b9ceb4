// SPDX-License-Identifier: MIT
#include "tools/common/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "tools/common/print.hpp"
#include "tools/common/text.hpp"

namespace nvdla::program {
namespace {

constexpr std::chrono::milliseconds kFirst(1000), kNext(250);
constexpr std::size_t kNarrowest = 24;

// A line that is broken cannot be taken back.
std::size_t terminal_columns() {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return std::max<std::size_t>(known ? size.ws_col : kColumns, kNarrowest) - 1;
}

}  // namespace

Progress::Progress(bool wanted) {
  if (wanted && isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Progress::say(std::string text) {
  if (!thread_.joinable()) return;
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
}

std::string Progress::build_text(const std::string& text, const BuildProgress& at) {
  return fmt::format("{}, {} of {}: {}", text, at.done + 1, at.steps, at.step);
}

void Progress::show() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  bool shown = false;
  while (!wake_.wait_for(lock, shown ? kNext : kFirst, [this] { return done_; })) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    const std::string time = fmt::format(", {} s", seconds.count());
    print(stderr, "\r\x1b[K{}{}", elide(text_, terminal_columns() - time.size()), time);
    std::fflush(stderr);
    shown = true;
  }
  if (shown) print(stderr, "\r\x1b[K");
}

}  // namespace nvdla::program
