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

// Those of this build, and those that are more than the portable loops.
inline const auto kAllKernelSets = testing::Range(0u, model::kKernelChoices);
inline const auto kFasterKernelSets = testing::Range(1u, model::kKernelChoices);

inline std::string kernel_set_name(const testing::TestParamInfo<unsigned>& which) {
  return model::kernel_choice(which.param).kernels->name;
}

class KernelSets : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    const model::KernelChoice choice = model::kernel_choice(GetParam());
    if (!choice.usable) GTEST_SKIP() << "this processor lacks " << choice.needs;
    kernels_ = choice.kernels;
  }

  // What calls `mac` or `pieces`.
  template <typename Call>
  void compute(Call call) {
    if (kernels_->enter != nullptr) kernels_->enter();
    call();
    if (kernels_->leave != nullptr) kernels_->leave();
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

  // Where positions begin, below `most`: anywhere, or as a convolution walks, in lines with a gap
  // between them.
  std::vector<std::size_t> bases(unsigned count, std::size_t most) {
    std::vector<std::size_t> places(count);
    const auto step = static_cast<std::size_t>(pick(random_, 1, 40));
    const auto width = static_cast<std::size_t>(pick(random_, 1, 40));
    const std::size_t line = width * step + static_cast<std::size_t>(pick(random_, 0, 3)) *
                                                (pick(random_, 0, 3) == 0 ? 7 : step);
    const auto first = static_cast<std::size_t>(pick(random_, 0, 30));
    const bool lines =
        pick(random_, 0, 3) != 0 && (first + count) / width * line + width * step <= most;
    for (std::size_t i = 0; i < count; ++i)
      places[i] = lines ? (first + i) / width * line + (first + i) % width * step
                        : static_cast<std::size_t>(pick(random_, 0, most));
    return places;
  }

  const model::Kernels* kernels_ = nullptr;
  Random random_{1};
};

}  // namespace nvdla::test
