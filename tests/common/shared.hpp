// SPDX-License-Identifier: MIT
//
// Golden data from outside of the tree: NVDLA_SHARED, or `shared` beside the source tree. A test
// that needs a part of it is skipped where that is absent, and says so; with
// NVDLA_REQUIRE_SHARED=1 it fails.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace nvdla::test {

inline std::filesystem::path shared_folder() {
  const char* given = std::getenv("NVDLA_SHARED");
  return given != nullptr && *given != '\0' ? std::filesystem::path(given)
                                            : std::filesystem::path(NVDLA_SOURCE_DIR) / "../shared";
}

inline bool shared_is_required() {
  const char* given = std::getenv("NVDLA_REQUIRE_SHARED");
  return given != nullptr && *given != '\0' && std::string_view(given) != "0";
}

// What to say if the part is absent; empty if it is there.
inline std::string missing_shared(const std::string& part) {
  const std::filesystem::path folder = shared_folder();
  if (std::filesystem::exists(folder / part)) return {};
  const std::string what = std::filesystem::exists(folder) ? part + " in " : "folder ";
  return "no " + what + folder.lexically_normal().string() +
         ": data from outside; docs/testing.md says what they are and where to get them";
}

}  // namespace nvdla::test

// The first statement of a test.
#define NVDLA_NEEDS_SHARED(part)                                                             \
  if (const std::string missing = ::nvdla::test::missing_shared(part); !missing.empty()) {   \
    if (::nvdla::test::shared_is_required()) FAIL() << missing << " (NVDLA_REQUIRE_SHARED)"; \
    GTEST_SKIP() << missing;                                                                 \
  }                                                                                          \
  static_assert(true)
