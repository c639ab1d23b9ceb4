// SPDX-License-Identifier: MIT
//
// Images as inputs of networks: all pixel formats, raw pixels through the converter into
// convolutions of all precisions, against plain numbers.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/conv_reference.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/share.hpp"
#include "nvdla/lowlevel/images.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::KernelHolder;
using test::RefConv;
using test::Values;

// Components from the lowest bit of each plane's pixel on, as the table of formats has them.
struct Format {
  std::string_view first, second;
  unsigned bits;
  bool packed = false;  // 10 bits each, 2 of A
  bool real = false;
};
constexpr Format kFormats[] = {
    {"R", "", 8},           {"R", "", 16},          {"R", "", 16},
    {"R", "", 16},          {"R", "", 16},          {"R", "", 16, false, true},
    {"RGBA", "", 16},       {"RGBA", "", 16},       {"RGBA", "", 16, false, true},
    {"VUYA", "", 16},       {"AYUV", "", 16},       {"VUYA", "", 16, false, true},
    {"RGBA", "", 8},        {"BGRA", "", 8},        {"ARGB", "", 8},
    {"ABGR", "", 8},        {"RGBA", "", 8},        {"BGRA", "", 8},
    {"ARGB", "", 8},        {"ABGR", "", 8},        {"RGBA", "", 16, true},
    {"BGRA", "", 16, true}, {"ARGB", "", 16, true}, {"ABGR", "", 16, true},
    {"VUYA", "", 16, true}, {"AYUV", "", 16, true}, {"VUYA", "", 8},
    {"AYUV", "", 8},        {"Y", "VU", 8},         {"Y", "UV", 8},
    {"Y", "VU", 16},        {"Y", "UV", 16},        {"Y", "VU", 16},
    {"Y", "UV", 16},        {"Y", "VU", 16},        {"Y", "UV", 16},
};

std::uint32_t channel_of(char letter) {
  return static_cast<std::uint32_t>(std::string_view("RGBAYUV").find(letter) % 4);
}

std::size_t pixel_bytes(const Format& f, std::string_view plane) {
  return f.packed ? 4 : plane.size() * f.bits / 8;
}

// The components of one pixel of one plane.
void decode(const Format& f, std::string_view plane, const std::byte* at, std::uint16_t out[4]) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < pixel_bytes(f, plane); ++i) {
    word |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
  }
  for (const char letter : plane) {
    const unsigned bits = !f.packed ? f.bits : letter == 'A' ? 2 : 10;
    const std::uint64_t value = word & ((1U << bits) - 1);
    out[channel_of(letter)] = static_cast<std::uint16_t>(f.packed ? value << (16 - bits) : value);
    word >>= bits;
  }
}

