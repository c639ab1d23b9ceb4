// SPDX-License-Identifier: MIT
//
// What each instruction set makes of SDP's operands, one number at a time, and that the narrow
// forms of the operators give what the wide ones do wherever they are said to fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "arith/float.hpp"
#include "support/kernel_sets.hpp"

namespace nvdla::model {
namespace {

using test::pick;

class SdpKernels : public test::KernelSets {};

constexpr std::int32_t kUntouched = 0x5a5a5a5a;

TEST_P(SdpKernels, WidenElements) {
  for (unsigned round = 0; round < 1000; ++round) {
    SdpElements from{};
    from.count = static_cast<unsigned>(pick(random_, 1, 60));
    from.lanes = 8u << pick(random_, 0, 2);
    from.parts = static_cast<unsigned>(pick(random_, 1, 2));
    from.part = static_cast<unsigned>(pick(random_, 0, from.parts - 1));
    from.two_bytes = pick(random_, 0, 1) != 0;
    const std::size_t bytes = from.two_bytes ? 2 : 1;
    // Neither the bytes nor the results have room for one more.
    const auto raw = numbers<std::int8_t>(std::size_t{from.count} * from.lanes * from.parts * bytes,
                                          INT8_MIN, INT8_MAX);
    from.data = raw.data();
    std::vector<std::int32_t> got((from.count - 1) * kBlock + from.lanes, kUntouched);
    kernels_->sdp_widen(from, got.data());
    for (unsigned i = 0; i < got.size(); ++i) {
      std::int32_t want = kUntouched;
      if (const unsigned lane = i % kBlock; lane < from.lanes) {
        const std::size_t at =
            ((std::size_t{i / kBlock} * from.lanes + lane) * from.parts + from.part) * bytes;
        std::int16_t value = raw[at];
        if (from.two_bytes) std::memcpy(&value, &raw[at], 2);
        want = value;
      }
      ASSERT_EQ(got[i], want) << "position " << i / kBlock << ", lane " << i % kBlock;
    }
  }
}

TEST_P(SdpKernels, ShiftOperandsToTheLeft) {
  for (unsigned shift = 0; shift < 64; ++shift) {
    auto values = numbers<std::int32_t>(kBlock * 4, INT16_MIN, INT16_MAX);
    const std::int32_t small[] = {-128, -2, -1, 0, 1, 2, 127};
    std::copy(std::begin(small), std::end(small), values.begin());
    auto got = values;
    kernels_->sdp_shift(got.data(), static_cast<unsigned>(got.size()), shift);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto want =
          std::clamp<__int128>(static_cast<__int128>(values[i]) << shift, INT32_MIN, INT32_MAX);
      ASSERT_EQ(got[i], static_cast<std::int32_t>(want)) << values[i] << " << " << shift;
    }
  }
}

TEST_P(SdpKernels, ConvertOperands) {
  for (unsigned round = 0; round < 5000; ++round) {
    SdpOperandConverter c{};
    c.largest = pick(random_, 0, 1) != 0 ? 128 : 32768;
    const auto bits = pick(random_, 1, 32);
    const std::int64_t limit = std::int64_t{1} << (bits - 1);
    c.offset = static_cast<std::int32_t>(pick(random_, -limit, limit - 1));
    c.scale =
        static_cast<std::int16_t>(pick(random_, INT16_MIN, INT16_MAX) >> pick(random_, 0, 15));
    c.truncate = static_cast<std::uint8_t>(pick(random_, 0, pick(random_, 0, 1) != 0 ? 63 : 20));
    const auto values = numbers<std::int32_t>(kBlock * 2, -c.largest, c.largest - 1);
    auto got = values;
    kernels_->sdp_operand(got.data(), static_cast<unsigned>(got.size()), c);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const __int128 product = (static_cast<__int128>(values[i]) - c.offset) * c.scale;
      const __int128 magnitude = product < 0 ? -product : product;
      const __int128 half = c.truncate == 0 ? 0 : static_cast<__int128>(1) << (c.truncate - 1);
      const __int128 rounded = (magnitude + half) >> c.truncate;
      const auto want =
          std::clamp<__int128>(product < 0 ? -rounded : rounded, INT32_MIN, INT32_MAX);
      ASSERT_EQ(got[i], static_cast<std::int32_t>(want))
          << "(" << values[i] << " - " << c.offset << ") * " << c.scale << " >> "
          << static_cast<unsigned>(c.truncate);
    }
  }
}

