// SPDX-License-Identifier: MIT
//
// Convolutions in files: images of all pixel formats, tiles, bands and what they share, weights in
// either memory. Bit for bit what the request gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "loadable/format/container.hpp"
#include "loadable/format/packed.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "round_trip.hpp"

namespace nvdla {
namespace {

using test::expect_round_trip;
using test::random_elements;
using test::RoundTrip;

// Fills a plane; 16-bit floats stay finite.
std::vector<std::byte> random_plane(std::size_t bytes, bool real, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> plane(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    plane[i] = static_cast<std::byte>(random());
    if (real && i % 2 == 1) plane[i] &= std::byte{0xb7};
  }
  return plane;
}

RoundTrip expect_same_image(const Network& network, const std::string& configuration,
                            const ImageDesc& desc) {
  RoundTrip trip(network, configuration);
  const PixelLayout pixel = pixel_layout(desc.format);
  const std::size_t pixels = std::size_t{desc.width} * desc.height;
  const bool real = pixel.precision == Precision::kFp16;
  trip.write_pixels(random_plane(pixels * pixel.bytes[0], real, 1),
                    random_plane(pixels * pixel.bytes[1], real, 2));
  trip.run();
  // The file describes the layout of the image that the request has.
  const ImageDesc& expected = trip.request.network().image("in");
  const ImageDesc found = trip.loaded.network().image("in");
  EXPECT_EQ(found.format, expected.format);
  EXPECT_EQ(found.width, expected.width);
  EXPECT_EQ(found.height, expected.height);
  EXPECT_EQ(found.line_stride, expected.line_stride);
  EXPECT_EQ(found.line_stride_uv, expected.line_stride_uv);
  EXPECT_EQ(found.offset_uv, expected.offset_uv);
  return trip;
}

// A convolution of pixels with what the configuration and the format allow of the converter.
struct PixelLayer {
  PixelLayer(nvdla_pixel_format format, Precision processing, bool means) {
    const PixelLayout pixel = pixel_layout(format);
    const std::size_t count = 11 * pixel.components * 3 * 2;
    layer.name = "conv";
    layer.kernels = 11;
    layer.kernel_height = 3;
    layer.kernel_width = 2;
    layer.stride_width = 2;
    layer.pad_left = layer.pad_top = 1;
    layer.pad_value = processing == Precision::kFp16 ? 0x3800 : -5;
    if (processing == Precision::kInt8) {
      weights8 = random_elements<std::int8_t>(count, 3);
      layer.weights = weights8;
    } else if (processing == Precision::kInt16) {
      weights16 = random_elements<std::int16_t>(count, 3);
      layer.weights = weights16;
    } else {
      halves = random_elements<std::uint16_t>(count, 3);
      layer.weights = halves;
    }
    const bool wide = processing == Precision::kInt16;
    if (processing != Precision::kFp16) layer.output = requantize(wide ? 0.00001 : 0.005);
    if (pixel.precision == Precision::kFp16) return;
    layer.input.signed_pixels = means;
    layer.input.scale = 77;
    layer.input.shift = pixel.precision == Precision::kInt8 || wide ? 7 : 14;
    if (means) {
      layer.input.mean = std::span(mean).first(pixel.components);
    } else {
      layer.input.offset = 90;
    }
  }
  PixelLayer(const PixelLayer&) = delete;

