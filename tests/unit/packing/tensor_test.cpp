// SPDX-License-Identifier: MIT
//
// Feature cubes against the address formula, element by element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {
namespace {

using test::expect_error;

std::uint64_t address(const TensorDesc& d, std::uint32_t n, std::uint32_t c, std::uint32_t y,
                      std::uint32_t x) {
  const std::uint32_t bytes = d.precision == Precision::kInt8 ? 1 : 2;
  const std::uint32_t e = d.atom / bytes;
  return std::uint64_t{n} * d.batch_stride + std::uint64_t{c / e} * d.surface_stride +
         std::uint64_t{y} * d.line_stride + std::uint64_t{x} * d.atom + c % e * bytes;
}

std::size_t index(const Shape& s, Layout layout, std::uint32_t n, std::uint32_t c, std::uint32_t y,
                  std::uint32_t x) {
  if (layout == Layout::kNchw) {
    return ((std::size_t{n} * s.channels + c) * s.height + y) * s.width + x;
  }
  return ((std::size_t{n} * s.height + y) * s.width + x) * s.channels + c;
}

template <typename T>
std::vector<T> numbered(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i * 7 + 1);
  return values;
}

struct Case {
  Shape shape;
  std::uint32_t line = 0, surface = 0, batch = 0;  // additional atoms
};

class Cubes : public ::testing::TestWithParam<std::tuple<std::uint32_t, Case, Layout>> {
 protected:
  TensorDesc desc(Precision precision) const {
    const auto& [atom, c, layout] = GetParam();
    TensorDesc d;
    d.shape = c.shape;
    d.precision = precision;
    d.atom = atom;
    if (c.line != 0) d.line_stride = (c.shape.width + c.line) * atom;
    d = resolve(d);
    d.surface_stride += c.surface * atom;
    if (c.batch != 0) d.batch_stride = d.surfaces() * d.surface_stride + c.batch * atom;
    return resolve(d);
  }

  template <typename T>
  void round_trip(Precision precision) const {
    const TensorDesc d = desc(precision);
    const Layout layout = std::get<2>(GetParam());
    const auto source = numbered<T>(d.shape.elements());
    std::vector<std::byte> cube(tensor_bytes(d) + 64, std::byte{0x5a});
    pack(d, layout, source, cube);

    std::vector<std::byte> expected(cube.size(), std::byte{0x5a});
    const Shape& s = d.shape;
    for (std::uint32_t n = 0; n < s.batch; ++n) {
      for (std::uint32_t c = 0; c < d.surfaces() * d.elements_per_atom(); ++c) {
        for (std::uint32_t y = 0; y < s.height; ++y) {
          for (std::uint32_t x = 0; x < s.width; ++x) {
            const T value = c < s.channels ? source[index(s, layout, n, c, y, x)] : T{0};
            std::memcpy(&expected[address(d, n, c, y, x)], &value, sizeof value);
          }
        }
      }
    }
    EXPECT_EQ(cube, expected);

    std::vector<T> back(source.size());
    unpack(d, layout, cube, back);
    EXPECT_EQ(back, source);
  }
};

TEST_P(Cubes, Int8) { round_trip<std::int8_t>(Precision::kInt8); }
TEST_P(Cubes, Int16) { round_trip<std::int16_t>(Precision::kInt16); }
TEST_P(Cubes, Fp16Bits) { round_trip<std::uint16_t>(Precision::kFp16); }

std::string name_of_cube(
    const ::testing::TestParamInfo<std::tuple<std::uint32_t, Case, Layout>>& tested) {
  const auto& [atom, c, layout] = tested.param;
  std::ostringstream name;
  name << "atom" << atom << "_" << c.shape.channels << "x" << c.shape.height << "x" << c.shape.width
       << "x" << c.shape.batch << "_gaps" << c.line << c.surface << c.batch
       << (layout == Layout::kNchw ? "_nchw" : "_nhwc");
  return name.str();
}

INSTANTIATE_TEST_SUITE_P(All, Cubes,
                         ::testing::Combine(::testing::Values(8U, 16U, 32U),
                                            ::testing::Values(Case{{1, 1, 1}}, Case{{3, 5, 7}},
                                                              Case{{33, 4, 3}}, Case{{64, 2, 2}, 3},
                                                              Case{{40, 3, 5}, 1, 2},
                                                              Case{{17, 2, 3, 3}, 0, 0, 0},
                                                              Case{{17, 2, 3, 2}, 1, 1, 2}),
                                            ::testing::Values(Layout::kNchw, Layout::kNhwc)),
                         name_of_cube);

TensorDesc small() {
  TensorDesc d;
  d.shape = {5, 2, 3};
  return d;
}

