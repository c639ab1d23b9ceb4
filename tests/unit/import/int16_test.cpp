// SPDX-License-Identifier: MIT
//
// Models of real numbers in int16, with scales of samples, beside fp16, whose rounding is far below
// what is asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model_maker.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {
namespace {

constexpr double kLeastCosine = .9999;

// Numbers between -1 and 1.
std::vector<float> random_numbers(std::size_t count, std::uint32_t seed, float reach = 1) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back((static_cast<float>(random() % 20001) / 10000 - 1) * reach);
  return values;
}

std::vector<Sample> samples_of(std::size_t elements, float reach = 1) {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < 8; ++i)
    samples.push_back({random_numbers(elements, 100 + i, reach)});
  return samples;
}

std::vector<float> run_model(const ImportedModel& model, const std::vector<float>& input) {
  Request request = model.network.compile(Device::open("model:nv_full")).create_request();
  request.write(model.inputs[0].name, model.inputs[0].layout, input);
  request.run();
  std::vector<float> out(model.outputs[0].shape.elements());
  request.read(model.outputs[0].name, model.outputs[0].layout, std::span<float>(out));
  return out;
}

double cosine_of(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

// Runs a model of one input in int16 and in fp16, and returns the least cosine of four inputs.
double least_cosine(const ModelMaker& m, std::size_t elements, float reach = 1,
                    CpuUse cpu = CpuUse::kTail) {
  const ImportedModel wide = m.import(
      {.precision = Precision::kInt16, .samples = samples_of(elements, reach), .cpu = cpu});
  const ImportedModel half = m.import({.cpu = CpuUse::kAll});
  EXPECT_EQ(wide.inputs[0].precision, Precision::kInt16);
  EXPECT_EQ(wide.outputs[0].precision, Precision::kInt16);
  double least = 1;
  for (std::uint32_t seed = 100; seed < 104; ++seed) {
    const auto input = random_numbers(elements, seed, reach);
    least = std::min(least, cosine_of(run_model(wide, input), run_model(half, input)));
  }
  return least;
}

TEST(Int16, ConvolutionsPoolingsSumsAndProducts) {
  ModelMaker m;
  m.input("x", {1, 3, 16, 16}).output("y");
  m.floats("w1", {8, 3, 3, 3}, random_numbers(216, 1, 0.4F))
      .floats("b1", {8}, random_numbers(8, 2, 2));
  m.floats("w2", {8, 8, 3, 3}, random_numbers(576, 3, 0.2F))
      .floats("b2", {8}, random_numbers(8, 4, 0.1F));
  m.floats("w3", {10, 8 * 8 * 8}, random_numbers(5120, 5, 0.1F))
      .floats("b3", {10}, random_numbers(10, 6, 30));
  set(m.node("Conv", {"x", "w1", "b1"}, {"c1"}), "pads", Sizes{1, 1, 1, 1});
  m.node("Relu", {"c1"}, {"r1"});
  set(m.node("Conv", {"r1", "w2", "b2"}, {"c2"}), "pads", Sizes{1, 1, 1, 1});
  m.node("Add", {"c2", "r1"}, {"sum"});
  m.node("Relu", {"sum"}, {"r2"});
  auto& pool = m.node("MaxPool", {"r2"}, {"p"});
  set(pool, "kernel_shape", Sizes{2, 2});
  set(pool, "strides", Sizes{2, 2});
  m.node("Flatten", {"p"}, {"f"});
  set(m.node("Gemm", {"f", "w3", "b3"}, {"y"}), "transB", std::int64_t{1});
  EXPECT_GT(least_cosine(m, 768), kLeastCosine);
}

// Inverted residuals with hard-swish and a gate, as MobileNetV3 has them.
TEST(Int16, InvertedResidualsWithHardSwishAndGates) {
  ModelMaker m(14);
  m.input("x", {1, 4, 12, 12}).output("y");
  m.floats("w1", {16, 4, 1, 1}, random_numbers(64, 1)).floats("b1", {16}, random_numbers(16, 2));
  m.floats("w2", {16, 1, 3, 3}, random_numbers(144, 3)).floats("b2", {16}, random_numbers(16, 4));
  m.floats("w3", {4, 16, 1, 1}, random_numbers(64, 5, 0.4F));
  m.floats("w4", {16, 4, 1, 1}, random_numbers(64, 6, 0.6F))
      .floats("b4", {16}, random_numbers(16, 7));
  m.floats("w5", {4, 16, 1, 1}, random_numbers(64, 8, 0.5F));
  m.node("Conv", {"x", "w1", "b1"}, {"c1"});
  m.node("HardSwish", {"c1"}, {"h1"});
  auto& depthwise = m.node("Conv", {"h1", "w2", "b2"}, {"c2"});
  set(depthwise, "group", std::int64_t{16});
  set(depthwise, "pads", Sizes{1, 1, 1, 1});
  m.node("HardSwish", {"c2"}, {"h2"});
  m.node("GlobalAveragePool", {"h2"}, {"a"});
  m.node("Conv", {"a", "w3"}, {"s1"});
  m.node("Relu", {"s1"}, {"s2"});
  m.node("Conv", {"s2", "w4", "b4"}, {"s3"});
  m.node("HardSigmoid", {"s3"}, {"gate"});
  m.node("Mul", {"h2", "gate"}, {"scaled"});
  m.node("Conv", {"scaled", "w5"}, {"c5"});
  m.node("Add", {"c5", "x"}, {"y"});
  EXPECT_GT(least_cosine(m, 576, 2), kLeastCosine);
}

TEST(Int16, FunctionsOfElements) {
  for (const char* const op : {"Sigmoid", "Tanh", "Elu", "Exp", "LeakyRelu", "Softplus", "Abs",
                               "Erf", "HardSwish", "Neg", "Selu"}) {
    ModelMaker m(14);
    m.input("x", {1, 4, 8, 8}).output("y");
    m.node(op, {"x"}, {"y"});
    EXPECT_GT(least_cosine(m, 256, 4), kLeastCosine) << op;
  }
}

// Numbers that go far leave a table few entries near 0, where most of them are.
TEST(Int16, HardSwishOfFewGreatNumbers) {
  ModelMaker m(14);
  m.input("x", {1, 4, 8, 8}).output("y");
  m.floats("f", {}, {-1.5F}).floats("b", {}, {0.25F});
  m.node("HardSwish", {"x"}, {"h"});
  m.node("Mul", {"h", "f"}, {"p"});
  m.node("Add", {"p", "b"}, {"y"});
  auto samples = samples_of(256, 4);
  samples[0][0][7] = 20;
  const ImportedModel wide = m.import({.precision = Precision::kInt16, .samples = samples});
  const auto input = random_numbers(256, 101, 4);
  const auto found = run_model(wide, input);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double x = input[i];
    const double swish = x * std::clamp(x + 3, 0.0, 6.0) / 6;
    EXPECT_NEAR(found[i], -1.5 * swish + 0.25, 0.003) << x;
  }
}