  std::array<std::int16_t, 4> mean = {-20, 33, 4, -71};
  std::vector<std::int8_t> weights8;
  std::vector<std::int16_t> weights16;
  std::vector<std::uint16_t> halves;
  Convolution layer;
};

TEST(SaveConv, ImagesOfAllFormats) {
  for (std::uint32_t code = 0; code < 36; ++code) {
    for (const std::string name : {"nv_full", "nv_small", "nv_large"}) {
      const auto format = static_cast<nvdla_pixel_format>(code);
      const PixelLayout pixel = pixel_layout(format);
      const bool full = name == "nv_full";
      // The others have formats of bytes only.
      if (!full && pixel.precision != Precision::kInt8) continue;
      for (const bool means : {false, true}) {
        SCOPED_TRACE(name + " format " + std::to_string(code) + (means ? ", means" : ""));
        const Precision processing = pixel.precision == Precision::kFp16 ? Precision::kFp16
                                     : full ? static_cast<Precision>(code % 3)
                                            : Precision::kInt8;
        const PixelLayer pixels(format, processing, means);
        const ImageDesc desc{.format = format, .width = 19, .height = 7, .line_stride = 32 * 9};
        Network network;
        network.output(network.convolution(network.image("in", desc), pixels.layer), "out");
        RoundTrip trip = expect_same_image(network, name, desc);
        const std::size_t outputs = 11 * 6 * 10;
        if (processing == Precision::kInt8) trip.expect_same<std::int8_t>(outputs);
        if (processing == Precision::kInt16) trip.expect_same<std::int16_t>(outputs);
        if (processing == Precision::kFp16) trip.expect_same<std::uint16_t>(outputs);

        const loadable::TensorEntry& tensor = trip.container.tensors.at(0);
        EXPECT_EQ(tensor.pixel_format, code);
        EXPECT_EQ(tensor.data_category, 0);  // image
        EXPECT_EQ(tensor.c, static_cast<std::int32_t>(pixel.components));
        const bool is_signed = trip.part<loadable::ConvPart>().op.pixel_override != 0;
        EXPECT_EQ(is_signed, means && pixel.precision != Precision::kFp16);
        const LoadableType types[] = {is_signed ? LoadableType::kInt8 : LoadableType::kUint8,
                                      is_signed ? LoadableType::kInt16 : LoadableType::kUint16,
                                      LoadableType::kFp16};
        EXPECT_EQ(trip.described("in").type, types[static_cast<std::size_t>(pixel.precision)]);
      }
    }
  }
}

// Lines that one band leaves for the next, in both planes; the second lies apart.
TEST(SaveConv, ImagesInBands) {
  const PixelLayer pixels(NVDLA_PIXEL_Y8_U8V8_N444, Precision::kInt8, true);
  const ImageDesc desc{.format = NVDLA_PIXEL_Y8_U8V8_N444,
                       .width = 1000,
                       .height = 90,
                       .line_stride_uv = 2048,
                       .offset_uv = 100 * 1024};
  Network network;
  network.output(network.convolution(network.image("in", desc), pixels.layer), "out");
  RoundTrip trip = expect_same_image(network, "nv_small", desc);
  trip.expect_same<std::int8_t>(11 * 89 * 500);
  ASSERT_GT(trip.request.network().layers(), 1U);
  const loadable::ConvPart& second = trip.part<loadable::ConvPart>(1);
  EXPECT_EQ(second.op.data_reuse, 1);
  EXPECT_LT(second.surface.src_data.height, second.op.input_height_csc);
  EXPECT_GT(second.surface.src_data.offset, 0U);
}

TEST(SaveConv, PixelsAreNoTensor) {
  const PixelLayer pixels(NVDLA_PIXEL_R8, Precision::kInt8, false);
  Network network;
  network.output(network.convolution(network.image("in", {.width = 9, .height = 9}), pixels.layer),
                 "out");
  RoundTrip trip(network, "nv_small");
  test::expect_error(ErrorCode::kInvalidArgument, "write_pixels() writes it",
                     [&] { (void)trip.loaded.network().desc("in"); });
  test::expect_error(ErrorCode::kInvalidArgument, "'out' is an output",
                     [&] { (void)trip.loaded.network().image("out"); });
  Network tensors;
  tensors.output(tensors.pointwise(tensors.input("in", {}), {.name = "same"}), "out");
  RoundTrip cube(tensors, "nv_small");
  test::expect_error(ErrorCode::kInvalidArgument, "'in' is a tensor, not an image",
                     [&] { (void)cube.loaded.network().image("in"); });
}

// A compiled network reads both planes; which convolution does, says where the second one lies.
TEST(SaveConv, SecondPlanesThatNobodyReadsLieNowhere) {
  const PixelLayer pixels(NVDLA_PIXEL_Y8_V8U8_N444, Precision::kInt8, false);
  Network network;
  const ImageDesc desc{.format = NVDLA_PIXEL_Y8_V8U8_N444, .width = 9, .height = 9};
  network.output(network.convolution(network.image("in", desc), pixels.layer), "out");
  RoundTrip trip(network, "nv_small");
  trip.container.tensors.at(0).pixel_format = NVDLA_PIXEL_Y8_U8V8_N444;
  const Request other = Loadable::load(loadable::write_container(trip.container)).open(trip.device);
  test::expect_error(ErrorCode::kNotAvailable,
                     "no convolution tells where the second plane of 'in' lies",
                     [&] { (void)other.network().image("in"); });
}

TEST(SaveConv, Winograd) {
  const auto bytes = random_elements<std::int8_t>(20 * 12 * 36, 3);
  const auto words = random_elements<std::int16_t>(20 * 12 * 36, 3);
  const auto halves = random_elements<std::uint16_t>(20 * 12 * 36, 3);
  // Sizes that are whole tiles and that are not, with strides that are folded.
  struct Size {
    std::uint32_t height, width, stride, kernel, pad;
    std::uint32_t out_height, out_width;
  };
  const Size sizes[] = {
      {10, 14, 1, 3, 1, 10, 14}, {14, 9, 1, 3, 0, 12, 7}, {15, 20, 2, 6, 2, 7, 10}};
  for (const Size& size : sizes) {
    for (const Precision precision : {Precision::kInt8, Precision::kInt16, Precision::kFp16}) {
      SCOPED_TRACE(std::to_string(size.height) + " " + std::to_string(size.stride) + " " +
                   std::to_string(static_cast<int>(precision)));
      Convolution c{.name = "tiles", .kernels = 20};
      c.kernel_height = c.kernel_width = size.kernel;
      c.stride_width = c.stride_height = size.stride;
      c.pad_left = c.pad_top = c.pad_right = c.pad_bottom = size.pad;
      const std::size_t weights = 20 * 12 * size.kernel * size.kernel;
      if (precision == Precision::kInt8) c.weights = std::span(bytes).first(weights);
      if (precision == Precision::kInt16) c.weights = std::span(words).first(weights);
      if (precision == Precision::kFp16) c.weights = std::span(halves).first(weights);
      if (precision != Precision::kFp16) {
        c.arithmetic.accumulator_shift = 2;
        c.arithmetic.winograd_truncate = 1;
        c.output = requantize(precision == Precision::kInt8 ? 0.005 : 0.00002);
      }
      c.relu = true;
      c.tuning.winograd = Rewrite::kAlways;
      Network network;
      const Tensor in = network.input("in", {12, size.height, size.width}, precision);
      network.output(network.convolution(in, c), "out");
      const std::size_t inputs = std::size_t{12} * size.height * size.width;
      const std::size_t outputs = std::size_t{20} * size.out_height * size.out_width;
      const auto check = [](const RoundTrip& trip) {
        EXPECT_EQ(trip.program.layers[0].conv.mode, std::uint32_t{NVDLA_CONV_WINOGRAD});
        EXPECT_EQ(trip.part<loadable::ConvPart>().op.conv_mode, 1);
        EXPECT_EQ(trip.part<loadable::SdpPart>().op.conv_mode, 1);
        EXPECT_EQ(trip.part<loadable::ConvPart>().op.kernel_width_csc, 4);
      };
      if (precision == Precision::kInt8) {
        check(expect_round_trip<std::int8_t>(network, "nv_full", inputs, outputs, 1));
      } else if (precision == Precision::kInt16) {
        check(expect_round_trip<std::int16_t>(network, "nv_full", inputs, outputs, 1));
      } else {
        check(expect_round_trip<std::uint16_t>(network, "nv_full", inputs, outputs, 1));
      }
    }
  }
}

// Files say what is fetched, as the hardware's registers do, not all that a layer works on.
TEST(SaveConv, BandsSayWhatTheyFetch) {
  const auto weights = random_elements<std::int8_t>(5 * 64 * 9, 8);
  Network network;
  Convolution c{.name = "tall", .kernels = 5, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.output = requantize(0.0004);
  network.output(network.convolution(network.input("in", {64, 90, 40}), c), "out");
  RoundTrip trip(network, "nv_small");
  trip.write<std::int8_t>(64 * 90 * 40);
  trip.run();
  trip.expect_same<std::int8_t>(5 * 88 * 38);
  const std::uint32_t bands = trip.request.network().layers();
  EXPECT_GT(bands, 1U);
  // Without gaps from the first line to the last.
  std::uint32_t line = 0, reused = 0;
  for (std::uint32_t i = 0; i < bands; ++i) {
    const loadable::ConvPart& band = trip.part<loadable::ConvPart>(i);
    if (band.op.data_reuse != 0) {
      EXPECT_EQ(band.surface.src_data.offset, line * band.surface.src_data.line_stride);
      EXPECT_GT(band.op.input_height_csc, band.surface.src_data.height);
      ++reused;
    }
    line = band.surface.src_data.offset / band.surface.src_data.line_stride +
           band.surface.src_data.height;
  }
  EXPECT_EQ(line, 90U);
  EXPECT_GT(reused, 0U);
}

// Whoever reads the file packs its input as it is.
TEST(SaveConv, InputsAreNotFolded) {
  const auto weights = random_elements<std::int8_t>(9 * 3 * 25, 4);
  Convolution c{.name = "stem", .kernels = 9, .kernel_height = 5, .kernel_width = 5};
  c.stride_width = c.stride_height = 2;
  c.pad_left = 1;
  c.pad_value = 7;
  c.weights = weights;
  c.output = requantize(0.003);
  c.tuning = {
      .folding = Rewrite::kAuto, .pixels = Rewrite::kNever, .interleaving = Rewrite::kNever};
  Network network;
  network.output(network.convolution(network.input("in", {3, 21, 24}), c), "out");
  for (const std::string name : {"nv_small", "nv_full"}) {
    const RoundTrip trip =
        expect_round_trip<std::int8_t>(network, name, 3 * 21 * 24, 9 * 9 * 11, 1);
    EXPECT_EQ(trip.request.network().desc("in").shape.channels, 6U);
    EXPECT_EQ(trip.loaded.network().desc("in").shape, (Shape{3, 21, 24}));
    EXPECT_EQ(trip.program.layers[0].conv.stride_width, 2U);
  }
}

// The file with other surfaces of the first operation.
std::vector<std::byte> with_surfaces(RoundTrip& trip, const loadable::ConvSurface& surface) {
  const auto list = trip.memory_of(trip.task.network.surface_desc_index);
  loadable::Blob& blob =
      trip.container.blobs.at(trip.container.memories.at(list).contents.at(0).blob);
  const auto before = blob.data;
  std::vector<std::byte> surfaces(before.begin(), before.end());
  const auto bytes = loadable::pack_descriptor(surface);
  std::copy(bytes.begin(), bytes.end(), surfaces.begin());
  blob.data = surfaces;
  auto file = loadable::write_container(trip.container);
  blob.data = before;
  return file;
}

// Nothing places weights there yet; a file may.
TEST(SaveConv, WeightsInSram) {
  const auto weights = random_elements<std::int8_t>(40 * 32 * 9, 4);
  Convolution c{.name = "conv", .kernels = 40, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.output = requantize(0.002);
  Network network;
  network.output(network.convolution(network.input("in", {32, 9, 9}), c), "out");
  RoundTrip trip(network, "nv_full");

  loadable::ConvSurface surface = trip.part<loadable::ConvPart>().surface;
  surface.weight_data.type = loadable::kCubeSram;
  trip.container.memories.at(trip.memory_of(surface.weight_data.address)).domain =
      loadable::kDomainSram;
  const auto file = with_surfaces(trip, surface);
  const auto container = loadable::parse_container(file);
  const auto program = loadable::convert_task(container, loadable::decode_task(container, 0),
                                              *nvdla_hw_find("nv_full"));
  EXPECT_EQ(program.slots.at(program.layers.at(0).conv.weights.slot).memory,
            std::uint32_t{NVDLA_MEMORY_SRAM});
  trip.loaded = Loadable::load(file).open(trip.device);
  trip.write<std::int8_t>(32 * 9 * 9);
  trip.run();
  trip.expect_same<std::int8_t>(40 * 7 * 7);
}

TEST(SaveConv, SecondPlanesLieInMemory) {
  const PixelLayer pixels(NVDLA_PIXEL_Y8_U8V8_N444, Precision::kInt8, false);
  Network network;
  const ImageDesc desc{.format = NVDLA_PIXEL_Y8_U8V8_N444, .width = 9, .height = 9};
  network.output(network.convolution(network.image("in", desc), pixels.layer), "out");
  for (const std::int64_t offset : {INT64_MIN, INT64_MAX, std::int64_t{-8}}) {
    RoundTrip trip(network, "nv_small");
    loadable::ConvSurface surface = trip.part<loadable::ConvPart>().surface;
    surface.offset_u = offset;
    const auto file = with_surfaces(trip, surface);
    test::expect_error(ErrorCode::kInvalidArgument,
                       "offset_u " + std::to_string(offset) + " leaves the memory",
                       [&] { (void)Loadable::load(file).open(trip.device); });
  }
}

}  // namespace
}  // namespace nvdla
