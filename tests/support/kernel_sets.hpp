// SPDX-License-Identifier: MIT
//
// Tests of each set of the model's inner loops that this processor runs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/kernels/kernels.hpp"
#include "support/model_layer.hpp"

namespace nvdla::test {

// Every index, whether this build has that set or not.
inline const auto kAllKernelSets = testing::Values(0u, 1u, 2u);

inline std::string kernel_set_name(const testing::TestParamInfo<unsigned>& which) {
  constexpr const char* kNames[] = {"portable", "avx2", "avx512"};
  return kNames[which.param];
}

class KernelSets : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    if (GetParam() >= model::kKernelChoices) GTEST_SKIP() << "not built for this architecture";
    const model::KernelChoice choice = model::kernel_choice(GetParam());
    if (!choice.usable) GTEST_SKIP() << "this processor lacks " << choice.needs;
    kernels_ = choice.kernels;
  }

  // Often one of the limits.
  template <typename T>
  std::vector<T> numbers(std::size_t count, std::int64_t low, std::int64_t high) {
    std::vector<T> result(count);
    for (T& one : result)
      one = static_cast<T>(pick(random_, 0, 7) == 0 ? (pick(random_, 0, 1) != 0 ? low : high)
                                                    : pick(random_, low, high));
    return result;
  }
  std::vector<std::int32_t> words(std::size_t count) {
    return numbers<std::int32_t>(count, INT32_MIN, INT32_MAX);
  }

  const model::Kernels* kernels_ = nullptr;
  Random random_{1};
};

}  // namespace nvdla::test
