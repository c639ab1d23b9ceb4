// SPDX-License-Identifier: MIT
//
// Operations of the CPU.
#include "loadable/read/emulate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "host_ops/cube.hpp"
#include "nvdla/types/half.hpp"
#include "unit/loadable/maker.hpp"

namespace nvdla {
namespace {

using namespace loadable;

TEST(Half, EveryPatternComesBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_half(half);
    if (std::isnan(value)) {
      EXPECT_EQ(bits & 0x7c00, 0x7c00U);
      EXPECT_TRUE(std::isnan(from_half(cpu::half_or_infinity(value))));
    } else {
      ASSERT_EQ(cpu::half_or_infinity(value), half) << bits;
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const float low = from_half(static_cast<std::uint16_t>(bits));
    const float high = from_half(static_cast<std::uint16_t>(bits + 1));
    const float middle = (low + high) / 2;
    ASSERT_EQ(cpu::half_or_infinity(middle), bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(cpu::half_or_infinity(std::nextafter(middle, 0.0F)), bits);
    ASSERT_EQ(cpu::half_or_infinity(std::nextafter(middle, high)), bits + 1);
  }
  EXPECT_EQ(cpu::half_or_infinity(65519.0F), 0x7bff);
  EXPECT_EQ(cpu::half_or_infinity(65520.0F), 0x7c00);
  EXPECT_EQ(cpu::half_or_infinity(-1e30F), 0xfc00);
}

EmuStep step(std::uint8_t type, std::uint16_t format, std::uint16_t channels, std::uint16_t width) {
  EmuStep s;
  s.operation.type = type;
  EmuBuffer b;
  b.format = format;
  b.width = width;
  b.height = 1;
  b.channel = channels;
  b.line_stride = width * 32U;
  b.surf_stride = b.line_stride;
  s.operation.source = s.operation.destination = b;
  return s;
}

TEST(Emulate, PowerOfHalves) {
  EmuStep s = step(kPower, 3, 16, 2);
  s.operation.power = 2;
  s.operation.scale = 0.5F;
  s.operation.shift = 1;
  std::vector<std::byte> source(64), result(64);
  for (int i = 0; i < 32; ++i) {
    const std::uint16_t half = cpu::half_or_infinity(static_cast<float>(i));
    std::memcpy(source.data() + i * 2, &half, 2);
  }
  run_emu(s, source, result);
  for (int i = 0; i < 32; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, result.data() + i * 2, 2);
    const float expected = (1 + 0.5F * i) * (1 + 0.5F * i);
    EXPECT_EQ(half, cpu::half_or_infinity(expected)) << i;
  }
}

TEST(Emulate, PowerOfInt8TruncatesAndSaturates) {
  EmuStep s = step(kPower, 0, 4, 1);
  s.operation.input_scale = 0.5F;
  s.operation.output_scale = 0.25F;
  s.operation.scale = 1.3F;
  std::vector<std::byte> bytes(32);
  const std::int8_t in[] = {100, -100, 3, -3};
  std::memcpy(bytes.data(), in, sizeof(in));
  run_emu(s, bytes, bytes);  // in place
  std::int8_t out[4];
  std::memcpy(out, bytes.data(), sizeof(out));
  EXPECT_EQ(out[0], 127);
  EXPECT_EQ(out[1], -128);
  EXPECT_EQ(out[2], 7);  // 3 * 0.5 * 1.3 / 0.25 = 7.8
  EXPECT_EQ(out[3], -7);
}

TEST(Emulate, SoftmaxOverChannels) {
  EmuStep s = step(kSoftmax, 3, 20, 1);  // a second surface
  std::vector<std::byte> bytes(64);
  double sum = 0;
  for (int c = 0; c < 20; ++c) {
    const std::uint16_t half = cpu::half_or_infinity(static_cast<float>(c) / 4 + 500);
    std::memcpy(bytes.data() + c / 16 * 32 + c % 16 * 2, &half, 2);
    sum += std::exp(c / 4.0);
  }
  run_emu(s, bytes, bytes);
  for (int c = 0; c < 20; ++c) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes.data() + c / 16 * 32 + c % 16 * 2, 2);
    EXPECT_NEAR(from_half(half), std::exp(c / 4.0) / sum, 1e-3) << c;
  }
}

// Whatever a file calls the stride: that is how SDP leaves the channels of one position.
TEST(Emulate, SoftmaxTakesARun) {
  test::Maker maker;
  const Container c = maker.container();
  EmuOperation op = step(kSoftmax, 0, 40, 1).operation;
  op.source.address = 1;
  op.destination.address = 2;
  op.source.surf_stride = op.destination.surf_stride = 512;
  Task task;
  task.work = EmuTask{.revision = Revision::kNew, .operations = {op}};
  const std::vector<EmuStep> steps = resolve_emu(c, task);
  std::vector<std::byte> source(64), result(64, std::byte{9});
  for (int i = 0; i < 40; ++i) source[static_cast<std::size_t>(i)] = std::byte{3};
  EmuStep run = steps.at(0);
  run.operation.output_scale = 0.0049F;
  run_emu(run, source, result);
  // Each of 40 is as likely.
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(result[i], std::byte{5}) << i;
  EXPECT_EQ(result[40], std::byte{9});
}

}  // namespace
}  // namespace nvdla
