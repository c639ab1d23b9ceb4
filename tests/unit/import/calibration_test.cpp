// SPDX-License-Identifier: MIT
//
// Models of real numbers in int8, with scales of samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "model_maker.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {
namespace {

constexpr const char* kConfigurations[] = {"nv_full", "nv_large", "nv_small"};

std::vector<float> random_floats(std::size_t count, std::uint32_t seed, float reach = 1) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back((static_cast<float>(random() % 20001) / 10000 - 1) * reach);
  return values;
}

std::vector<Sample> random_samples(std::size_t count, std::size_t elements, float reach = 1) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i)
    samples.push_back({random_floats(elements, static_cast<std::uint32_t>(100 + i), reach)});
  return samples;
}

std::vector<float> run_on(const ImportedModel& model, std::string_view configuration,
                          const std::vector<float>& input) {
  const Device device = Device::open("model:" + std::string(configuration));
  Request request = model.network.compile(device).create_request();
  request.write(model.inputs[0].name, model.inputs[0].layout, input);
  request.run();
  std::vector<float> out(model.outputs[0].shape.elements());
  request.read(model.outputs[0].name, model.outputs[0].layout, std::span<float>(out));
  return out;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

TEST(Calibration, NormalisationsOfChannelsAndLogarithms) {
  ModelMaker m;
  m.input("x", {1, 4, 8, 8}).output("y");
  m.floats("g", {4}, {1, 2, 0.5F, -1}).floats("b", {4}, {0, 1, -1, 0.5F});
  m.node("InstanceNormalization", {"x", "g", "b"}, {"n"});
  set(m.node("LogSoftmax", {"n"}, {"y"}), "axis", std::int64_t{1});
  const auto in = random_floats(256, 3, 2);
  const auto expected = m.run(in, {.cpu = CpuUse::kAll});
  for (const char* configuration : {"nv_full", "nv_small"}) {
    const ImportedModel model =
        m.import({.samples = random_samples(8, 256, 2), .cpu = CpuUse::kAll}, configuration);
    EXPECT_GT(cosine(run_on(model, configuration, in), expected), 0.999) << configuration;
  }
}

// The planes have more positions than an axis of the device, and one channel is nearly dead.
TEST(Calibration, NormalisationsOfLargePlanes) {
  constexpr std::int64_t kSide = 96;
  constexpr std::size_t kAll = 3 * kSide * kSide;
  ModelMaker m;
  m.input("x", {1, 3, kSide, kSide}).output("y");
  m.floats("w", {4, 3, 1, 1}, {1, 0, 1, 0, 1, 0, 0.5F, 0, -1, 1e-3F, 2e-3F, 1e-3F});
  m.floats("g", {4}, {1, 2, 0.5F, 0}).floats("b", {4}, {0, 1, -1, 0.5F});
  m.node("Conv", {"x", "w"}, {"c"});
  m.node("InstanceNormalization", {"c", "g", "b"}, {"n"});
  m.node("Relu", {"n"}, {"y"});
  const auto in = random_floats(kAll, 3, 20);
  const auto expected = m.run(in, {.cpu = CpuUse::kAll});
  for (const char* configuration : {"nv_full", "nv_small"}) {
    const ImportedModel model =
        m.import({.samples = random_samples(4, kAll, 20), .cpu = CpuUse::kAll}, configuration);
    EXPECT_GT(cosine(run_on(model, configuration, in), expected), 0.9995) << configuration;
    // Its bounds are those of the scale of the result.
    EXPECT_EQ(model.network.layers(), 2U) << configuration;
  }
}

// A convolution with batch normalisation, a depthwise one with a clip, a gate, a residual sum,
// poolings, a concatenation and a classifier.
ModelMaker small_classifier() {
  ModelMaker m;
  m.input("x", {1, 3, 16, 16}).output("y");
  m.floats("w1", {8, 3, 3, 3}, random_floats(216, 1, 0.4F))
      .floats("g", {8}, random_floats(8, 2, 2))
      .floats("b", {8}, random_floats(8, 3))
      .floats("m", {8}, random_floats(8, 4, 0.2F))
      .floats("v", {8}, {0.5F, 1, 2, 0.2F, 0.9F, 1.5F, 0.7F, 3})
      .floats("w2", {8, 1, 3, 3}, random_floats(72, 5, 0.5F))
      .floats("w3", {8, 8, 1, 1}, random_floats(64, 6, 0.5F))
      .floats("b3", {8}, random_floats(8, 7, 0.3F))
      .floats("low", {}, {0})
      .floats("high", {}, {6})
      .floats("w4", {16, 5}, random_floats(80, 8, 0.5F))
      .floats("b4", {5}, random_floats(5, 9));
  auto& first = m.node("Conv", {"x", "w1"}, {"c1"});
  set(first, "pads", Sizes{1, 1, 1, 1});
  m.node("BatchNormalization", {"c1", "g", "b", "m", "v"}, {"n1"});
  m.node("Relu", {"n1"}, {"r1"});
  auto& depthwise = m.node("Conv", {"r1", "w2"}, {"c2"});
  set(depthwise, "pads", Sizes{1, 1, 1, 1});
  set(depthwise, "group", std::int64_t{8});
  m.node("Clip", {"c2", "low", "high"}, {"r2"});
  m.node("GlobalAveragePool", {"r2"}, {"a"});
  m.node("Conv", {"a", "w3", "b3"}, {"s"});
  m.node("HardSigmoid", {"s"}, {"gate"});
  m.node("Mul", {"r2", "gate"}, {"scaled"});
  m.node("Add", {"r1", "scaled"}, {"sum"});
  auto& pool = m.node("MaxPool", {"sum"}, {"p"});
  set(pool, "kernel_shape", Sizes{2, 2});
  set(pool, "strides", Sizes{2, 2});
  auto& average = m.node("AveragePool", {"sum"}, {"q"});
  set(average, "kernel_shape", Sizes{2, 2});
  set(average, "strides", Sizes{2, 2});
  auto& both = m.node("Concat", {"p", "q"}, {"pq"});
  set(both, "axis", std::int64_t{1});
  m.node("GlobalAveragePool", {"pq"}, {"all"});
  m.node("Flatten", {"all"}, {"flat"});
  m.node("Gemm", {"flat", "w4", "b4"}, {"y"});
  return m;
}

TEST(Calibration, NetworksInInt8AreCloseToTheirFloats) {
  const ModelMaker m = small_classifier();
  const ImportOptions options{.samples = random_samples(8, 768)};
  const ImportedModel reference = m.import();
  for (const char* configuration : kConfigurations) {
    const ImportedModel model = m.import(options, configuration);
    EXPECT_EQ(model.inputs[0].precision, Precision::kInt8);
    for (std::uint32_t seed = 1; seed < 5; ++seed) {
      const auto input = random_floats(768, seed);
      const auto expected = run_on(reference, "nv_full", input);
      EXPECT_GT(cosine(run_on(model, configuration, input), expected), 0.999)
          << configuration << ' ' << seed;
    }
  }
}

// All devices compute the same integers, as long as no gate needs the zero point 0.
TEST(Calibration, ConfigurationsAgree) {
  const ModelMaker m = small_classifier();
  const ImportOptions options{.samples = random_samples(4, 768)};
  const auto input = random_floats(768, 77);
  EXPECT_EQ(run_on(m.import(options, "nv_full"), "nv_full", input),
            run_on(m.import(options, "nv_large"), "nv_large", input));
}

TEST(Calibration, TheOrderOfSamplesDoesNotMatter) {
  const ModelMaker m = small_classifier();
  ImportOptions options{.samples = random_samples(6, 768)};
  const auto loadable = [&] {
    const ImportedModel model = m.import(options, "nv_small");
    return make_loadable(model.network, "nv_small");
  };
  const auto first = loadable();
  std::reverse(options.samples.begin(), options.samples.end());
  EXPECT_EQ(loadable(), first);
}

TEST(Calibration, InputsHoldTheirSamples) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y");
  m.node("Neg", {"x"}, {"y"});
  const ImportedModel model = m.import({.samples = {{{-1, 3}}, {{-2, 0}}}});
  ASSERT_TRUE(model.inputs[0].quantization.has_value());
  EXPECT_FLOAT_EQ(model.inputs[0].quantization->scale, 5.0F / 255);
  EXPECT_EQ(model.inputs[0].quantization->zero_point, -26);
  EXPECT_NEAR(model.outputs[0].quantization->scale, 5.0F / 255, 1e-7);
}

