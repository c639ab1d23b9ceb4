// SPDX-License-Identifier: MIT
//
// How many random layers a test draws: all of them, or a part where each takes its time, as under
// a sanitizer.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace nvdla::test {

constexpr unsigned share(unsigned count) {
  return (count + NVDLA_TEST_SHARE - 1) / NVDLA_TEST_SHARE;
}

// Of a row of tests those that are drawn; always the first.
class Share {
 public:
  bool next() { return count_++ % NVDLA_TEST_SHARE == 0; }

 private:
  unsigned count_ = 0;
};

// For those who add up what was tested.
inline void count_layers(const std::string& what, unsigned count) {
  testing::Test::RecordProperty("random_layers", static_cast<int>(count));
  std::printf("%u random layers: %s\n", count, what.c_str());
}

}  // namespace nvdla::test
