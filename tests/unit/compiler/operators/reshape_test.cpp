// SPDX-License-Identifier: MIT
//
// Normalisations, and layers that only move elements, in networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/lut_reference.hpp"
#include "common/runtime/values.hpp"
#include "common/share.hpp"
#include "nvdla/types/half.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Values;

Shape random_cube(test::Random& random) {
  const auto any = [&](int most) { return static_cast<std::uint32_t>(random.pick(1, most)); };
  return {any(70), any(5), any(9), test::one_in(random, 4) ? 3U : 1U};
}

std::int64_t convert(std::int64_t value, const Converter& c, int bits) {
  return test::saturate(
      test::round_shift((static_cast<__int128>(value) - c.offset) * c.scale, c.shift), bits);
}

Values normalize(const Values& in, const Normalization& n) {
  const bool narrow = in.precision == Precision::kInt8;
  Values out(in.shape, in.precision);
  const std::int64_t area = std::int64_t{in.shape.height} * in.shape.width;
  const auto x = [&](std::int64_t i) {
    return convert(in.data[static_cast<std::size_t>(i)], n.input, narrow ? 9 : 17);
  };
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t channel = at / area % in.shape.channels;
    std::int64_t key = x(at);
    if (!n.bypass_square_sum) {
      key = 0;
      const std::int64_t reach = n.window / 2;
      for (std::int64_t d = -reach; d <= reach; ++d) {
        if (channel + d < 0 || channel + d >= in.shape.channels) continue;
        key += x(at + d * area) * x(at + d * area);
      }
    }
    std::int64_t value = test::look_up(*n.lut, key);
    if (!n.bypass_multiply) value *= x(at);
    out.data[i] = static_cast<std::int32_t>(convert(value, n.output, narrow ? 8 : 16));
  }
  return out;
}

void check_normalization(const Device& device, Precision precision, test::Random& random) {
  const Shape shape = random_cube(random);
  const Values in = test::random_tensor(shape, precision, random);
  const bool narrow = precision == Precision::kInt8;
  Normalization n{.name = "norm", .window = 3 + 2 * static_cast<std::uint32_t>(random() % 4)};
  n.bypass_square_sum = random() % 3 == 0;
  n.bypass_multiply = random() % 3 == 0;
  n.input = {.offset = static_cast<std::int32_t>(random() % 21) - 10,
             .scale = static_cast<std::int16_t>(random() % 5 + 1),
             .shift = static_cast<std::uint32_t>(random() % 3)};
  n.output = {.offset = static_cast<std::int32_t>(random() % 2001) - 1000,
              .scale = static_cast<std::int16_t>(random() % 101 - 50),
              .shift = static_cast<std::uint32_t>(random() % 8 + (narrow ? 12 : 20))};
  const unsigned bits = n.bypass_square_sum ? (narrow ? 10 : 18) : (narrow ? 20 : 36);
  const nvdla_lut lut = test::random_lut(NVDLA_LUT_CDP, bits, random);
  n.lut = &lut;
  Network net;
  net.output(net.normalization(net.input("in", shape, precision), n), "out");
  ASSERT_EQ(test::run_one(net, device, in).data, normalize(in, n).data);
}

TEST(Normalizations, Random) {
  const Device full = Device::open("model:nv_full");
  const char* others[] = {"nv_small", "nv_medium_512", "nv_large"};
  test::expect_for_all(test::share(60), [&](test::Random& random) {
    check_normalization(full, Precision::kInt8, random);
    check_normalization(full, Precision::kInt16, random);
    const std::string other = others[random.pick(0, 2)];
    SCOPED_TRACE(other);
    check_normalization(Device::open("model:" + other), Precision::kInt8, random);
  });
}

