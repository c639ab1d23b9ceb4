// SPDX-License-Identifier: MIT
//
// Inputs of int8 with kernels of fp16, which lie as pixels: the same sums as of fp16, of half of
// the bytes.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla {
namespace {

// `ByteConv` is a convolution of an input of bytes, or of the same numbers in fp16.
struct ByteConv {
  Shape shape = {.channels = 3, .height = 9, .width = 11};
  std::uint32_t kernel = 3, stride = 1, pad = 1;
  std::vector<std::int16_t> mean = {};  // by component
  std::vector<float> weights = {};      // KCRS, of as many channels as the input, or of four
  Convolution::Tuning tuning = {};
  bool any_order = true;

  Convolution layer() const {
    Convolution conv{.name = "conv", .kernels = 5};
    conv.kernel_height = conv.kernel_width = kernel;
    conv.stride_height = conv.stride_width = stride;
    conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = pad;
    conv.weights = std::span<const float>(weights);
    conv.arithmetic.any_order = any_order;
    conv.tuning = tuning;
    return conv;
  }

  void draw_weights(std::uint32_t channels) {
    const auto drawn = test::random_values<std::int8_t>(std::size_t{5} * channels * kernel * kernel,
                                                        channels + kernel, -8, 8);
    weights.assign(drawn.begin(), drawn.end());
  }
};

std::vector<float> numbers_for(const Shape& shape) {
  std::vector<float> numbers(shape.elements());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(static_cast<int>(i * 37 % 255) - 127);
  return numbers;
}

std::vector<float> results_of_bytes(const Network& network, const std::vector<float>& in) {
  Request request = network.build(Device::open("model:nv_full"));
  request.write("in", Layout::kNchw, std::span<const float>(in));
  request.run();
  std::vector<float> out(request.network().desc("out").shape.elements());
  request.read("out", Layout::kNchw, std::span<float>(out));
  return out;
}

Network network_of_bytes(const ByteConv& conv, bool bytes) {
  Network network;
  const Tensor in = bytes ? network.input("in", conv.shape, Quantization{1, 0})
                          : network.input("in", conv.shape, Precision::kFp16);
  network.output(network.convolution(in, conv.layer()), "out");
  return network;
}

// Sums of whole numbers below 2^11 are exact whatever their order.
TEST(BytesWithKernelsOfFp16, GiveTheSumsOfFp16) {
  test::for_all(60, [](test::Random& random) -> std::string {
    const auto any = [&](int low, int high) {
      return static_cast<std::uint32_t>(random.pick(low, high));
    };
    ByteConv conv;
    conv.shape = {.channels = any(1, 4), .height = any(3, 20), .width = any(3, 20)};
    conv.kernel = any(1, 3);
    conv.stride = any(1, 2);
    conv.pad = any(0, static_cast<int>(conv.kernel) - 1);
    conv.draw_weights(conv.shape.channels);
    for (float& weight : conv.weights) weight /= 8;
    std::vector<float> in = numbers_for(conv.shape);
    for (float& number : in) number = static_cast<float>(static_cast<int>(number) / 16);
    return results_of_bytes(network_of_bytes(conv, true), in) ==
                   results_of_bytes(network_of_bytes(conv, false), in)
               ? ""
               : "the results differ";
  });
}

TEST(BytesWithKernelsOfFp16, LieAsPixelsOfOneOrFourBytes) {
  for (const std::uint32_t channels : {1U, 2U, 3U, 4U}) {
    ByteConv conv;
    conv.shape.channels = channels;
    conv.draw_weights(channels);
    const Network network = network_of_bytes(conv, true);
    const TensorDesc desc = network.compile(Device::open("model:nv_full")).desc("in");
    EXPECT_EQ(desc.pixel, channels == 1 ? 1U : 4U);
    EXPECT_EQ(desc.precision, Precision::kInt8);
  }
}

// A mean of -1 makes the fourth component 1 wherever the input is, and what pads stays 0.
TEST(BytesWithKernelsOfFp16, HaveAFourthComponentForWhatABorderLacks) {
  ByteConv conv;
  conv.mean = {-3, 5, 0, -1};
  conv.draw_weights(4);
  Convolution layer = conv.layer();
  layer.input.mean = conv.mean;
  Network network;
  network.output(network.convolution(network.input("in", conv.shape, Quantization{1, 0}), layer),
                 "out");
  std::vector<float> in = numbers_for(conv.shape), four;
  for (float& number : in) number = static_cast<float>(static_cast<int>(number) / 32);
  const std::size_t positions = std::size_t{conv.shape.height} * conv.shape.width;
  for (std::size_t i = 0; i < in.size(); ++i)
    four.push_back(in[i] - static_cast<float>(conv.mean[i / positions]));
  four.resize(4 * positions, 1);
  ByteConv plain = conv;
  plain.shape.channels = 4;
  EXPECT_EQ(results_of_bytes(network, in), results_of_bytes(network_of_bytes(plain, false), four));
}

TEST(BytesWithKernelsOfFp16, AreRefusedWhereTheyCannotLieAsPixels) {
  const Device device = Device::open("model:nv_full");
  ByteConv conv;
  conv.draw_weights(3);
  const auto expect_refused = [&](const ByteConv& wrong, const std::string& message) {
    test::expect_error(ErrorCode::kInvalidArgument, message,
                       [&] { network_of_bytes(wrong, true).compile(device); });
  };
  ByteConv never = conv;
  never.tuning.pixels = Rewrite::kNever;
  expect_refused(never, "int8 with fp16 kernels lies as pixels, and tuning.pixels is kNever");
  ByteConv ordered = conv;
  ordered.any_order = false;
  expect_refused(ordered, "its input does not lie as pixels: fp16 sums depend on their order");
  ByteConv deep = conv;
  deep.shape.channels = 5;
  deep.draw_weights(5);
  expect_refused(deep, "the input is int8, the kernels are fp16: let a pointwise layer convert it");
  test::expect_error(ErrorCode::kInvalidArgument, "int8 with fp16 kernels lies as pixels", [&] {
    network_of_bytes(conv, true).compile(device, {.choices = {"conv:no-pixels"}});
  });
  test::expect_error(ErrorCode::kInvalidArgument, "it insists on what the pass 'pixels' does", [&] {
    network_of_bytes(conv, true).compile(device, {.disabled_passes = {"pixels"}});
  });
}

}  // namespace
}  // namespace nvdla
