// SPDX-License-Identifier: MIT
//
// Look-up tables in networks: after convolutions, alone, and in normalisations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/lut_layer.hpp"
#include "lut/lut_eval.hpp"

namespace nvdla::test {
namespace {

constexpr Shape kShape{.channels = 16, .height = 12, .width = 12};
constexpr std::uint32_t kKernels = 24, kSize = 3;

// The convolution without padding, by channel, line and column.
template <typename Sum, typename Input, typename Weight>
std::vector<Sum> convolved(const std::vector<Input>& input, const std::vector<Weight>& weights) {
  constexpr std::uint32_t kOut = kShape.height - kSize + 1;
  std::vector<Sum> sums;
  for (std::uint32_t k = 0; k < kKernels; ++k)
    for (std::uint32_t y = 0; y < kOut; ++y)
      for (std::uint32_t x = 0; x < kOut; ++x) {
        Sum sum = 0;
        for (std::uint32_t c = 0; c < kShape.channels; ++c)
          for (std::uint32_t i = 0; i < kSize * kSize; ++i)
            sum += static_cast<Sum>(
                       input[(c * kShape.height + y + i / kSize) * kShape.width + x + i % kSize]) *
                   static_cast<Sum>(weights[(k * kShape.channels + c) * kSize * kSize + i]);
        sums.push_back(sum);
      }
  return sums;
}

Convolution convolution() {
  Convolution layer;
  layer.name = "conv";
  layer.kernels = kKernels;
  layer.kernel_height = layer.kernel_width = kSize;
  return layer;
}

TEST(LutNetwork, SigmoidAfterAnInt8Convolution) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any(-100, 100);
  std::vector<std::int8_t> input(kShape.elements());
  std::vector<std::int8_t> weights(std::size_t{kKernels} * kShape.channels * kSize * kSize);
  for (std::int8_t& value : input) value = static_cast<std::int8_t>(any(random));
  for (std::int8_t& value : weights) value = static_cast<std::int8_t>(any(random));
  std::vector<std::int32_t> bias(kKernels);
  for (std::int32_t& value : bias) value = 37 * any(random);

  LutFormat format;
  format.input.scale = 0.01F * 0.005F;
  format.output = {1.0F / 256, -128};
  const Lut lut = lut::sigmoid(format);
  EXPECT_LE(lut.report().error, 1.0 / 256);

  Network net;
  Convolution layer = convolution();
  layer.weights = std::span<const std::int8_t>(weights);
  layer.bias = bias;
  lut.apply(layer);
  net.output(net.convolution(net.input("x", kShape), layer), "y");
  Request request = net.build(Device::open("model:nv_full"));
  request.write("x", Layout::kNchw, input);
  request.run();
  const std::vector<std::int32_t> sums = convolved<std::int32_t>(input, weights);
  std::vector<std::int8_t> output(sums.size());
  request.read("y", Layout::kNchw, output);

  int low = 0, high = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int32_t sum = sums[i] + bias[i / (sums.size() / kKernels)];
    const double x = sum * static_cast<double>(format.input.scale);
    // 1 itself is beyond the output.
    const double wanted = std::min(1 / (1 + std::exp(-x)), 255.0 / 256);
    ASSERT_LE(std::abs((output[i] + 128) / 256.0 - wanted), lut.report().error + 1e-12) << x;
    const std::int64_t value = detail::lut_evaluate(lut.table(), false, sum);
    ASSERT_EQ(output[i],
              std::clamp<int>(static_cast<int>(detail::round_shift(value, 7)), -128, 127));
    low += wanted < 0.1;
    high += wanted > 0.9;
  }
  EXPECT_GT(low, 50);
  EXPECT_GT(high, 50);
}

// Numbers with few bits, so that sums are exact.
TEST(LutNetwork, TanhAfterAnFp16Convolution) {
  std::mt19937 random(2);
  std::uniform_int_distribution<int> any(-8, 8);
  std::vector<float> input(kShape.elements());
  std::vector<float> weights(std::size_t{kKernels} * kShape.channels * kSize * kSize);
  for (float& value : input) value = static_cast<float>(any(random)) / 16;
  for (float& value : weights) value = static_cast<float>(any(random)) / 64;
  LutFormat format;
  format.precision = Precision::kFp16;
  const Lut lut = lut::tanh(format);

  Network net;
  Convolution layer = convolution();
  layer.weights = std::span<const float>(weights);
  lut.apply(layer);
  net.output(net.convolution(net.input("x", kShape, Precision::kFp16), layer), "y");
  Request request = net.build(Device::open("model:nv_full"));
  request.write("x", Layout::kNchw, input);
  request.run();
  const std::vector<double> sums = convolved<double>(input, weights);
  std::vector<float> output(sums.size());
  request.read("y", Layout::kNchw, output);
  for (std::size_t i = 0; i < sums.size(); ++i)
    ASSERT_LE(std::abs(static_cast<double>(output[i]) - std::tanh(sums[i])), 1.0 / 512) << sums[i];
  EXPECT_TRUE(std::any_of(sums.begin(), sums.end(), [](double x) { return std::abs(x) > 0.9; }));
}

