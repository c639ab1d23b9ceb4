// SPDX-License-Identifier: MIT
//
// The fp16 multipliers and accumulators against rows of bits added one at a time, on all
// instruction sets.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "common/layers/half_reference.hpp"
#include "model/conv/cacc_half.hpp"
#include "model/conv/half_operand.hpp"
#include "model/simd/kernels.hpp"

namespace nvdla::test {
namespace {

using model::HalfAccumulator;
using model::HalfProducts;
using model::kBlock;
using model::kernel_choice;
using model::Kernels;
using model::kKernelChoices;
using model::kLanes;

// Numbers of like and of very different size, denormals, zeros, infinities; NaNs now and then.
std::uint16_t element(std::mt19937_64& random, unsigned kind) {
  const std::uint64_t bits = random();
  const auto sign = static_cast<std::uint16_t>(bits & 0x8000);
  switch (kind) {
    case 0:
      return static_cast<std::uint16_t>(sign | (12 + bits % 6) << 10 | (bits >> 16 & 0x3ff));
    case 1: {
      // Any number.
      const auto value = static_cast<std::uint16_t>(bits);
      return (value & 0x7c00) == 0x7c00 ? static_cast<std::uint16_t>(value & 0xfc00) : value;
    }
    case 2: {
      static constexpr std::uint16_t kSpecial[] = {0,     0x8000, 1,      0x8001, 0x3ff,  0x83ff,
                                                   0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x3c00};
      return kSpecial[(bits >> 20) % std::size(kSpecial)];
    }
    default:
      return static_cast<std::uint16_t>(bits);
  }
}

std::vector<std::uint16_t> elements(std::mt19937_64& random, std::size_t count) {
  const unsigned kind = static_cast<unsigned>(random() % 8);
  std::vector<std::uint16_t> result(count);
  for (auto& one : result) one = element(random, kind < 7 ? kind % 3 : 3);
  return result;
}

TEST(ConvHalf, StepsEqualTheAddersOnAllInstructionSets) {
  unsigned nans = 0;
  for (unsigned seed = 0; seed < 6000; ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t lanes = 1 + random() % kLanes;
    const auto data = elements(random, lanes), weights = elements(random, lanes);
    const RefStep want = multiply_step(data, weights);
    nans += want.is_nan;
    for (unsigned set = 0; set < kKernelChoices; ++set) {
      if (!kernel_choice(set).usable) continue;
      const Kernels& kernels = *kernel_choice(set).kernels;
      HalfProducts got;
      const auto count = static_cast<unsigned>(lanes);
      kernels.half({data.data(), weights.data(), count, false}, got);
      ASSERT_EQ(got.nan, want.nan) << kernels.name << " seed " << seed;
      if (!want.is_nan) {
        ASSERT_EQ(static_cast<int>(got.exponent), want.exponent)
            << kernels.name << " seed " << seed;
        ASSERT_EQ(got.sum, want.sum()) << kernels.name << " seed " << seed;
      }
      got = {};
      kernels.half({data.data(), weights.data(), count, true}, got);
      ASSERT_EQ(got.nan, want.nan) << kernels.name << " seed " << seed;
      if (want.is_nan) continue;
      ASSERT_EQ(static_cast<int>(got.exponent), want.exponent) << kernels.name << " seed " << seed;
      for (std::size_t i = 0; i < lanes; ++i)
        ASSERT_EQ(got.products[i], want.products[i])
            << kernels.name << " seed " << seed << " lane " << i;
      ASSERT_EQ(got.sum, want.sum()) << kernels.name << " seed " << seed;
    }
  }
  EXPECT_GT(nans, 100u);
}

// Without a shift the tree gives the product itself.
TEST(ConvHalf, ProductsOfOneLaneAreExact) {
  const Kernels& kernels = model::chosen_kernels();
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 200000; ++i) {
    const std::uint16_t data = element(random, 1), weight = element(random, 1);
    HalfProducts got;
    kernels.half({&data, &weight, 1, false}, got);
    const auto value = [](std::uint16_t half) {
      const int e = half >> 10 & 31;
      const std::int64_t mantissa =
          e == 0 ? (half & 0x3ff) << 1 : (0x400 | (half & 0x3ff)) << e % 4;
      return (half & 0x8000) != 0 ? -mantissa : mantissa;
    };
    ASSERT_EQ(got.sum, value(data) * value(weight)) << data << " " << weight;
  }
}

TEST(ConvHalf, SumsEqualTheAccumulators) {
  const Kernels& kernels = model::chosen_kernels();
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    HalfAccumulator got;
    RefAccumulator want;
    const unsigned steps = 1 + static_cast<unsigned>(random() % 40);
    for (unsigned step = 0; step < steps; ++step) {
      const std::size_t lanes = 1 + random() % kLanes;
      const auto data = elements(random, lanes), weights = elements(random, lanes);
      HalfProducts products;
      kernels.half({data.data(), weights.data(), static_cast<unsigned>(lanes), false}, products);
      if (products.nan != 0) {
        got.add_nan(products.nan);
      } else {
        got.add(products.sum, products.exponent);
      }
      want.add(multiply_step(data, weights));
      ASSERT_EQ(got.deliver(), want.fp32()) << "seed " << seed << " step " << step;
    }
  }
}