// Kernels without weights, or nearly without, give their bias.
TEST(Calibration, DeadKernelsAreTheirBias) {
  ModelMaker m;
  m.input("x", {1, 1, 4, 4}).output("y");
  m.floats("w", {4, 1, 1, 1}, {0, 1e-20F, 1, 1e-9F}).floats("b", {4}, {0.5F, -0.25F, 0, 0});
  m.node("Conv", {"x", "w", "b"}, {"y"});
  const ImportedModel model = m.import({.samples = random_samples(3, 16)});
  const auto out = run_on(model, "nv_full", std::vector<float>(16, 0.5F));
  const float expected[] = {0.5F, -0.25F, 0.5F, 0};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(out[k * 16], expected[k], 0.01F) << k;
}

// 24x96 positions are more than a convolution has taps.
TEST(Calibration, WideAveragesAreTheDevices) {
  ModelMaker m;
  m.input("x", {1, 2, 24, 96}).output("y");
  m.node("GlobalAveragePool", {"x"}, {"y"});
  const ImportOptions options{.samples = random_samples(2, 4608), .cpu = CpuUse::kNone};
  for (const char* configuration : kConfigurations) {
    const ImportedModel model = m.import(options, configuration);
    const CompiledNetwork compiled =
        model.network.compile(Device::open(std::string("model:") + configuration));
    for (std::uint32_t i = 0; i < compiled.layers(); ++i)
      EXPECT_FALSE(compiled.layer_on_cpu(i)) << configuration;
    const auto input = random_floats(4608, 100);
    const auto out = run_on(model, configuration, input);
    for (std::size_t c = 0; c < 2; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < 2304; ++i) sum += static_cast<double>(input[c * 2304 + i]);
      EXPECT_NEAR(out[c], sum / 2304, 0.001) << configuration;
    }
  }
}

