// SPDX-License-Identifier: MIT
//
// What each instruction set makes of lines of fp16 beside the portable loops, where roundings are
// ties or nearly so, sums cancel or are too large for a half.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/kernel_sets.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

using test::pick;

class PdpKernels : public test::KernelSets {
 protected:
  // 1, what is a little more than half of its last place below, zeros, large ones, and any other.
  // Often none has a sign.
  std::vector<std::uint16_t> halves(std::size_t count) {
    constexpr std::uint16_t kSome[] = {0x3c00, 0xbc00, 0x8c01, 0x0c01, 0x0000, 0x8000, 0x7bff,
                                       0xfbff, 0x7800, 0x0001, 0x8400, 0x4401, 0x4800, 0xc800};
    std::vector<std::uint16_t> values(count);
    const bool signs = pick(random_, 0, 2) != 0;
    for (std::uint16_t& value : values) {
      value = kSome[pick(random_, 0, std::ssize(kSome) - 1)];
      if (pick(random_, 0, 3) == 0) value = static_cast<std::uint16_t>(pick(random_, 0, 0x7bff));
      if (!signs) value &= 0x7fff;
    }
    return values;
  }
};

TEST_P(PdpKernels, PoolPlainHalvesAsThePortableOnesDo) {
  const UnitKernels& units = *kernels_->units;
  for (unsigned round = 0; round < 3000; ++round) {
    PoolRule rule{};
    rule.kind = static_cast<PoolKind>(static_cast<int>(PoolKind::kAverageHalf) + round % 3);
    const bool average = rule.kind == PoolKind::kAverageHalf;
    rule.reciprocal_width = 0x3eaaa000;   // a third
    rule.reciprocal_height = 0x3f000000;  // a half
    std::int32_t missing[8];
    constexpr std::int32_t kSome[] = {0, 0x3f800000, -0x40800000};  // 1 and -1
    const int last_of_missing = pick(random_, 1, 2);
    for (std::int32_t& value : missing) value = kSome[pick(random_, 0, last_of_missing)];
    // A line that ends with its last window, or a column before or behind.
    const auto number = [&](int low, int high) {
      return static_cast<unsigned>(pick(random_, low, high));
    };
    const unsigned kernel = number(1, 8), left = number(0, static_cast<int>(kernel) - 1);
    const unsigned stride = number(1, 3), out_width = number(1, 12);
    const int last = static_cast<int>((out_width - 1) * stride) - static_cast<int>(left);
    const auto width = static_cast<unsigned>(
        std::max(std::max(last, 0) + 1,
                 last + static_cast<int>(kernel) + static_cast<int>(number(0, 2)) - 1));
    const PoolLine line{16, width, out_width, left, kernel, stride, average ? missing : nullptr};
    const std::size_t count = std::size_t{out_width} * 16, in_line = std::size_t{width} * 16;
    const auto in = halves(in_line * 4);
    const PoolElements at_most =
        pick(random_, 0, 3) == 0 ? PoolElements::kPlain : PoolElements::kUnsigned;
    const auto pool = [&](const UnitKernels& kernels) {
      std::vector<std::int32_t> values(count * 4);
      std::vector<std::uint16_t> out(count, 0xffff);
      PoolRows rows{};
      rows.rows = static_cast<unsigned>(1 + round % 4);
      rows.count = count;
      PoolElements elements = PoolElements::kUnsigned;
      rows.missing = average && round % 5 == 0 ? missing : nullptr;
      for (unsigned y = 0; y < rows.rows; ++y) {
        rows.values[y] = values.data() + y * count;
        const PoolElements known = kernels.pool_along(rule, line, at_most, in.data() + y * in_line,
                                                      values.data() + y * count);
        EXPECT_NE(known, PoolElements::kAny);
        EXPECT_LE(known, at_most);
        elements = std::min(elements, known);
      }
      kernels.pool_down(rule, rows, elements, out.data());
      return out;
    };
    ASSERT_EQ(pool(units), pool(kPortableUnits)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, PdpKernels, test::kAllKernelSets, test::kernel_set_name);

}  // namespace
}  // namespace nvdla::model
