// SPDX-License-Identifier: MIT
//
// Names of all configurations, for tests that run on each.
#pragma once

#include <vector>

#include "firmware/nvdla_hw.h"

namespace nvdla::test {

inline const std::vector<const char*> kConfigurations = [] {
  std::vector<const char*> names;
  for (u32 i = 0; i < nvdla_hw_count(); ++i) names.push_back(nvdla_hw_get(i)->name);
  return names;
}();

}  // namespace nvdla::test
