// SPDX-License-Identifier: MIT
//
// Names of all configurations, for tests that run on each.
#pragma once

namespace nvdla::test {

inline constexpr const char* kConfigurations[] = {
    "nv_full",      "nv_large", "nv_medium_1024_full", "nv_medium_512", "nv_small_256_full",
    "nv_small_256", "nv_small"};

}  // namespace nvdla::test