// All that a tile does, for all its kernels at once, on all instruction sets. Steps of each kind:
// products of one exponent, of some, of any.
TEST(ConvHalf, TilesEqualTheAccumulators) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    const auto count = static_cast<unsigned>(1 + random() % model::kMr);
    const auto lanes = static_cast<unsigned>(1 + random() % kLanes);
    const unsigned steps = 1 + static_cast<unsigned>(random() % 6);
    const auto no_nan = [](std::vector<std::uint16_t> values) {
      for (auto& value : values)
        if (is_nan(value)) value = 0x7bff;
      return values;
    };
    // [step][position], [step][kernel]
    std::vector<std::vector<std::uint16_t>> data, weights;
    for (unsigned i = 0; i < steps * count; ++i) data.push_back(no_nan(elements(random, lanes)));
    for (unsigned i = 0; i < steps * kBlock; ++i)
      weights.push_back(no_nan(elements(random, lanes)));
    std::vector<std::uint32_t> want;
    for (unsigned p = 0; p < count; ++p)
      for (unsigned k = 0; k < kBlock; ++k) {
        RefAccumulator sum;
        for (unsigned step = 0; step < steps; ++step)
          sum.add(multiply_step(data[step * count + p], weights[step * kBlock + k]));
        want.push_back(sum.fp32());
      }
    for (unsigned set = 0; set < kKernelChoices; ++set) {
      if (!kernel_choice(set).usable) continue;
      const Kernels& kernels = *kernel_choice(set).kernels;
      std::vector<model::HalfSums> sums(count);
      for (auto& sum : sums) model::clear(sum);
      for (unsigned step = 0; step < steps; ++step) {
        std::vector<std::int16_t> planes[4];
        planes[0].resize(std::size_t{count} * kLanes);
        planes[1].resize(planes[0].size());
        planes[2].resize(std::size_t{lanes} * kBlock);
        planes[3].resize(planes[2].size());
        const auto put = [&](unsigned first, std::size_t at, std::uint16_t value) {
          const model::HalfOperand operand = model::half_operand(value);
          planes[first][at] = operand.mantissa;
          planes[first + 1][at] = operand.group;
        };
        for (unsigned lane = 0; lane < lanes; ++lane) {
          for (unsigned p = 0; p < count; ++p)
            put(0, p * kLanes + lane, data[step * count + p][lane]);
          for (unsigned k = 0; k < kBlock; ++k)
            put(2, lane * kBlock + k, weights[step * kBlock + k][lane]);
        }
        kernels.half_tile({planes[0].data(), planes[1].data(), count, lanes, planes[2].data(),
                           planes[3].data(), sums.data()});
      }
      for (unsigned p = 0; p < count; ++p)
        for (unsigned k = 0; k < kBlock; ++k)
          ASSERT_EQ(model::HalfAccumulator(sums[p], k).deliver(), want[p * kBlock + k])
              << kernels.name << " seed " << seed << " position " << p << " kernel " << k;
    }
  }
}

// Mantissas made for carries, cancellation and rounding.
TEST(ConvHalf, AccumulatorsRoundAlike) {
  for (unsigned seed = 0; seed < 200000; ++seed) {
    std::mt19937_64 random(seed);
    HalfAccumulator got;
    RefAccumulator want;
    for (unsigned step = 0; step < 5; ++step) {
      const unsigned bits = static_cast<unsigned>(random() % 35);
      std::int64_t mantissa = std::int64_t{1} << bits;
      switch (random() % 4) {
        case 0:
          mantissa -= 1;
          break;
        case 1:
          mantissa += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(mantissa));
          break;
        default:
          break;
      }
      if (random() % 2 != 0) mantissa = -mantissa;
      RefStep made;
      made.exponent = static_cast<int>(random() % 15) * 4;
      got.add(mantissa, static_cast<std::uint32_t>(made.exponent));
      want.add(made, mantissa);
      ASSERT_EQ(got.deliver(), want.fp32()) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace nvdla::test