class Images {
 public:
  explicit Images(test::Random& random) : random_(random) {}

  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(random_.pick(low, high));
  }

  // Empty if a random convolution of such an image gives what it should.
  std::string run(unsigned code, const std::string& configuration, std::uint32_t width,
                  std::uint32_t height, std::uint32_t kernels) {
    const Format& f = kFormats[code];
    const DeviceInfo info = configuration_info(configuration);
    ImageDesc desc;
    desc.format = static_cast<nvdla_pixel_format>(code);
    desc.width = width;
    desc.height = height;
    const auto bytes = static_cast<std::uint32_t>(pixel_bytes(f, f.first));
    desc.x_offset = pick(0, info.atom / bytes - 1);
    if (random_() % 2 == 0) desc.line_stride = info.atom * (width * bytes / info.atom + 3);

    RefConv c;
    c.image = true;
    c.channels = static_cast<std::uint32_t>(f.first.size() + f.second.size());
    c.processing = f.real           ? Precision::kFp16
                   : info.has_int16 ? static_cast<Precision>(random_() % 3)
                                    : Precision::kInt8;
    c.kernels = kernels;
    c.kernel_height = pick(1, 5);
    c.kernel_width = pick(1, std::min(6U, width));
    c.atomic_c = info.atomic_c;
    test::Geometry& g = c.geometry;
    g.stride_width = static_cast<int>(pick(1, 3));
    g.stride_height = static_cast<int>(pick(1, 3));
    g.left = static_cast<int>(pick(0, c.kernel_width - 1));
    g.right = static_cast<int>(pick(0, c.kernel_width - 1));
    g.top = static_cast<int>(pick(0, c.kernel_height - 1));
    g.bottom = static_cast<int>(pick(0, c.kernel_height - 1));
    if (height < c.kernel_height) c.kernel_height = 1, g.top = g.bottom = 0;
    g.pad_value = test::random_tensor({}, c.processing, random_).data[0];
    // Kernels may leave the last components out.
    const std::uint32_t used = pick(1, c.channels);
    const std::size_t taps = std::size_t{c.kernel_height} * c.kernel_width;
    const auto few = test::random_kernels(kernels * used * taps, c.processing, random_);
    for (std::size_t k = 0; k < kernels; ++k) {
      const auto from = few.begin() + static_cast<std::ptrdiff_t>(k * used * taps);
      c.weights.insert(c.weights.end(), from, from + static_cast<std::ptrdiff_t>(used * taps));
      c.weights.resize((k + 1) * c.channels * taps);
    }

    KernelHolder holder;
    Convolution layer = test::layer_of(c, holder.hold(few, c.processing));
    // Steps matter to fp16 only; elsewhere the library may choose.
    const std::uint32_t lanes = std::max(c.kernel_width, layer.stride_width) * c.channels;
    while (c.lines < 4 && lanes * c.lines * 2 <= info.atomic_c && random_() % 2 == 0) c.lines *= 2;
    if (c.processing == Precision::kFp16) layer.tuning.post_extension = c.lines;
    if (c.processing != Precision::kFp16) layer.output = {.scale = 5, .shift = 9};
    std::vector<std::int16_t> mean;
    if (!f.real) {
      layer.input.signed_pixels = random_() % 2 == 0;
      layer.input.scale = static_cast<std::int16_t>(pick(1, 200));
      layer.input.shift =
          f.bits == 8 || c.processing != Precision::kInt8 ? pick(5, 8) : pick(13, 16);
      if (random_() % 2 == 0) {
        for (std::uint32_t i = 0; i < c.channels; ++i) {
          mean.push_back(static_cast<std::int16_t>(random_()));
          if (f.bits == 8) mean.back() /= 256;
        }
        layer.input.mean = mean;
      } else if (c.processing != Precision::kFp16) {
        layer.input.offset = static_cast<std::int16_t>(random_() % 256);
      }
    }

    Network net;
    net.output(net.convolution(net.image("in", desc), layer), "out");
    Request request = net.build(Device::open("model:" + configuration));
    std::vector<std::byte> first(std::size_t{width} * height * bytes);
    std::vector<std::byte> second(f.second.empty() ? 0 : first.size() * 2);
    test::Random data = random_.fork();
    for (auto* plane : {&first, &second}) {
      for (std::size_t i = 0; i < plane->size(); ++i) {
        (*plane)[i] = static_cast<std::byte>(data());
        // Finite numbers.
        if (f.real && i % 2 == 1) (*plane)[i] &= std::byte{0xb7};
      }
    }
    request.write_pixels("in", first, second);
    request.run();

    Values in({c.channels, height, width}, c.processing);
    for (std::size_t xy = 0; xy < std::size_t{width} * height; ++xy) {
      std::uint16_t pixel[4] = {};
      decode(f, f.first, &first[xy * pixel_bytes(f, f.first)], pixel);
      if (!f.second.empty()) decode(f, f.second, &second[xy * pixel_bytes(f, f.second)], pixel);
      for (std::size_t i = 0; i < c.channels; ++i) {
        std::int32_t value = pixel[i];
        if (!f.real) {
          if (layer.input.signed_pixels) {
            value =
                f.bits == 8 ? static_cast<std::int8_t>(value) : static_cast<std::int16_t>(value);
          }
          const Converter cvt = {.offset = mean.empty() ? layer.input.offset : mean[i],
                                 .scale = layer.input.scale,
                                 .shift = layer.input.shift};
          value = test::convert_to(value, cvt, Precision::kInt16, c.processing);
        }
        in.data[i * width * height + xy] = value;
      }
    }
    Shape shape;
    const auto sums = test::accumulate(c, in, shape);
    Values expected(shape, c.processing);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      expected.data[i] = test::convert_to(sums[i], layer.output, c.processing, c.processing);
    }
    return test::read(request, "out") == expected ? "" : "another result";
  }

 private:
  test::Random& random_;
};

TEST(NetworkImage, AllFormatsEqualTheReference) {
  for (unsigned code = 0; code < 36; ++code) {
    test::for_all(test::share(6), [&](test::Random& random) {
      Images images(random);
      const std::uint32_t width = images.pick(1, 20), height = images.pick(1, 9);
      return test::with_name("format " + std::to_string(code),
                             images.run(code, "nv_full", width, height, images.pick(1, 20)));
    });
  }
}

