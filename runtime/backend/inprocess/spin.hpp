// SPDX-License-Identifier: MIT
//
// Waiting a few microseconds without the operating system: waking a thread takes longer than most
// small layers.
#ifndef NVDLA_BACKEND_INPROCESS_SPIN_HPP
#define NVDLA_BACKEND_INPROCESS_SPIN_HPP

#include <chrono>
#include <thread>

namespace nvdla::detail {

// Until condition() holds, or for about 20 microseconds; the last condition(). Not on a machine
// with one processor, where nothing can change meanwhile.
template <typename Condition>
bool spin_until(const Condition& condition) {
  static const bool kSpin = std::thread::hardware_concurrency() > 1;
  if (condition()) return true;
  if (!kSpin) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  do {
    for (int i = 0; i < 32; ++i) {
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
      if (condition()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_SPIN_HPP
