// SPDX-License-Identifier: MIT
//
// One fault, one message: what a parser says about it, whole.
#ifndef NVDLA_TESTS_TOOLS_EXPECT_ERROR_HPP
#define NVDLA_TESTS_TOOLS_EXPECT_ERROR_HPP

#include <gtest/gtest.h>

#include <string>

#include "tools/replay/text.hpp"

namespace nvdla::replay {

// The message of the Error that `action` throws, or what happened instead.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace nvdla::replay

#endif  // NVDLA_TESTS_TOOLS_EXPECT_ERROR_HPP
