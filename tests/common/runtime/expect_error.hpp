// SPDX-License-Identifier: MIT
//
// A call throws nvdla::Error with the right code and says what it should.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_EXPECT_ERROR_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_EXPECT_ERROR_HPP

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "nvdla/types/error.hpp"

namespace nvdla::test {

// The error, with a failure unless it has `code` and its text contains `part`.
template <typename Call>
std::optional<Error> expect_error(ErrorCode code, const std::string& part, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "found: " << error.what() << "\nexpected to contain: " << part;
    return error;
  }
  ADD_FAILURE() << "nothing was thrown; expected: " << part;
  return std::nullopt;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_EXPECT_ERROR_HPP
