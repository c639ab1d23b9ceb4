// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/interrupt.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace nvdla::detail {

bool Interrupt::reported_by(int file) noexcept {
  std::uint32_t count = 0;
  return ::read(file, &count, sizeof(count)) >= 0 || errno == EAGAIN;
}

bool Interrupt::wait(std::chrono::nanoseconds time) {
  // Drains earlier reports, which do not describe the line's state now.
  std::array<std::byte, 8> report;
  while (::read(file_, report.data(), std::min(bytes_, report.size())) > 0) {
  }
  listen();
  constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(1);
  const auto left = std::clamp(time, std::chrono::nanoseconds(0), kLongest);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec limit = {static_cast<std::time_t>(seconds.count()),
                          static_cast<long>((left - seconds).count())};
  pollfd wanted = {file_, POLLIN, 0};
  return ::ppoll(&wanted, 1, &limit, nullptr) > 0;
}

}  // namespace nvdla::detail