TEST(Quantise, RoundsHalvesToEvenAndSaturates) {
  TensorDesc d;
  d.shape = {8, 1, 1};
  d.atom = 8;
  const std::vector<float> real = {0.25F, -0.25F, 0.74F, 1000.0F, -1000.0F, 0.0F, 63.5F, -64.25F};
  std::vector<std::byte> cube(8);
  pack(d, Layout::kNchw, real, {.scale = 0.5F, .zero_point = 1}, cube);
  std::vector<std::int8_t> q(8);
  unpack(d, Layout::kNchw, cube, q);
  // 0.5 -> 0, -0.5 -> 0, 1.48 -> 1, ..., 127 + 1, -128.5 -> -128 + 1; all plus the zero point
  EXPECT_EQ(q, (std::vector<std::int8_t>{1, 1, 2, 127, -128, 1, 127, -127}));
  std::vector<float> back(8);
  unpack(d, Layout::kNchw, cube, {.scale = 0.5F, .zero_point = 1}, back);
  EXPECT_EQ(back, (std::vector<float>{0.0F, 0.0F, 0.5F, 63.0F, -64.5F, 0.0F, 63.0F, -64.0F}));
}

// Pixels of -1 to 1 in 255 steps: each lies between two steps, and the quotient is a half in floats
// only.
TEST(Quantise, TakesTheQuotientAsAFloat) {
  TensorDesc d;
  d.shape = {1, 1, 256};
  d.atom = 8;
  std::vector<float> real(256);
  std::vector<std::int8_t> expected, q(256);
  const float scale = 2.0F / 255.0F;
  for (int pixel = 0; pixel < 256; ++pixel) {
    const float x = static_cast<float>(pixel) * static_cast<float>(1 / 127.5) - 1.0F;
    real[static_cast<std::size_t>(pixel)] = x;
    expected.push_back(
        static_cast<std::int8_t>(std::clamp(std::nearbyint(x / scale), -128.0F, 127.0F)));
  }
  std::vector<std::byte> cube(std::size_t{256} * 8);
  pack(d, Layout::kNchw, real, {.scale = scale}, cube);
  unpack(d, Layout::kNchw, cube, q);
  EXPECT_EQ(q, expected);
}

TEST(Quantise, Int16) {
  TensorDesc d;
  d.shape = {3, 1, 1};
  d.precision = Precision::kInt16;
  std::vector<std::byte> cube(tensor_bytes(d));
  pack(d, Layout::kNhwc, std::vector<float>{1e9F, -1e9F, 300.0F}, {.scale = 1.0F}, cube);
  std::vector<std::int16_t> q(3);
  unpack(d, Layout::kNhwc, cube, q);
  EXPECT_EQ(q, (std::vector<std::int16_t>{32767, -32768, 300}));
}

TEST(Quantise, Infinity) {
  TensorDesc d;
  d.shape = {2, 1, 1};
  std::vector<std::byte> cube(tensor_bytes(d));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  pack(d, Layout::kNhwc, std::vector<float>{kInf, -kInf}, {}, cube);
  EXPECT_EQ(cube[0], std::byte{127});
  EXPECT_EQ(cube[1], std::byte{0x80});
}

TEST(TensorBytes, EndsWithTheLastAtom) {
  TensorDesc d;
  d.shape = {40, 3, 5};
  d.atom = 32;
  d.line_stride = 6 * 32;
  d.surface_stride = 20 * 32;
  EXPECT_EQ(tensor_bytes(d), 20 * 32 + 2 * 6 * 32 + 5 * 32);
}

TEST(TensorSurface, CarriesTheStrides) {
  TensorDesc d = small();
  const nvdla_surface surface = tensor_surface(d, 4, 64);
  EXPECT_EQ(surface.slot, 4U);
  EXPECT_EQ(surface.offset, 64U);
  EXPECT_EQ(surface.line_stride, 3U * 32);
  EXPECT_EQ(surface.surface_stride, 2U * 3 * 32);
  EXPECT_EQ(surface.batch_stride, 0U);
}

// One fault a test.

void refused(const TensorDesc& d, const std::string& text) {
  expect_error(ErrorCode::kInvalidArgument, text, [&] { resolve(d); });
}

TEST(BadTensor, Atom) {
  TensorDesc d = small();
  d.atom = 12;
  refused(d, "atom 12 is none of 8, 16, 32");
}

TEST(BadTensor, Precision) {
  TensorDesc d = small();
  d.precision = static_cast<Precision>(7);
  refused(d, "precision 7");
}

TEST(BadTensor, WidthZero) {
  TensorDesc d = small();
  d.shape.width = 0;
  refused(d, "width 0 is not in 1..8192");
}