TEST(LutNetwork, NormalisesInInt8) {
  LutFormat format;
  format.input = {0.05F, 3};
  format.output = {0.02F, 0};
  const double alpha = 0.5, beta = 0.75, k = 1;
  const Lut lut = lut::lrn(alpha, beta, k, 5, format);
  std::mt19937 random(3);
  std::uniform_int_distribution<int> any(-128, 127);
  std::vector<std::int8_t> input(kShape.elements()), output(kShape.elements());
  for (std::int8_t& value : input) value = static_cast<std::int8_t>(any(random));
  Network net;
  Normalization layer;
  layer.name = "lrn";
  lut.apply(layer);
  net.output(net.normalization(net.input("x", kShape), layer), "y");
  Request request = net.build(Device::open("model:nv_full"));
  request.write("x", Layout::kNchw, input);
  request.run();
  request.read("y", Layout::kNchw, output);

  const int plane = static_cast<int>(kShape.height * kShape.width);
  const auto number = [&](int i) {
    return (input[static_cast<std::size_t>(i)] - 3) * static_cast<double>(format.input.scale);
  };
  for (int i = 0; i < static_cast<int>(input.size()); ++i) {
    double sum = 0;
    for (int j = i - 2 * plane; j <= i + 2 * plane; j += plane) {
      if (j >= 0 && j < static_cast<int>(input.size())) sum += number(j) * number(j);
    }
    const auto scale = static_cast<double>(format.output.scale);
    const double wanted =
        std::clamp(number(i) * std::pow(k + alpha / 5 * sum, -beta), -128 * scale, 127 * scale);
    ASSERT_LE(std::abs(output[static_cast<std::size_t>(i)] * scale - wanted),
              lut.report().error + 1e-12);
  }
}

TEST(LutNetwork, TablesAreForOneUnit) {
  LutFormat format;
  format.input_bits = 8;
  Convolution conv;
  Pointwise pointwise;
  Normalization normalization;
  const auto refused = [](const std::string& text, const auto& call) {
    expect_error(ErrorCode::kInvalidArgument, text, call);
  };
  const Lut sdp = lut::tanh(format);
  refused("a normalisation looks up in CDP, the table is for SDP",
          [&] { sdp.apply(normalization); });
  const Lut cdp = lut::lrn(1, 1, 1, 3, format);
  refused("a convolution looks up in SDP, the table is for CDP", [&] { cdp.apply(conv); });
  refused("a pointwise layer looks up in SDP", [&] { cdp.apply(pointwise); });
  refused("an empty Lut has no table", [&] { Lut().apply(pointwise); });
}

// What the table itself says comes out, against the device.
TEST(LutResult, IsWhatTheDeviceGives) {
  LutFormat bytes;
  bytes.input = {1 / 16.0F, 3};
  bytes.output = {1 / 32.0F, -5};
  bytes.input_bits = 8;
  for (const Lut& lut : {lut::swish(bytes), lut::tanh({.precision = Precision::kFp16})}) {
    const LutFormat& format = lut.format();
    Network net;
    Pointwise layer{.name = "lut"};
    lut.apply(layer);
    const Tensor in = net.input("in", {256, 1, 1}, format.precision, format.input);
    net.output(net.pointwise(in, layer), "out", format.output);
    Request request = net.build(Device::open("model:nv_full"));
    std::vector<float> x(256), y(256);
    for (int i = 0; i < 256; ++i)
      x[static_cast<std::size_t>(i)] = static_cast<float>(i - 128 - 3) / 16;
    request.write("in", Layout::kNchw, x);
    request.run();
    request.read("out", Layout::kNchw, y);
    for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(lut.result(x[i]), y[i]) << x[i];
  }
  expect_error(ErrorCode::kInvalidArgument, "a table of CDP gives factors",
               [] { (void)lut::lrn(1, 0.75, 1, 3, {.input = {1}, .output = {1}}).result(1); });
}

}  // namespace
}  // namespace nvdla::test