// A table that is 2 everywhere doubles.
TEST(Normalizations, InFp16) {
  nvdla_lut lut = test::empty_lut(NVDLA_LUT_CDP);
  std::fill(std::begin(lut.le), std::end(lut.le), to_half(2.0));
  std::fill(std::begin(lut.lo), std::end(lut.lo), to_half(2.0));
  lut.flags = NVDLA_LUT_LE_LINEAR;
  Network net;
  const Shape shape{20, 2, 3};
  net.output(net.normalization(net.input("in", shape, Precision::kFp16),
                               {.name = "twice", .window = 3, .lut = &lut}),
             "out");
  Request request = net.build(Device::open("model:nv_full"));
  std::vector<float> in(shape.elements()), expected(in.size()), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<float>(i) / 4 - 7;
    expected[i] = 2 * in[i];
  }
  request.write("in", Layout::kNchw, in);
  request.run();
  request.read("out", Layout::kNchw, out);
  EXPECT_EQ(out, expected);
}

TEST(Reshaping, ContractsRandomCubes) {
  const Device device = Device::open("model:nv_full");
  test::expect_for_all(test::share(30), [&](test::Random& random) {
    const Precision precision = test::kPrecisions[random() % 3];
    const Contraction c{.name = "contract",
                        .stride_height = static_cast<std::uint32_t>(random() % 3 + 1),
                        .stride_width = static_cast<std::uint32_t>(random() % 3 + 1)};
    const std::uint32_t block = (precision == Precision::kInt8 ? 32U : 16U) * (random() % 2 + 1);
    const Shape shape{
        block * c.stride_height * c.stride_width, static_cast<std::uint32_t>(random() % 4 + 1),
        static_cast<std::uint32_t>(random() % 4 + 1), static_cast<std::uint32_t>(random() % 2 + 1)};
    const Values in = test::random_tensor(shape, precision, random);
    Network net;
    net.output(net.contract(net.input("in", shape, precision), c), "out");
    const Shape out{block, shape.height * c.stride_height, shape.width * c.stride_width,
                    shape.batch};
    Values expected(out, precision);
    for (std::size_t n = 0, k = 0; n < out.batch; ++n) {
      for (std::uint32_t ch = 0; ch < block; ++ch) {
        for (std::uint32_t y = 0; y < out.height; ++y) {
          for (std::uint32_t x = 0; x < out.width; ++x, ++k) {
            const std::size_t from =
                (y % c.stride_height * c.stride_width + x % c.stride_width) * std::size_t{block} +
                ch;
            expected.data[k] =
                in.data[((n * shape.channels + from) * shape.height + y / c.stride_height) *
                            shape.width +
                        x / c.stride_width];
          }
        }
      }
    }
    ASSERT_EQ(test::run_one(net, device, in), expected);
  });
}

// Planes in and out, and both ways in one network.
TEST(Reshaping, SplitsAndMerges) {
  const Device device = Device::open("model:nv_full");
  test::expect_for_all(test::share(30), [&](test::Random& random) {
    const Precision precision = test::kPrecisions[random() % 3];
    const Shape shape = random_cube(random);
    const Values in = test::random_tensor(shape, precision, random);
    Network net;
    const Tensor merged = net.merge(net.planar_input("in", shape, precision), "merge");
    const Tensor planes = net.split(merged, "split");
    net.output(merged, "cube");
    net.output(planes, "planes");
    Request request = net.build(device);
    EXPECT_TRUE(request.network().desc("in").planar);
    EXPECT_TRUE(request.network().desc("planes").planar);
    EXPECT_FALSE(request.network().desc("cube").planar);
    test::write(request, "in", in);
    request.run();
    ASSERT_EQ(test::read(request, "cube"), in);
    ASSERT_EQ(test::read(request, "planes"), in);
    // The second channel starts a plane after the first one.
    if (shape.channels > 1) {
      const TensorDesc& desc = request.network().desc("planes");
      const Map map = request.buffer("planes").map(MapMode::kRead);
      const auto* first = map.data() + desc.surface_stride;
      std::uint16_t found = 0;
      std::memcpy(&found, first, desc.element_bytes());
      const auto expected = static_cast<std::uint16_t>(in.data[shape.height * shape.width]);
      EXPECT_EQ(found, desc.element_bytes() == 1 ? expected & 0xff : expected);
    }
  });
}

