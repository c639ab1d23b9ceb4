// SPDX-License-Identifier: MIT
//
// Tests of each set of the model's inner loops that this processor runs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/layers/model_layer.hpp"
#include "model/simd/kernels.hpp"

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

  // Where positions begin: as a convolution walks, in lines with a gap between them, which may be
  // any; or anywhere below `most`, where a set does not want to know of lines.
  struct Places {
    model::TileLines lines;
    std::vector<std::size_t> bases;
  };
  Places places(unsigned count, std::size_t most) {
    const auto number = [&](int low, int high) {
      return static_cast<std::size_t>(pick(random_, low, high));
    };
    Places places{{0, 1, 0, 0}, std::vector<std::size_t>(count)};
    if (!kernels_->form.lines && number(0, 3) == 0) {
      for (std::size_t& base : places.bases)
        base = static_cast<std::size_t>(pick(random_, 0, most));
      return places;
    }
    model::TileLines& lines = places.lines;
    lines.width = static_cast<unsigned>(number(1, 40));
    lines.x = static_cast<unsigned>(number(0, 40)) % lines.width;
    lines.step = number(0, 9) == 0 ? number(0, 3) : number(1, 40);
    const std::size_t gap = number(0, 3) * (number(0, 3) == 0 ? 7 : lines.step);
    lines.line = number(0, 9) == 0 ? number(0, 300) : lines.width * lines.step + gap;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t x = lines.x + i;
      places.bases[i] = x / lines.width * lines.line + x % lines.width * lines.step;
    }
    const std::size_t least = *std::min_element(places.bases.begin(), places.bases.end());
    for (std::size_t& base : places.bases) base -= least;
    return places;
  }

  const model::Kernels* kernels_ = nullptr;
  Random random_{1};
};

}  // namespace nvdla::test