TEST_P(SdpKernels, TakeEveryHalf) {
  for (const bool flush : {false, true}) {
    std::vector<std::int32_t> got(0x10000);
    for (unsigned i = 0; i < got.size(); ++i) got[i] = static_cast<std::int16_t>(i);
    kernels_->sdp_half(got.data(), static_cast<unsigned>(got.size()), flush);
    for (unsigned i = 0; i < got.size(); ++i)
      ASSERT_EQ(static_cast<std::uint32_t>(got[i]),
                fp::widen<fp::Fp32>(flush ? fp::flush_nan<fp::Fp16>(i) : i))
          << std::hex << i;
  }
}

// Bounds of the stream and of both operands for which 32 bits are enough, as SdpX::fits says.
struct Bounds {
  std::int64_t value, addend, factor;
  unsigned shift;
};

Bounds draw_bounds(test::Random& random) {
  while (true) {
    const Bounds b{std::int64_t{1} << pick(random, 0, 31), std::int64_t{1} << pick(random, 0, 31),
                   std::int64_t{1} << pick(random, 0, 15),
                   static_cast<unsigned>(pick(random, 0, 32))};
    const std::int64_t sum = b.value + b.addend, half = (std::int64_t{1} << b.shift) >> 1;
    if (sum <= INT32_MAX && (sum * b.factor + half) >> b.shift <= INT32_MAX) return b;
  }
}

TEST_P(SdpKernels, NarrowOperatorsEqualWideOnes) {
  for (unsigned round = 0; round < 3000; ++round) {
    const Bounds bounds = draw_bounds(random_);
    const auto count = static_cast<unsigned>(pick(random_, 1, 6));
    const auto lanes = static_cast<unsigned>(8 * pick(random_, 1, 4));
    const auto within = [&](std::int64_t limit) {
      return numbers<std::int32_t>(std::size_t{count} * kBlock, -limit,
                                   std::min<std::int64_t>(limit, INT32_MAX));
    };
    const auto in = within(bounds.value), alu = within(bounds.addend), mul = within(bounds.factor);
    const unsigned stride = pick(random_, 0, 1) != 0 ? kBlock : 0;
    SdpX x{true,
           static_cast<Alu>(pick(random_, 0, 3)),
           true,
           pick(random_, 0, 1) != 0,
           pick(random_, 0, 1) != 0,
           static_cast<std::uint8_t>(bounds.shift),
           {alu.data(), stride},
           {mul.data(), stride},
           false};
    SdpY y{true, true, x.prelu, x.shift, x.alu, {alu.data(), stride}, {mul.data(), stride}, false};
    auto want = in, got = in, want_y = in, got_y = in;
    kPortableKernels.sdp_x(want.data(), count, lanes, x);
    kPortableKernels.sdp_y(want_y.data(), count, lanes, y);
    x.fits = y.fits = true;
    kernels_->sdp_x(got.data(), count, lanes, x);
    kernels_->sdp_y(got_y.data(), count, lanes, y);
    for (unsigned i = 0; i < count * kBlock; ++i) {
      if (i % kBlock >= lanes) continue;
      ASSERT_EQ(got[i], want[i]) << "round " << round << ", value " << i;
      ASSERT_EQ(got_y[i], want_y[i]) << "round " << round << ", value " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SdpKernels, test::kAllKernelSets, test::kernel_set_name);

}  // namespace
}  // namespace nvdla::model