TEST(Calibration, OneScaleGoesThroughAConcatenation) {
  ModelMaker m;
  m.input("x", {1, 1, 2, 2})
      .output("y")
      .floats("a", {32, 1, 1, 1}, std::vector<float>(32, 1))
      .floats("b", {32, 1, 1, 1}, std::vector<float>(32, 8));
  m.node("Conv", {"x", "a"}, {"p"});
  m.node("Conv", {"x", "b"}, {"q"});
  set(m.node("Concat", {"p", "q"}, {"y"}), "axis", std::int64_t{1});
  const ImportedModel model = m.import({.samples = random_samples(3, 4)});
  // Two convolutions, and nothing that brings one to the scale of the other.
  const CompiledNetwork compiled = model.network.compile(Device::open("model:nv_full"));
  EXPECT_EQ(compiled.layers(), 2U);
}

// Another convolution reads the part with small numbers in steps of its own, and a layer brings it
// to those of the concatenation.
TEST(Calibration, PartsThatOthersReadKeepTheirScale) {
  for (const float factor : {1.0F, 40.0F}) {
    ModelMaker m;
    m.input("x", {1, 3, 8, 8}).output("y").output("z");
    m.floats("a", {8, 3, 1, 1}, random_floats(24, 1))
        .floats("b", {8, 3, 1, 1}, random_floats(24, 2, factor))
        .floats("c", {4, 8, 1, 1}, random_floats(32, 3));
    m.node("Conv", {"x", "a"}, {"p"});
    m.node("Conv", {"x", "b"}, {"q"});
    set(m.node("MaxPool", {"p"}, {"r"}), "kernel_shape", Sizes{1, 1});
    set(m.node("Concat", {"r", "q"}, {"y"}), "axis", std::int64_t{1});
    m.node("Conv", {"p", "c"}, {"z"});
    for (const char* configuration : kConfigurations) {
      const ImportedModel model =
          m.import({.samples = random_samples(8, 192), .measure = true}, configuration);
      const auto scale_of = [&](const char* name) {
        const auto found = std::find_if(model.scales.begin(), model.scales.end(),
                                        [&](const ImportedScale& s) { return s.name == name; });
        return found->quantization.scale;
      };
      const bool is_apart = factor > 2;
      EXPECT_EQ(scale_of("p") < 0.2F * scale_of("y"), is_apart) << configuration;
    }
  }
}