TEST(BadTensor, HeightTooBig) {
  TensorDesc d = small();
  d.shape.height = 8193;
  refused(d, "height 8193 is not in 1..8192");
}

TEST(BadTensor, ChannelsZero) {
  TensorDesc d = small();
  d.shape.channels = 0;
  refused(d, "channels 0 is not in 1..8192");
}

TEST(BadTensor, BatchTooBig) {
  TensorDesc d = small();
  d.shape.batch = 33;
  refused(d, "batch 33 is not in 1..32");
}

TEST(BadTensor, LineStrideNotOfAtoms) {
  TensorDesc d = small();
  d.line_stride = 100;
  refused(d, "line_stride 100 is not a multiple of the atom (32); nearest valid: 128");
}

TEST(BadTensor, LineStrideTooSmall) {
  TensorDesc d = small();
  d.line_stride = 64;
  refused(d, "line_stride 64 is smaller than what it steps over; nearest valid: 96");
}

TEST(BadTensor, SurfaceStrideTooSmall) {
  TensorDesc d = small();
  d.surface_stride = 96;
  refused(d, "surface_stride 96 is smaller than what it steps over; nearest valid: 192");
}

TEST(BadTensor, BatchStrideTooSmall) {
  TensorDesc d = small();
  d.shape.batch = 2;
  d.batch_stride = 32;
  refused(d, "batch_stride 32 is smaller");
}

TEST(BadTensor, StrideBeyond32Bits) {
  TensorDesc d;
  d.shape = {64, 8192, 8192, 32};
  refused(d, "does not fit 32 bits");
}

TEST(BadTensor, PixelsOfOtherSizes) {
  TensorDesc d = small();
  d.pixel = 3;
  refused(d, "pixel 3 is neither 0 nor the bytes of one or four channels: 1, 4");
  d.pixel = 4;
  refused(d, "pixel 4 is less than 5 channels take: 5");
  d.shape.channels = 3;
  d.planar = true;
  refused(d, "pixel 4 of planes, which have no pixels");
}

// Each channel beside the others, and zero where there is none.
TEST(Pixels, LieInLinesOfWholeAtoms) {
  TensorDesc d;
  d.shape = {.channels = 3, .height = 2, .width = 5, .batch = 2};
  d.precision = Precision::kInt16;
  d.atom = 32;
  d.pixel = 8;
  d = resolve(d);
  EXPECT_EQ(d.line_stride, 64U);
  EXPECT_EQ(d.surfaces(), 1U);
  EXPECT_EQ(d.batch_stride, 128U);
  EXPECT_EQ(tensor_bytes(d), 256U);
  const auto source = numbered<std::int16_t>(d.shape.elements());
  for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
    std::vector<std::byte> packed(256, std::byte{99});
    pack(d, layout, std::span<const std::int16_t>(source), packed);
    for (std::uint32_t n = 0; n < 2; ++n) {
      for (std::uint32_t y = 0; y < 2; ++y) {
        for (std::uint32_t x = 0; x < 5; ++x) {
          for (std::uint32_t c = 0; c < 4; ++c) {
            std::int16_t found = 0;
            std::memcpy(&found, packed.data() + n * 128 + y * 64 + x * 8 + c * 2, 2);
            const bool none = c == 3;
            EXPECT_EQ(found, none ? 0 : source[index(d.shape, layout, n, c, y, x)]);
          }
        }
      }
    }
    std::vector<std::int16_t> back(source.size());
    unpack(d, layout, packed, std::span<std::int16_t>(back));
    EXPECT_EQ(back, source);
  }
}

