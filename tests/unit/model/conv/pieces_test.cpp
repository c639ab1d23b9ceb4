// SPDX-License-Identifier: MIT
//
// int16 by the bytes of its operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/kernel_sets.hpp"
#include "model/simd/kernels.hpp"

namespace nvdla::model {
namespace {

using test::pick;

class PieceSets : public test::KernelSets {};

// Sums against plain ones in 64 bits, and of one kernel so long that 32 bits do not hold what its
// tiles sum.
TEST_P(PieceSets, Convolution) {
  ASSERT_NE(kernels_->pieces, nullptr);
  for (unsigned round = 0; round < 101; ++round) {
    const bool longest = round == 100;
    const unsigned step = kernels_->form.step;
    const auto count = static_cast<unsigned>(longest ? 2 : pick(random_, 1, 4 * kMr + 20));
    const auto run_count = static_cast<unsigned>(longest ? 3 : pick(random_, 1, 4));
    const auto elements =
        static_cast<unsigned>(longest ? 40000 / step : pick(random_, 1, 360 / step)) * step;
    const auto [lines, bases] = places(count, 0);
    std::vector<std::int32_t> runs(run_count);
    for (auto& run : runs) run = static_cast<std::int32_t>(pick(random_, 0, elements));
    const std::size_t size = *std::max_element(bases.begin(), bases.end()) +
                             static_cast<unsigned>(*std::max_element(runs.begin(), runs.end())) +
                             elements;
    auto data = numbers<std::int16_t>(size, INT16_MIN, INT16_MAX);
    auto weights =
        numbers<std::int16_t>(std::size_t{run_count} * elements * kBlock, INT16_MIN, INT16_MAX);
    // All products of one sign and as great as they get, of upper bytes or of lower ones.
    if (round % 10 == 0) {
      std::fill(data.begin(), data.end(), round % 20 == 0 ? INT16_MIN : -1);
      std::fill(weights.begin(), weights.end(), round % 20 == 0 ? INT16_MIN : 255);
    }
    const auto upper_of = [](const std::vector<std::int16_t>& words) {
      std::vector<std::int8_t> bytes(words.size());
      std::transform(words.begin(), words.end(), bytes.begin(),
                     [](std::int16_t word) { return static_cast<std::int8_t>(word >> 8); });
      return bytes;
    };
    const auto lower_of = [](const std::vector<std::int16_t>& words) {
      std::vector<std::uint8_t> bytes(words.size());
      std::transform(words.begin(), words.end(), bytes.begin(),
                     [](std::int16_t word) { return static_cast<std::uint8_t>(word); });
      return bytes;
    };
    const auto upper = upper_of(data), upper_weights = upper_of(weights);
    const auto lower = lower_of(data), lower_weights = lower_of(weights);
    std::vector<std::int64_t> sums(count * kBlock);
    compute([&, &lines = lines, &bases = bases] {
      kernels_->pieces({upper.data() + bases[0], lower.data() + bases[0], lines, count, runs.data(),
                        run_count, elements / kKr, upper_weights.data(), lower_weights.data(),
                        sums.data()});
    });
    for (unsigned p = 0; p < count; ++p)
      for (unsigned k = 0; k < kBlock; ++k) {
        std::int64_t sum = 0;
        for (unsigned r = 0; r < run_count; ++r)
          for (std::size_t i = 0; i < elements; ++i)
            sum += std::int64_t{data[bases[p] + static_cast<std::size_t>(runs[r]) + i]} *
                   weights[((r * elements + i) / kKr * kBlock + k) * kKr + i % kKr];
        ASSERT_EQ(sums[p * kBlock + k], sum) << "round " << round << ": " << p << " " << k;
      }
  }
}

// Those that have it.
INSTANTIATE_TEST_SUITE_P(All, PieceSets, testing::Values(4u), test::kernel_set_name);

}  // namespace
}  // namespace nvdla::model