// Scores beside boxes in pixels have the steps of these, and the importer says so.
TEST(Calibration, PartsThatAConcatenationLeavesFewStepsAreTold) {
  const auto notices = [](float scale) {
    ModelMaker m;
    m.input("x", {1, 2}).output("y").floats("scale", {}, {scale});
    m.node("Sigmoid", {"x"}, {"scores"});
    m.node("Mul", {"x", "scale"}, {"boxes"});
    set(m.node("Concat", {"boxes", "scores"}, {"y"}), "axis", std::int64_t{1});
    return m.import({.samples = {{{-1, 2}}}}).notices;
  };
  EXPECT_TRUE(notices(1).empty());
  const auto told = notices(200);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0],
            "node 'y' (Concat): input 'scores' has numbers from 0 to 0.881, and its steps are "
            "2.35, which greater numbers beside it need; for scales of their own end the network "
            "before it (--outputs)");
}

TEST(Calibration, PixelsGoInAsBytes) {
  ModelMaker m;
  m.input("x", {1, 3, 2, 2}).output("y").floats("w", {3, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  m.node("Conv", {"x", "w"}, {"y"});
  const auto run = [&](const InputPixels& pixels, const char* configuration, bool integers) {
    ImportOptions options{.pixels = {pixels}};
    if (integers) options.samples = {{{0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255}}};
    const ImportedModel model = m.import(options, configuration);
    const Device device = Device::open(std::string("model:") + configuration);
    Request request = model.network.compile(device).create_request();
    const std::vector<float> in = {0, 64, 128, 255, 10, 20, 30, 40, 255, 254, 253, 252};
    if (integers) {
      // What `nvdla run` makes of a picture.
      std::vector<std::int8_t> bytes;
      for (const float p : in) bytes.push_back(static_cast<std::int8_t>(static_cast<int>(p) - 128));
      request.write("x", Layout::kNchw, std::span<const std::int8_t>(bytes));
    } else {
      request.write("x", Layout::kNchw, in);
    }
    request.run();
    std::vector<float> out(12);
    request.read(model.outputs[0].name, model.outputs[0].layout, std::span<float>(out));
    for (std::size_t i = 0; i < 12; ++i) {
      const std::size_t c = i / 4, from = pixels.reversed ? 2 - c : c;
      const float mean = pixels.mean.empty() ? 0 : pixels.mean[pixels.mean.size() == 1 ? 0 : c];
      const float by =
          pixels.deviation.empty() ? 1 : pixels.deviation[pixels.deviation.size() == 1 ? 0 : c];
      const float expected = (in[from * 4 + i % 4] - mean) / by;
      EXPECT_NEAR(out[i], expected, 1.6F / by) << configuration << ' ' << i;
    }
  };
  for (const bool reversed : {false, true})
    for (const char* configuration : kConfigurations)
      for (const bool integers : {true, false}) {
        if (!integers && std::string(configuration) != "nv_full") continue;
        run({.reversed = reversed}, configuration, integers);
        run({.mean = {127.5F}, .deviation = {127.5F}, .reversed = reversed}, configuration,
            integers);
        run({.mean = {123, 116, 103}, .deviation = {58, 57, 57}, .reversed = reversed},
            configuration, integers);
      }
}

// Normalised is how a convolution sees a picture: less a mean, by a deviation.
struct Normalised {
  std::vector<float> means = {123.675F, 116.28F, 103.53F}, deviations = {58.4F, 57.1F, 57.4F};
  int side = 9, kernels = 5, stride = 1, dilation = 1;
  std::vector<float> weights = {}, picture = {};

  int out_side() const { return (side + 2 - 2 * dilation - 1) / stride + 1; }
  // Returns what the convolution gives at a position, and the magnitude of what it adds up.
  std::pair<double, double> expected(int k, int y, int x) const {
    double sum = 0, magnitude = 0;
    for (int c = 0; c < 3; ++c)
      for (int t = 0; t < 9; ++t) {
        const int row = y * stride + t / 3 * dilation - 1,
                  column = x * stride + t % 3 * dilation - 1;
        if (row < 0 || row >= side || column < 0 || column >= side) continue;
        const auto of = static_cast<std::size_t>(c);
        const double mean = means[of], deviation = deviations[of];
        const double weight = weights[static_cast<std::size_t>((k * 3 + c) * 9 + t)] / deviation;
        const double pixel = picture[static_cast<std::size_t>((c * side + row) * side + column)];
        sum += weight * (pixel - mean);
        magnitude += std::fabs(weight) * (pixel + mean);
      }
    return {sum, magnitude};
  }
};

// A mean and a deviation before a convolution that zeros pad, from options or in the model, leave
// nothing to compute before it in fp16, so that the picture lies as pixels; at the border zeros
// stay the mean.
TEST(Calibration, PicturesOfFp16LieAsPixelsWhatPadsThem) {
  for (const char* const from : {"options", "model", "model, channels last"}) {
    const bool in_model = from != std::string("options"), last = std::string(from).size() > 7;
    for (const auto& [stride, dilation] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
      Normalised n{.stride = stride, .dilation = dilation, .weights = random_floats(5 * 3 * 9, 3)};
      for (int i = 0; i < 3 * n.side * n.side; ++i)
        n.picture.push_back(static_cast<float>(i * 37 % 256));
      ModelMaker m;
      const Sizes channels = last ? Sizes{3} : Sizes{3, 1, 1};
      m.input("x", last ? Sizes{1, n.side, n.side, 3} : Sizes{1, 3, n.side, n.side}).output("y");
      m.floats("mean", channels, n.means).floats("deviation", channels, n.deviations);
      m.floats("w", {5, 3, 3, 3}, n.weights);
      m.node("Sub", {"x", "mean"}, {"less"});
      m.node("Div", {"less", "deviation"}, {"normal"});
      set(m.node("Transpose", {"normal"}, {"first"}), "perm", Sizes{0, 3, 1, 2});
      auto& conv = m.node("Conv", {last ? "first" : in_model ? "normal" : "x", "w"}, {"y"});
      set(conv, "pads", Sizes{1, 1, 1, 1});
      set(conv, "strides", Sizes{stride, stride});
      set(conv, "dilations", Sizes{dilation, dilation});
      ImportOptions options{.channels_last = true};
      if (!in_model) options.pixels = {{.mean = n.means, .deviation = n.deviations}};
      const ImportedModel model = m.import(options);
      Request request = model.network.compile(Device::open("model:nv_full")).create_request();
      EXPECT_EQ(request.network().layers(), 1U);
      // Pictures that options describe are bytes.
      EXPECT_EQ(request.network().desc("x").pixel, dilation != 1 ? 0U : in_model ? 8U : 4U);
      // The picture as three planes, whatever the model has.
      request.write("x", Layout::kNchw, n.picture);
      request.run();
      const int side = n.out_side();
      std::vector<float> out(static_cast<std::size_t>(n.kernels * side * side));
      request.read("y", Layout::kNchw, std::span<float>(out));
      for (int i = 0; i < static_cast<int>(out.size()); ++i) {
        const auto [sum, magnitude] = n.expected(i / side / side, i / side % side, i % side);
        // Weights, addends and the result are rounded to 11 bits.
        EXPECT_NEAR(out[static_cast<std::size_t>(i)], sum, magnitude * 0x1p-10)
            << from << ' ' << stride << dilation << ' ' << i;
      }
    }
  }
}

// `Picture` is a model of one convolution of a picture, behind nodes that `before` adds.
struct Picture {
  std::int64_t channels = 3, side = 12, kernel = 3, pad = 1;
  InputPixels pixels = {};
  std::vector<float> weights = {};

  ImportedModel model(bool bytes) const {
    ModelMaker m;
    m.input("x", {1, channels, side, side}).output("y");
    m.floats("w", {4, channels, kernel, kernel}, weights);
    set(m.node("Conv", {"x", "w"}, {"y"}), "pads", Sizes{pad, pad, pad, pad});
    ImportOptions options{.pixels = {pixels}};
    options.bytes = bytes;
    return m.import(options);
  }
  std::vector<float> results(bool bytes) const {
    const ImportedModel imported = model(bytes);
    Request request = imported.network.compile(Device::open("model:nv_full")).create_request();
    std::vector<float> in(static_cast<std::size_t>(channels * side * side));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 37 % 256);
    request.write("x", Layout::kNchw, in);
    request.run();
    std::vector<float> out(request.network().desc("y").shape.elements());
    request.read("y", Layout::kNchw, std::span<float>(out));
    return out;
  }
};

// Where every number is one of fp16 on both ways, results are equal; a mean with a fraction is
// closer to it in bytes, since less is rounded.
TEST(Calibration, BytesGiveTheResultsOfFp16) {
  for (const std::int64_t channels : {1, 3}) {
    for (const std::int64_t pad : {0, 1}) {
      for (const InputPixels& pixels :
           {InputPixels{}, {.mean = {128}}, {.mean = {0.5F}, .deviation = {2}}}) {
        Picture picture{.channels = channels, .pad = pad, .pixels = pixels};
        for (std::int64_t i = 0; i < 4 * channels * 9; ++i)
          picture.weights.push_back(static_cast<float>(i % 3 - 1));
        const ImportedModel model = picture.model(true);
        EXPECT_EQ(model.inputs[0].precision, Precision::kInt8);
        EXPECT_EQ(*model.inputs[0].quantization, (Quantization{1, -128}));
        const auto bytes = picture.results(true), halves = picture.results(false);
        ASSERT_EQ(bytes.size(), halves.size());
        for (std::size_t i = 0; i < bytes.size(); ++i)
          EXPECT_NEAR(bytes[i], halves[i], std::fabs(halves[i]) * 0x1p-10F) << channels << pad;
      }
    }
  }
}

TEST(Calibration, BytesTakeNoTensorOfTheBorder) {
  Picture picture{.side = 32,
                  .pixels = {.mean = {123.675F, 116.28F, 103.53F},
                             .deviation = {58.4F, 57.1F, 57.4F},
                             .reversed = true},
                  .weights = random_floats(std::size_t{4} * 3 * 9, 5)};
  const auto bytes_of = [&](bool bytes) {
    return picture.model(bytes).network.compile(Device::open("model:nv_full")).memory().total;
  };
  // The addends of 4 x 32 x 32 results in fp16, in atoms of 16, and half of the input.
  EXPECT_GT(bytes_of(false), bytes_of(true) + 32 * 32 * 32 + 32 * 32 * 4 - 4096);
}

// What does not lead to one convolution alone stays in fp16.
TEST(Calibration, PicturesThatMoreLayersReadAreNoBytes) {
  ModelMaker m;
  m.input("x", {1, 3, 8, 8}).output("y").floats("w", {3, 3, 1, 1}, random_floats(9, 2));
  m.node("Conv", {"x", "w"}, {"a"});
  m.node("Relu", {"x"}, {"b"});
  m.node("Add", {"a", "b"}, {"y"});
  const ImportedModel model = m.import({.pixels = {{.mean = {128}}}});
  EXPECT_EQ(model.inputs[0].precision, Precision::kFp16);
}

// A transposition without an input, or of other axes, is refused as such.
TEST(Calibration, BrokenTranspositionsBeforeAConvolutionAreRefused) {
  for (const std::vector<std::string>& inputs : {std::vector<std::string>{}, {""}, {"x"}}) {
    ModelMaker m;
    m.input("x", {1, 4, 4, 3}).output("y").floats("w", {2, 3, 1, 1}, random_floats(6, 1));
    set(m.node("Transpose", inputs, {"t"}), "perm", Sizes{0, 3, 1});
    m.node("Conv", {"t", "w"}, {"y"});
    EXPECT_NE(m.refusal(), "");
  }
}

TEST(Calibration, QuotientsOfTensorsAreProducts) {
  ModelMaker m;
  m.input("x", {1, 2, 4, 4}).output("y").floats("one", {}, {1}).floats("two", {}, {2});
  m.node("Add", {"x", "two"}, {"a"});
  m.node("Abs", {"x"}, {"b"});
  m.node("Add", {"b", "one"}, {"c"});
  m.node("Div", {"a", "c"}, {"y"});
  const ImportedModel model = m.import({.samples = random_samples(4, 32), .cpu = CpuUse::kNone});
  const auto input = random_floats(32, 5);
  const auto out = run_on(model, "nv_full", input);
  for (std::size_t i = 0; i < 32; ++i)
    EXPECT_NEAR(out[i], (input[i] + 2) / (std::fabs(input[i]) + 1), 0.04F) << i;
}

// A border that the numbers of its tensor do not hold widens the scale, but for that of pixels.
TEST(Calibration, BordersAreHeld) {
  for (const bool pixels : {true, false}) {
    ModelMaker m;
    m.input("x", {1, 1, 2, 2}).output("y").floats("ground", {}, {-100});
    m.integers("pads", {8}, {0, 0, 0, 1, 0, 0, 0, 0});
    m.node("Pad", {"x", "pads", "ground"}, {"y"});
    ImportOptions options{.samples = {{{0, 50, 100, 200}}}};
    if (pixels) options.pixels = {{}};
    const ImportedModel model = m.import(options);
    EXPECT_EQ(*model.inputs[0].quantization == (Quantization{1, -128}), pixels);
    const auto out = run_on(model, "nv_full", {0, 50, 100, 200});
    const float expected[] = {-100, 0, 50, -100, 100, 200};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(out[i], expected[i], 0.8F) << pixels << i;
  }
}

TEST(Calibration, NoiseIsMeasured) {
  const ModelMaker m = small_classifier();
  const ImportedModel model = m.import({.samples = random_samples(4, 768), .measure = true});
  ASSERT_FALSE(model.scales.empty());
  EXPECT_EQ(model.scales.front().name, "x");
  EXPECT_EQ(model.scales.back().name, "y");
  for (const ImportedScale& s : model.scales) {
    EXPECT_GT(s.until, 20) << s.name;
    EXPECT_GE(s.alone, s.until - 0.5) << s.name;
    EXPECT_EQ(s.saturated, 0) << s.name;
    EXPECT_LE(s.low, 0) << s.name;
    EXPECT_GT(s.high, s.low) << s.name;
  }
  EXPECT_TRUE(m.import({.samples = random_samples(4, 768)}).scales.empty());
}

// Nodes that became part of others are listed, each once.
TEST(Calibration, EachNodeOfTheModelIsListed) {
  const ModelMaker m = small_classifier();
  for (const bool integers : {true, false}) {
    ImportOptions options;
    if (integers) options.samples = random_samples(2, 768);
    const ImportedModel model = m.import(options);
    std::vector<std::string> operators;
    for (const ImportedNode& node : model.nodes) operators.push_back(node.op);
    EXPECT_EQ(operators, (std::vector<std::string>{
                             "Conv", "BatchNormalization", "Relu", "Conv", "Clip",
                             "GlobalAveragePool", "Conv", "HardSigmoid", "Mul", "Add", "MaxPool",
                             "AveragePool", "Concat", "GlobalAveragePool", "Flatten", "Gemm"}));
    EXPECT_EQ(model.nodes[1].place, "fused");
    EXPECT_EQ(model.nodes[0].place, "device");
  }
}

TEST(Calibration, SamplesThatDoNotFitAreRefused) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y");
  m.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(m.refusal({.samples = {{{1, 2}}, {{1, 2, 3}}}}),
            "model: sample 2 has 3 elements for input 'x'; it takes 1x2");
  EXPECT_EQ(m.refusal({.samples = {{{1, 2}, {1, 2}}}}),
            "model: sample 1 is for 2 inputs; the model has 1");
  EXPECT_EQ(m.refusal({.samples = {{{1, std::nanf("")}}}}),
            "model: sample 1 has infinity or no number (NaN) for input 'x'");
  EXPECT_EQ(
      m.refusal({.precision = Precision::kInt8}),
      "model: int8 needs scales, and the model has none (QuantizeLinear); expected samples of "
      "its inputs");
  EXPECT_EQ(m.refusal({.precision = Precision::kFp16, .samples = {{{1, 2}}}}),
            "model: samples are for int8 and int16; fp16 needs none");
  const ImportedModel zeros = m.import({.samples = {{{0, 0}}}});
  ASSERT_EQ(zeros.notices.size(), 1U);
  EXPECT_EQ(zeros.notices[0], "input 'x': it is 0 in all samples, which gives no scale");
}