// A convolution takes a factor and an addend in front of the hard-swish, as networks have them that
// learn these.
TEST(Int16, HardSwishBehindAFactorAndAnAddend) {
  ModelMaker m(14);
  m.input("x", {1, 4, 8, 8}).output("y").floats("w", {4, 4, 1, 1}, random_numbers(16, 1));
  m.floats("f", {}, {0.4F}).floats("b", {}, {-0.7F});
  m.node("Conv", {"x", "w"}, {"c"});
  m.node("Mul", {"c", "f"}, {"p"});
  m.node("Add", {"p", "b"}, {"q"});
  m.node("HardSwish", {"q"}, {"h"});
  m.node("Mul", {"h", "b"}, {"r"});
  m.node("Add", {"r", "f"}, {"y"});
  auto samples = samples_of(256, 4);
  samples[0][0][7] = 200;
  const ImportedModel wide = m.import({.precision = Precision::kInt16, .samples = samples});
  const auto input = random_numbers(256, 101, 4);
  EXPECT_GT(cosine_of(run_model(wide, input), m.run(input)), kLeastCosine);
}

// No table is right for a function of many jumps.
TEST(Int16, FunctionsThatJumpAreTheProcessors) {
  ModelMaker m;
  m.input("x", {1, 4, 8, 8}).output("y");
  m.node("Ceil", {"x"}, {"y"});
  EXPECT_GT(least_cosine(m, 256, 4, CpuUse::kAll), kLeastCosine);
  const std::string refusal =
      m.refusal({.precision = Precision::kInt16, .samples = samples_of(256, 4)});
  EXPECT_NE(refusal.find("(Ceil): the device has nothing for this function in int16, which a table "
                         "misses by 2.9 %"),
            std::string::npos)
      << refusal;
}

