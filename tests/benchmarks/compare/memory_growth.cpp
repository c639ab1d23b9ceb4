// SPDX-License-Identifier: MIT
#include "compare/memory_growth.hpp"

#include <malloc.h>

#include <fstream>
#include <stdexcept>
#include <string>

namespace nvdla::bench {
namespace {

// KiB of a line of /proc/self/status, such as "VmHWM:    1234 kB".
double status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string word;
  double value = 0;
  while (file >> word)
    if (word == name && file >> value) return value;
  throw std::runtime_error("/proc/self/status has no " + name);
}

// The greatest size from here on.
void forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  if (!(file << "5" << std::flush))
    throw std::runtime_error("/proc/self/clear_refs cannot be written");
}

}  // namespace

double memory_growth(const std::function<void()>& run) {
  malloc_trim(0);
  const double before = status("VmRSS:");
  forget_peak();
  run();
  return (status("VmHWM:") - before) / 1024;
}

}  // namespace nvdla::bench
