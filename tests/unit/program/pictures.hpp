// SPDX-License-Identifier: MIT
//
// What the tests of picture files share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/files/picture.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {

inline std::vector<std::uint8_t> bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

// Returns what UsageError the call throws, or "no error".
inline std::string usage_error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace nvdla::program