TEST(Calibration, NumbersThatAreNoneNameTheirNode) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y");
  m.node("Log", {"x"}, {"y"}).set_name("l");
  EXPECT_EQ(m.refusal({.samples = {{{1, 0}}}}),
            "model: node 'l' (Log) computes infinity or no number (NaN) of a sample");
}

TEST(Calibration, PixelsThatDoNotFitAreRefused) {
  ModelMaker m;
  m.input("x", {1, 3, 2, 2}).output("y");
  m.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(m.refusal({.pixels = {{.mean = {1, 2}}}}),
            "model: input 'x' has 3 channels, and mean is given for 2");
  EXPECT_EQ(m.refusal({.pixels = {{.deviation = {0}}}}),
            "model: input 'x': deviation 0 is no number above 0");
  EXPECT_EQ(m.refusal({.pixels = {{.name = "z"}}}),
            "model: no input is called 'z', which is to be a picture");
}

TEST(ImportProgress, CountsSamplesTheirNoiseAndNodes) {
  const ModelMaker m = small_classifier();
  ImportOptions options;
  options.samples = random_samples(5, 3 * 16 * 16);
  options.measure = true;
  std::map<std::string, std::vector<std::uint32_t>> done, steps;
  options.progress = [&](const BuildProgress& at) {
    const std::string what(at.step.substr(0, at.step.find_last_of(' ')));
    done[what].push_back(at.done);
    steps[what].push_back(at.steps);
  };
  const ImportedModel model = m.import(options);
  ASSERT_EQ(done.size(), 3U);
  for (const auto& [what, list] : done) {
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end())) << what;
    for (const std::uint32_t all : steps.at(what)) EXPECT_LT(list.back(), all) << what;
  }
  EXPECT_EQ(steps.at("sample")[0], 5U);
  EXPECT_EQ(done.at("noise of sample"), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_GE(steps.at("node")[0], model.nodes.size() / 2);
}

// What is thrown ends the import, whatever it is at.
TEST(ImportProgress, MayEndTheImport) {
  const ModelMaker m = small_classifier();
  for (const std::string what : {"sample", "noise", "node"}) {
    ImportOptions options;
    options.samples = random_samples(5, 3 * 16 * 16);
    options.measure = true;
    options.progress = [&](const BuildProgress& at) {
      if (at.step.starts_with(what)) throw std::out_of_range("enough");
    };
    EXPECT_THROW((void)m.import(options), std::out_of_range) << what;
  }
}

}  // namespace
}  // namespace nvdla::import_test