// Elements that are quantised together come to what each alone comes to: ties, what is beyond the
// ends, infinities, and zero points so far away that floats do not hold the sum.
template <typename T>
void expect_quantised_one_by_one(Precision precision) {
  TensorDesc d;
  d.precision = precision;
  d.atom = 32;
  d.shape.channels = 3;
  d.shape.height = 2;
  d.shape.width = 600;
  d = resolve(d);
  std::vector<float> real(d.shape.elements());
  for (std::size_t i = 0; i < real.size(); ++i) {
    real[i] = static_cast<float>(static_cast<int>(i) - 1800) * .0625F;
    if (i % 7 == 0) real[i] = std::ldexp(real[i], static_cast<int>(i / 7 % 160) - 80);
    if (i % 13 == 0) real[i] = std::nextafter(real[i], 1e9F);
  }
  real[1] = std::numeric_limits<float>::infinity();
  real[2] = -real[1];
  for (const float scale : {.125F, .1F, 3e-3F, 1e-30F})
    for (const std::int32_t zero_point : {0, -128, 5, 127, 1 << 21, -(1 << 23), INT32_MAX})
      for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
        std::vector<std::byte> cube(tensor_bytes(d));
        pack(d, layout, real, {.scale = scale, .zero_point = zero_point}, cube);
        std::vector<T> found(real.size()), expected(real.size());
        unpack(d, layout, cube, std::span<T>(found));
        for (std::size_t i = 0; i < real.size(); ++i)
          expected[i] = static_cast<T>(
              std::clamp<double>(std::nearbyint(real[i] / scale) + static_cast<double>(zero_point),
                                 std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
        EXPECT_EQ(found, expected) << "scale " << scale << ", zero point " << zero_point;
      }
}

TEST(Quantise, TogetherAsOneByOne) {
  expect_quantised_one_by_one<std::int8_t>(Precision::kInt8);
  expect_quantised_one_by_one<std::int16_t>(Precision::kInt16);
}

// Pixels of four bytes are written whole: what no channel has is 0, whatever lay there, as where
// elements come as integers.
TEST(Quantise, PixelsAsElements) {
  for (std::uint32_t channels = 1; channels <= 4; ++channels)
    for (const std::uint32_t width : {1U, 9U, 300U})
      for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
        TensorDesc d;
        d.precision = Precision::kInt8;
        d.atom = 32;
        d.pixel = 4;
        d.shape.batch = 2;
        d.shape.channels = channels;
        d.shape.height = 3;
        d.shape.width = width;
        d = resolve(d);
        std::vector<std::int8_t> elements(d.shape.elements());
        std::vector<float> real(elements.size());
        for (std::size_t i = 0; i < real.size(); ++i) {
          elements[i] = static_cast<std::int8_t>(i * 37);
          real[i] = static_cast<float>(elements[i] - 3) * .5F;
        }
        std::vector<std::byte> found(tensor_bytes(d), std::byte{0xaa});
        std::vector<std::byte> expected = found;
        pack(d, layout, elements, expected);
        pack(d, layout, real, {.scale = .5F, .zero_point = 3}, found);
        EXPECT_EQ(found, expected) << channels << " channels, width " << width;
      }
}

TEST(BadPack, TooFewElements) {
  std::vector<std::byte> cube(tensor_bytes(small()));
  expect_error(ErrorCode::kInvalidArgument, "29 elements given, a tensor of 1x5x2x3 (NCHW) has 30",
               [&] { pack(small(), Layout::kNchw, std::vector<std::int8_t>(29), cube); });
}

TEST(BadPack, CubeOneByteTooSmall) {
  std::vector<std::byte> cube(tensor_bytes(small()) - 1);
  expect_error(ErrorCode::kInvalidArgument, "191 bytes for a cube that takes 192",
               [&] { pack(small(), Layout::kNchw, std::vector<std::int8_t>(30), cube); });
}

TEST(BadPack, WrongElementType) {
  std::vector<std::byte> cube(tensor_bytes(small()));
  expect_error(ErrorCode::kInvalidArgument, "elements are int16, the tensor is int8",
               [&] { pack(small(), Layout::kNchw, std::vector<std::int16_t>(30), cube); });
}

TEST(BadPack, NotANumber) {
  std::vector<std::byte> cube(tensor_bytes(small()));
  std::vector<float> real(30);
  real[17] = std::numeric_limits<float>::quiet_NaN();
  expect_error(ErrorCode::kInvalidArgument, "element 17 is not a number",
               [&] { pack(small(), Layout::kNchw, real, {}, cube); });
}

TEST(BadPack, ScaleZero) {
  std::vector<std::byte> cube(tensor_bytes(small()));
  expect_error(ErrorCode::kInvalidArgument, "scale must be finite and greater than 0", [&] {
    pack(small(), Layout::kNchw, std::vector<float>(30), {.scale = 0.0F}, cube);
  });
}

TEST(BadPack, ZeroPointOfFp16) {
  TensorDesc d = small();
  d.precision = Precision::kFp16;
  std::vector<std::byte> cube(tensor_bytes(d));
  expect_error(ErrorCode::kInvalidArgument, "fp16 has no zero point, found 3",
               [&] { pack(d, Layout::kNchw, std::vector<float>(30), {.zero_point = 3}, cube); });
}

TEST(BadUnpack, TargetTooSmall) {
  std::vector<std::byte> cube(tensor_bytes(small()));
  std::vector<std::int8_t> target(31);
  expect_error(ErrorCode::kInvalidArgument, "31 elements given",
               [&] { unpack(small(), Layout::kNhwc, cube, target); });
}

}  // namespace
}  // namespace nvdla