TEST(Int16, LocalResponseNormalization) {
  ModelMaker m;
  m.input("x", {1, 8, 4, 4}).output("y");
  auto& node = m.node("LRN", {"x"}, {"y"});
  set(node, "size", std::int64_t{5});
  set(node, "alpha", 0.5F);
  EXPECT_GT(least_cosine(m, 128, 2), kLeastCosine);
}

// Numbers for each position are operands of their own.
TEST(Int16, ConstantsOfPositions) {
  ModelMaker m;
  m.input("x", {1, 2, 3, 3}).output("y");
  m.floats("f", {2, 3, 3}, random_numbers(18, 3)).floats("b", {1, 3, 3}, random_numbers(9, 4));
  m.node("Mul", {"x", "f"}, {"p"});
  m.node("Add", {"p", "b"}, {"y"});
  EXPECT_GT(least_cosine(m, 18, 2), kLeastCosine);
}

TEST(Int16, WhatMovesElementsKeepsThem) {
  ModelMaker m;
  m.input("x", {1, 8, 4, 4}).output("y");
  m.floats("w", {8, 8, 1, 1}, random_numbers(64, 1));
  m.integers("begin", {1}, {2}).integers("end", {1}, {6}).integers("axis", {1}, {1});
  m.floats("sizes", {4}, {1, 1, 2, 2}).integers("pads", {8}, {0, 0, 1, 1, 0, 0, 1, 0});
  m.node("Conv", {"x", "w"}, {"c"});
  m.node("Slice", {"c", "begin", "end", "axis"}, {"part"});
  set(m.node("Concat", {"part", "x"}, {"all"}), "axis", std::int64_t{1});
  m.node("Resize", {"all", "", "sizes"}, {"large"});
  m.node("Pad", {"large", "pads"}, {"y"});
  EXPECT_GT(least_cosine(m, 128, 3), kLeastCosine);
}

TEST(Int16, AveragesAndSums) {
  for (const Sizes& sizes : {Sizes{1, 6, 12, 12}, Sizes{1, 6, 48, 40}}) {
    ModelMaker m;
    m.input("x", sizes).output("y");
    m.floats("w", {6, 6, 1, 1}, random_numbers(36, 1)).floats("b", {6}, random_numbers(6, 2, 0.1F));
    auto& pool = m.node("AveragePool", {"x"}, {"p"});
    set(pool, "kernel_shape", Sizes{2, 2});
    set(pool, "strides", Sizes{2, 2});
    m.node("Conv", {"p", "w", "b"}, {"c"});
    m.node("GlobalAveragePool", {"c"}, {"y"});
    EXPECT_GT(least_cosine(m, static_cast<std::size_t>(6 * sizes[2] * sizes[3])), kLeastCosine);
  }
}

// Blocks reach into a border of zeros where none divides the sizes.
TEST(Int16, AveragesOfSizesWithoutDivisors) {
  for (const Sizes& sizes : {Sizes{1, 4, 37, 41}, Sizes{1, 4, 143}}) {
    ModelMaker m;
    m.input("x", sizes).output("y");
    Sizes kernels(sizes.size(), 1);
    kernels[0] = kernels[1] = 4;
    m.floats("w", kernels, random_numbers(16, 1));
    m.node("Conv", {"x", "w"}, {"c"});
    m.node("Relu", {"c"}, {"r"});
    auto& mean = m.node("ReduceMean", {"r"}, {"y"});
    set(mean, "axes", sizes.size() == 3 ? Sizes{2} : Sizes{2, 3});
    std::size_t count = 1;
    for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
    EXPECT_GT(least_cosine(m, count), kLeastCosine);
  }
}

TEST(Int16, AffineOperatorsAndOthersOfTwoTensors) {
  for (const char* const op : {"Add", "Sub", "Mul", "Max", "Min"}) {
    ModelMaker m;
    m.input("x", {1, 4, 6, 6}).output("y");
    m.floats("w", {4, 4, 1, 1}, random_numbers(16, 3))
        .floats("f", {4, 1, 1}, {2, -0.5F, 100, 0.01F});
    m.node("Conv", {"x", "w"}, {"c"});
    m.node(op, {"x", "c"}, {"t"});
    m.node("Mul", {"t", "f"}, {"y"});
    EXPECT_GT(least_cosine(m, 144), kLeastCosine) << op;
  }
}