// Through the second memory and back, where the layer between works in it.
TEST(Reshaping, CopiesThroughTheOtherMemory) {
  test::Random random(303);
  const Device device = Device::open("model:nv_full");
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    const Precision precision = test::kPrecisions[random() % 3];
    Shape shape = random_cube(random);
    if (i == 0) shape.batch = 32;  // more than one layer has transfers
    const Values in = test::random_tensor(shape, precision, random);
    Network net;
    const Tensor near = net.copy(net.input("in", shape, precision), "in to SRAM");
    net.place(near, Memory::kSram);
    const Tensor same = net.pointwise(near, {.name = "same"});
    net.place(same, Memory::kSram);
    const Tensor far = net.copy(same, "out of SRAM");
    net.output(same, "near");
    net.output(far, "out");
    Request request = net.build(device);
    EXPECT_EQ(request.buffer("near").memory(), Memory::kSram);
    EXPECT_EQ(request.buffer("out").memory(), Memory::kDram);
    test::write(request, "in", in);
    request.run();
    ASSERT_EQ(test::read(request, "out"), in);
    ASSERT_EQ(test::read(request, "near"), in);
  }
}

TEST(BadReshaping, Refused) {
  Network net;
  const Tensor in = net.input("in", {6, 2, 2});
  const Tensor planes = net.planar_input("planes", {6, 2, 2}, Precision::kInt8);
  expect_error(ErrorCode::kInvalidArgument, "layer 0 'c': 6 channels are no multiple of the 4",
               [&] { net.contract(in, {.name = "c", .stride_height = 2, .stride_width = 2}); });
  expect_error(ErrorCode::kInvalidArgument, "input 'planes' is planar: merge() it first",
               [&] { net.split(planes, "s"); });
  expect_error(ErrorCode::kInvalidArgument, "input 'planes' is planar: merge() it first",
               [&] { net.pointwise(in, {.x1 = elementwise(NVDLA_ALU_SUM, planes)}); });
  expect_error(ErrorCode::kInvalidArgument, "is a feature cube, which needs no merging",
               [&] { net.merge(in, "m"); });
  expect_error(ErrorCode::kInvalidArgument, "a normalisation needs a look-up table",
               [&] { net.normalization(in, {}); });
  const nvdla_lut lut = test::empty_lut(NVDLA_LUT_CDP);
  expect_error(ErrorCode::kInvalidArgument, "window 4 is none of 3, 5, 7, 9",
               [&] { net.normalization(in, {.window = 4, .lut = &lut}); });
  expect_error(ErrorCode::kInvalidArgument, "memory 2 is none of DRAM (0), SRAM (1)",
               [&] { net.place(in, static_cast<Memory>(2)); });
}

TEST(BadReshaping, LackedByTheDevice) {
  const Device small = Device::open("model:nv_small");
  Network copy;
  copy.output(copy.copy(copy.input("in", {}), "copy"), "out");
  expect_error(ErrorCode::kNotAvailable,
               "layer 0 'copy': a copy needs BDMA, which nv_small does not have",
               [&] { copy.build(small); });
  Network split;
  split.output(split.split(split.input("in", {}), "split"), "out");
  expect_error(ErrorCode::kInvalidProgram, "needs Rubik, which nv_small does not have",
               [&] { split.build(small); });
  Network sram;
  const Tensor in = sram.input("in", {});
  sram.place(in, Memory::kSram);
  sram.output(sram.pointwise(in, {.name = "same"}), "out");
  expect_error(ErrorCode::kNotAvailable, "nv_small", [&] { sram.build(small); });
}

}  // namespace
}  // namespace nvdla
