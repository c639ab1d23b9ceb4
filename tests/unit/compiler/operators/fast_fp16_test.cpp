// SPDX-License-Identifier: MIT
//
// Convolutions in fp16 with "fp16=fast": about right, and not what the logic rounds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/runtime/conv_reference.hpp"
#include "common/runtime/random_layers.hpp"

namespace nvdla {
namespace {

using test::RefConv;
using test::Values;

// Of a number that is neither infinite nor NaN.
double number(std::int32_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

Values run(const RefConv& ref, const Values& in, const char* device) {
  test::KernelHolder holder;
  Network net;
  net.output(net.convolution(net.input("in", in.shape, Precision::kFp16),
                             test::layer_of(ref, holder.hold(ref.weights, Precision::kFp16))),
             "out");
  return test::run_one(net, Device::open(device), in);
}

// Numbers up to 2 in layers of up to 500 products: the sums in doubles tell how far off they are.
TEST(FastFp16, IsWithinTheRoundingOfFp32) {
  test::Random random(7);
  double exact_off = 0, fast_off = 0;
  for (int round = 0; round < 12; ++round) {
    RefConv ref;
    ref.processing = Precision::kFp16;
    ref.channels = test::any(random, 1, 70);
    ref.kernels = test::any(random, 1, 50);
    ref.kernel_height = test::any(random, 1, 3);
    ref.kernel_width = test::any(random, 1, 3);
    const std::size_t taps = std::size_t{ref.kernel_height} * ref.kernel_width;
    const auto small = [&] {
      return static_cast<std::int32_t>(random() % 0x4000 | (random() % 2) << 15);
    };
    Values in({ref.channels, test::any(random, 3, 9), test::any(random, 3, 9), 1},
              Precision::kFp16);
    for (std::int32_t& value : in.data) value = small();
    ref.weights.resize(ref.kernels * ref.channels * taps);
    for (std::int32_t& value : ref.weights) value = small();
    const Values exact = run(ref, in, "model:nv_full");
    const Values fast = run(ref, in, "model:nv_full,fp16=fast");
    ASSERT_EQ(fast.shape, exact.shape);
    const Shape& out = fast.shape;
    std::size_t at = 0;
    for (std::size_t k = 0; k < out.channels; ++k)
      for (std::size_t y = 0; y < out.height; ++y)
        for (std::size_t x = 0; x < out.width; ++x, ++at) {
          double sum = 0, size = 0;
          for (std::size_t c = 0; c < ref.channels; ++c)
            for (std::size_t tap = 0; tap < taps; ++tap) {
              const std::size_t row = y + tap / ref.kernel_width,
                                column = x + tap % ref.kernel_width;
              const double product =
                  number(in.data[(c * in.shape.height + row) * in.shape.width + column]) *
                  number(ref.weights[(k * ref.channels + c) * taps + tap]);
              sum += product;
              size += std::abs(product);
            }
          // Half of the last place that fp16 has, and what fp32 rounds away on the way.
          const double room = std::max(std::abs(sum) * 0x1p-11, 0x1p-25) + size * 0x1p-20;
          ASSERT_LE(std::abs(number(fast.data[at]) - sum), room) << "round " << round;
          fast_off = std::max(fast_off, std::abs(number(fast.data[at]) - sum) / size);
          exact_off = std::max(exact_off, std::abs(number(exact.data[at]) - sum) / size);
        }
  }
  RecordProperty("largest_error_of_fast", std::to_string(fast_off));
  RecordProperty("largest_error_of_exact", std::to_string(exact_off));
}

// A small product beside great ones that cancel is cut off by the logic.
TEST(FastFp16, DoesNotCutOffSmallProducts) {
  RefConv ref;
  ref.processing = Precision::kFp16;
  ref.channels = 3;
  ref.kernels = 1;
  ref.kernel_height = ref.kernel_width = 1;
  ref.weights = {0x6400, 0x6400, 0x3c00};  // 1024, 1024, 1
  Values in({3, 1, 1, 1}, Precision::kFp16);
  in.data = {0x7800, 0xf800, 0x0400};  // 32768, -32768, 2^-14
  EXPECT_EQ(run(ref, in, "model:nv_full").data[0], 0);
  EXPECT_EQ(run(ref, in, "model:nv_full,fp16=exact").data[0], 0);
  EXPECT_EQ(run(ref, in, "model:nv_full,fp16=fast").data[0], 0x0400);
}

// A NaN is the same one.
TEST(FastFp16, HasTheNansOfTheLogic) {
  test::Random random(9);
  RefConv ref;
  ref.processing = Precision::kFp16;
  ref.channels = 40;
  ref.kernels = 20;
  ref.kernel_height = ref.kernel_width = 3;
  ref.weights = test::random_kernels(std::size_t{20} * 40 * 9, Precision::kFp16, random);
  Values in = test::random_tensor({40, 6, 6, 1}, Precision::kFp16, random);
  in.data[100] = 0x7e12;
  EXPECT_TRUE(run(ref, in, "model:nv_full,fp16=fast") == run(ref, in, "model:nv_full"));
}

}  // namespace
}  // namespace nvdla