TEST(Int16, TransposedConvolutions) {
  ModelMaker m;
  m.input("x", {1, 4, 6, 6}).output("y");
  m.floats("w", {4, 3, 3, 3}, random_numbers(108, 3)).floats("b", {3}, random_numbers(3, 4, 5));
  auto& node = m.node("ConvTranspose", {"x", "w", "b"}, {"y"});
  set(node, "strides", Sizes{2, 2});
  EXPECT_GT(least_cosine(m, 144), kLeastCosine);
}

TEST(Int16, SoftmaxIsTheProcessors) {
  ModelMaker m;
  m.input("x", {1, 10}).output("y").floats("w", {10, 10}, random_numbers(100, 3));
  m.node("Gemm", {"x", "w"}, {"g"});
  m.node("Softmax", {"g"}, {"y"});
  EXPECT_GT(least_cosine(m, 10, 2), kLeastCosine);
}

// A bias may be far beyond what 32 bits of steps of input and weight hold.
TEST(Int16, BiasesOfAnySize) {
  ModelMaker m;
  m.input("x", {1, 1, 4, 4}).output("y");
  m.floats("w", {4, 1, 1, 1}, {0.001F, 1e-20F, 1, 0}).floats("b", {4}, {50, -0.25F, 0, 7});
  m.node("Conv", {"x", "w", "b"}, {"y"});
  const ImportedModel model = m.import({.precision = Precision::kInt16, .samples = samples_of(16)});
  const auto out = run_model(model, std::vector<float>(16, 0.5F));
  const float expected[] = {50.0005F, -0.25F, 0.5F, 7};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(out[k * 16], expected[k], 0.0016F) << k;
}

// What `nvdla run` makes of a picture: in int16 pixels are the elements.
TEST(Int16, PixelsAreElements) {
  ModelMaker m;
  m.input("x", {1, 3, 2, 2}).output("y").floats("w", {3, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  m.node("Conv", {"x", "w"}, {"y"});
  const std::vector<std::int16_t> in = {0, 64, 128, 255, 10, 20, 30, 40, 255, 254, 253, 252};
  const InputPixels all[] = {{},
                             {.mean = {128}, .deviation = {128}},
                             {.mean = {127.5F}, .deviation = {127.5F}},
                             {.mean = {123, 116, 103}, .deviation = {58, 57, 57}}};
  for (const InputPixels& pixels : all) {
    const ImportedModel model =
        m.import({.precision = Precision::kInt16,
                  .samples = {{{0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255}}},
                  .pixels = {pixels}});
    Request request = model.network.compile(Device::open("model:nv_full")).create_request();
    request.write("x", Layout::kNchw, std::span<const std::int16_t>(in));
    request.run();
    std::vector<float> out(12);
    request.read(model.outputs[0].name, model.outputs[0].layout, std::span<float>(out));
    for (std::size_t i = 0; i < 12; ++i) {
      const std::size_t c = pixels.mean.size() > 1 ? i / 4 : 0;
      const float mean = pixels.mean.empty() ? 0 : pixels.mean[c];
      const float by = pixels.deviation.empty() ? 1 : pixels.deviation[c];
      EXPECT_NEAR(out[i], (static_cast<float>(in[i]) - mean) / by, 0.02F / by) << i;
    }
  }
}

TEST(Int16, WhatCannotBeIsRefused) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y");
  m.node("Neg", {"x"}, {"y"});
  EXPECT_EQ(m.refusal({.precision = Precision::kInt16}),
            "model: int16 needs scales, and the model has none (QuantizeLinear); expected samples "
            "of its inputs");
  try {
    m.import({.precision = Precision::kInt16, .samples = samples_of(2)}, "nv_large");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotAvailable);
    EXPECT_STREQ(error.what(), "model: nv_large has no int16; expected int8");
  }
  ModelMaker large;
  large.input("x", {1, 1, 40, 40}).output("y");
  set(large.node("AveragePool", {"x"}, {"y"}), "kernel_shape", Sizes{40, 1});
  EXPECT_NE(large.refusal({.precision = Precision::kInt16, .samples = samples_of(1600)})
                .find("(AveragePool): an average of int16 has a window of 40x1; expected at most "
                      "32x32"),
            std::string::npos);
}

}  // namespace
}  // namespace nvdla::import_test