TEST(NetworkImage, FormatsOfBytesEqualTheReferenceEverywhere) {
  test::Random random(2);
  Images images(random);
  for (std::size_t i = 0; i < configuration_count(); ++i) {
    const std::string name(configuration_name(i));
    for (const unsigned code : {0U, 12U, 13U, 14U, 15U, 16U, 17U, 18U, 19U, 26U, 27U, 28U, 29U}) {
      const std::uint32_t width = images.pick(1, 20), height = images.pick(1, 9);
      ASSERT_EQ(images.run(code, name, width, height, images.pick(1, 20)), "")
          << name << " format " << code;
    }
  }
}

// Bands of lines, of both planes.
TEST(NetworkImage, ImagesThatDoNotFitEqualTheReference) {
  test::Random random(3);
  Images images(random);
  for (const unsigned code : {13U, 28U}) {
    ASSERT_EQ(images.run(code, "nv_small", 150, 420, 2), "") << code;
  }
  ASSERT_EQ(images.run(34, "nv_full", 300, 320, 1), "");
}

TEST(NetworkImage, TellsWhereItLies) {
  Network net;
  const std::vector<std::int8_t> weights(3);
  Convolution c{.name = "c"};
  c.weights = weights;
  net.output(
      net.convolution(
          net.image("in", {.format = NVDLA_PIXEL_Y8_U8V8_N444, .width = 33, .height = 4}), c),
      "out");
  Request request = net.build(Device::open("model:nv_full"));
  const ImageDesc& desc = request.network().image("in");
  EXPECT_EQ(desc.line_stride, 64U);
  EXPECT_EQ(desc.offset_uv, 256U);
  EXPECT_EQ(desc.line_stride_uv, 96U);
  EXPECT_EQ(image_bytes(configuration_info("nv_full"), desc), 256U + 4 * 96);
  expect_error(ErrorCode::kInvalidArgument, "'in' is an image: write_pixels() writes it",
               [&] { request.network().desc("in"); });
  expect_error(ErrorCode::kInvalidArgument, "'out' is a tensor, not an image", [&] {
    Network other;
    const Tensor in = other.input("out", {1, 1, 1});
    other.output(other.pointwise(in, {}), "y");
    other.build(Device::open("model:nv_small")).network().image("out");
  });
  expect_error(ErrorCode::kInvalidArgument, "131 bytes given for the first plane, 4 lines of 33",
               [&] { request.write_pixels("in", std::vector<std::byte>(131)); });
}

class BadImage : public ::testing::Test {
 protected:
  void refused(const std::string& text, ErrorCode code = ErrorCode::kInvalidArgument) {
    expect_error(code, text, [&] {
      Network net;
      net.output(net.convolution(net.image("in", desc_), conv_), "out");
      net.build(Device::open("model:" + configuration_));
    });
  }
  void SetUp() override { conv_.weights = weights_; }
  std::string configuration_ = "nv_full";
  std::vector<std::int8_t> weights_ = std::vector<std::int8_t>(4);
  std::vector<std::int16_t> three_ = std::vector<std::int16_t>(3);
  ImageDesc desc_ = {.format = NVDLA_PIXEL_R8G8B8A8, .width = 5, .height = 5};
  Convolution conv_{.name = "c"};
};

TEST_F(BadImage, NoSuchFormat) {
  desc_.format = static_cast<nvdla_pixel_format>(36);
  refused("pixel format 36 is not in 0..35");
}

TEST_F(BadImage, FormatThatTheDeviceLacks) {
  configuration_ = "nv_small";
  desc_.format = NVDLA_PIXEL_A2B10G10R10;
  refused("nv_small", ErrorCode::kInvalidProgram);
}

TEST_F(BadImage, OffsetOfAnAtom) {
  desc_.x_offset = 8;
  refused("x_offset 8 is not in 0..7");
}

TEST_F(BadImage, ShortLines) {
  desc_.width = 9;
  desc_.line_stride = 32;
  refused("line_stride 32 must be a multiple of the atom (32) and at least 64");
}

TEST_F(BadImage, MoreChannelsThanComponents) {
  weights_.resize(5);
  conv_.weights = weights_;
  refused("5 weights given, 1x4x1x1 (KCRS) are 4, or that of fewer channels");
}

TEST_F(BadImage, MeanOfOtherComponents) {
  conv_.input.mean = three_;
  refused("3 mean values and an offset of 0: right are 4, one per component, and none");
}

TEST_F(BadImage, ReadByAnotherLayer) {
  Network net;
  const Tensor in = net.image("in", desc_);
  expect_error(ErrorCode::kInvalidArgument, "input 'in' is an image, which convolutions read only",
               [&] { net.pointwise(in, {}); });
}

}  // namespace
}  // namespace nvdla
