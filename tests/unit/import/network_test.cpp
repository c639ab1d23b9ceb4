// SPDX-License-Identifier: MIT
//
// Networks of models: what is fused, fixed, refused, and exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "model_maker.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {
namespace {

TEST(Import, AffineOperatorsGoIntoTheConvolution) {
  ModelMaker m;
  m.input("x", {1, 1, 2, 2}).output("y");
  m.floats("w", {2, 1, 1, 1}, {1, 2})
      .floats("s", {2, 1, 1}, {2, 4})
      .floats("a", {2, 1, 1}, {1, -1});
  m.node("Conv", {"x", "w"}, {"c"});
  m.node("Mul", {"c", "s"}, {"d"});
  m.node("Add", {"d", "a"}, {"e"});
  m.node("Relu", {"e"}, {"y"});
  const ImportedModel model = m.import();
  EXPECT_EQ(model.network.layers(), 1U);
  EXPECT_EQ(m.run({1, 2, 3, -4}), (std::vector<float>{3, 5, 7, 0, 7, 15, 23, 0}));
}

TEST(Import, ResidualSumsGoIntoTheConvolution) {
  ModelMaker m;
  m.input("x", {1, 1, 1, 2}).output("y").floats("w", {1, 1, 1, 1}, {3});
  m.node("Neg", {"x"}, {"n"});
  m.node("Conv", {"n", "w"}, {"c"});
  m.node("Add", {"x", "c"}, {"s"});
  m.node("Relu", {"s"}, {"y"});
  EXPECT_EQ(m.import().network.layers(), 2U);
  EXPECT_EQ(m.run({1, -2}), (std::vector<float>{0, 4}));
}

TEST(Import, NodesThatMeetAgainAreOneTable) {
  ModelMaker m;
  m.input("x", {1, 4}).output("y");
  m.node("Sigmoid", {"x"}, {"s"});
  m.node("Mul", {"x", "s"}, {"y"});
  EXPECT_EQ(m.import().network.layers(), 1U);
  const std::vector<float> in = {-2, -0.5F, 1, 4};
  const auto out = m.run(in);
  for (std::size_t i = 0; i < in.size(); ++i)
    EXPECT_NEAR(out[i], in[i] / (1 + std::exp(-in[i])), 0.02) << in[i];
}

// No table is close enough to the product, which is six times as steep as what becomes of it.
TEST(Import, TablesHaveTheStepsBehindThem) {
  ModelMaker m;
  m.input("x", {1, 1, 2, 2}).output("y").floats("w", {1, 1, 1, 1}, {1});
  m.floats("half", {}, {0.53F})
      .floats("three", {}, {3.01F})
      .floats("none", {}, {0})
      .floats("six", {}, {6});
  m.node("Conv", {"x", "w"}, {"v"});
  m.node("Mul", {"v", "half"}, {"c"});
  m.node("Add", {"c", "three"}, {"a"});
  m.node("Clip", {"a", "none", "six"}, {"k"});
  m.node("Mul", {"c", "k"}, {"p"});
  m.node("Div", {"p", "six"}, {"y"});
  EXPECT_EQ(m.import().network.layers(), 1U);
  const std::vector<float> in = {-4, -0.5F, 1, 8};
  const auto out = m.run(in);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const float c = in[i] * 0.53F;
    EXPECT_NEAR(out[i], c * std::clamp(c + 3.01F, 0.0F, 6.0F) / 6, 0.02) << in[i];
  }
}

// Channels that a Reshape, a Transpose and a Reshape exchange are chosen by one layer.
TEST(Import, ShufflesOfChannelsAreOneLayer) {
  ModelMaker m;
  m.input("x", {1, 6, 2, 2}).output("y");
  m.integers("apart", {5}, {1, 2, 3, 2, 2}).integers("again", {4}, {1, -1, 2, 2});
  m.node("Reshape", {"x", "apart"}, {"a"});
  set(m.node("Transpose", {"a"}, {"b"}), "perm", Sizes{0, 2, 1, 3, 4});
  m.node("Reshape", {"b", "again"}, {"y"});
  std::vector<float> in, expected;
  for (int i = 0; i < 24; ++i) in.push_back(static_cast<float>(i));
  for (const int channel : {0, 3, 1, 4, 2, 5})
    for (int i = 0; i < 4; ++i) expected.push_back(static_cast<float>(channel * 4 + i));
  EXPECT_EQ(m.import().network.layers(), 1U);
  EXPECT_EQ(m.run(in), expected);
}

// Interpolation by a whole factor, of tensors for which a matrix would be too large.
TEST(Import, InterpolationByWholeFactors) {
  constexpr int kSide = 24;
  std::vector<float> in;
  for (int i = 0; i < 4 * kSide * kSide; ++i) in.push_back(static_cast<float>((i * 37) % 101));
  for (const char* places : {"half_pixel", "pytorch_half_pixel", "asymmetric"})
    for (const int factor : {2, 3, 4}) {
      ModelMaker m(13);
      m.input("x", {1, 4, kSide, kSide}).output("y");
      const auto scale = static_cast<float>(factor);
      m.floats("scales", {4}, {1, 1, scale, scale});
      auto& resize = m.node("Resize", {"x", "", "scales"}, {"y"});
      for (const auto& [name, text] :
           {std::pair{"mode", "linear"}, {"coordinate_transformation_mode", places}}) {
        auto& attribute = *resize.add_attribute();
        attribute.set_name(name);
        attribute.set_type(::onnx::AttributeProto::STRING);
        attribute.set_s(text);
      }
      const auto out = m.run(in, {.cpu = CpuUse::kNone});
      const auto place = [&](int at) {
        const double x = std::string(places) == "asymmetric" ? static_cast<double>(at) / factor
                                                             : (at + 0.5) / factor - 0.5;
        return std::clamp(x, 0.0, kSide - 1.0);
      };
      const int side = kSide * factor;
      ASSERT_EQ(out.size(), static_cast<std::size_t>(4 * side * side));
      for (int c = 0; c < 4; ++c)
        for (int y = 0; y < side; ++y)
          for (int x = 0; x < side; ++x) {
            const int y0 = static_cast<int>(place(y)), x0 = static_cast<int>(place(x));
            const double v = place(y) - y0, u = place(x) - x0;
            const auto at = [&](int line, int column) {
              return static_cast<double>(in[static_cast<std::size_t>(
                  (c * kSide + std::min(line, kSide - 1)) * kSide + std::min(column, kSide - 1))]);
            };
            const double expected = (1 - v) * ((1 - u) * at(y0, x0) + u * at(y0, x0 + 1)) +
                                    v * ((1 - u) * at(y0 + 1, x0) + u * at(y0 + 1, x0 + 1));
            ASSERT_NEAR(out[static_cast<std::size_t>((c * side + y) * side + x)], expected, 0.08)
                << places << ' ' << factor << ' ' << y << ' ' << x;
          }
    }
}

// Steps of a layer normalisation are one operator of the CPU, along channels and along columns.
// Probabilities that fp16 does not have, of numbers far below the greatest.
TEST(Import, LogarithmsOfSmallProbabilities) {
  for (const Sizes& sizes : {Sizes{1, 4}, Sizes{1, 4, 1, 1}}) {
    ModelMaker m;
    m.input("x", sizes).output("y");
    set(m.node("LogSoftmax", {"x"}, {"y"}), "axis", std::int64_t{1});
    const auto y = m.run({30, 29, -20, 0}, {.cpu = CpuUse::kAll});
    const float expected[] = {-0.31326F, -1.31326F, -50.31326F, -30.31326F};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 0.03) << i;
  }
}

TEST(Import, StepsOfALayerNormalizationAreOne) {
  constexpr int kSide = 4, kChannels = 3;
  for (const bool channels : {true, false}) {
    ModelMaker m;
    const std::int64_t size = channels ? kChannels : kSide;
    m.input("x", {1, kChannels, kSide, kSide}).output("y").floats("two", {}, {2});
    m.floats("epsilon", {}, {1e-5F});
    const Sizes of = channels ? Sizes{size, 1, 1} : Sizes{size};
    std::vector<float> gamma, beta;
    for (int i = 0; i < size; ++i) {
      gamma.push_back(1 + static_cast<float>(i) / 4);
      beta.push_back(static_cast<float>(i) - 1);
    }
    m.floats("gamma", of, gamma).floats("beta", of, beta);
    const Sizes axes = {channels ? 1 : -1};
    set(m.node("ReduceMean", {"x"}, {"mean"}), "axes", axes);
    m.node("Sub", {"x", "mean"}, {"centred"});
    m.node("Pow", {"centred", "two"}, {"squares"});
    set(m.node("ReduceMean", {"squares"}, {"variance"}), "axes", axes);
    m.node("Add", {"variance", "epsilon"}, {"sum"});
    m.node("Sqrt", {"sum"}, {"root"});
    m.node("Div", {"centred", "root"}, {"quotient"});
    m.node("Mul", {"quotient", "gamma"}, {"scaled"});
    m.node("Add", {"scaled", "beta"}, {"y"});
    std::vector<float> in;
    for (int i = 0; i < kChannels * kSide * kSide; ++i)
      in.push_back(static_cast<float>((i * 29) % 17));
    const auto out = m.run(in, {.cpu = CpuUse::kAll});
    const std::size_t step = channels ? kSide * kSide : 1;
    for (std::size_t at = 0; at < in.size(); ++at) {
      const std::size_t index = channels ? at / step : at % kSide, first = at - index * step;
      double mean = 0, variance = 0;
      for (std::int64_t i = 0; i < size; ++i)
        mean += static_cast<double>(in[first + static_cast<std::size_t>(i) * step]) /
                static_cast<double>(size);
      for (std::int64_t i = 0; i < size; ++i) {
        const double d = static_cast<double>(in[first + static_cast<std::size_t>(i) * step]) - mean;
        variance += d * d / static_cast<double>(size);
      }
      const double expected = (static_cast<double>(in[at]) - mean) / std::sqrt(variance + 1e-5) *
                                  static_cast<double>(gamma[index]) +
                              static_cast<double>(beta[index]);
      EXPECT_NEAR(out[at], expected, 0.01) << channels << ' ' << at;
    }
    const ImportedModel model = m.import({.cpu = CpuUse::kAll});
    const auto on_cpu = std::count_if(model.nodes.begin(), model.nodes.end(),
                                      [](const ImportedNode& n) { return n.place == "CPU"; });
    EXPECT_EQ(on_cpu, 1);
  }
}

// A Transpose behind an input with channels last needs no layer, also behind other operators.
TEST(Import, InputsMayHaveTheirChannelsLast) {
  ModelMaker m;
  m.input("x", {1, 4, 4, 2}).output("y").floats("w", {1, 2, 1, 1}, {1, 10});
  m.node("Relu", {"x"}, {"r"});
  set(m.node("Transpose", {"r"}, {"t"}), "perm", Sizes{0, 3, 1, 2});
  m.node("Conv", {"t", "w"}, {"y"});
  const ImportedModel model = m.import({.cpu = CpuUse::kNone, .channels_last = true});
  EXPECT_EQ(model.inputs[0].layout, Layout::kNhwc);
  const Device device = Device::open("model:nv_full");
  Request request = model.network.compile(device).create_request();
  std::vector<float> in, expected, out(16);
  for (int i = 0; i < 16; ++i) {
    in.push_back(static_cast<float>(i));
    in.push_back(1);
    expected.push_back(static_cast<float>(i + 10));
  }
  request.write("x", Layout::kNhwc, in);
  request.run();
  request.read("y", Layout::kNchw, std::span<float>(out));
  EXPECT_EQ(out, expected);
}

TEST(Import, AnOpenBatchIsOne) {
  ModelMaker m;
  m.input("x", {-1, 2}).output("y");
  m.node("Relu", {"x"}, {"y"});
  const ImportedModel model = m.import();
  EXPECT_EQ(model.inputs[0].sizes, (Sizes{1, 2}));
  ASSERT_EQ(model.notices.size(), 1U);
  EXPECT_EQ(model.notices[0], "input 'x': the model leaves the batch open; it is 1");
  EXPECT_EQ(m.import({.shapes = {{"x", {3, 2}}}}).inputs[0].sizes, (Sizes{3, 2}));
}

TEST(Import, OtherOpenSizesHaveToBeGiven) {
  ModelMaker m;
  m.input("x", {1, 2, -1}).output("y");
  m.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(m.refusal(),
            "model: input 'x': the model leaves size 2 ('open') open; expected "
            "--shape x=1x3x224x224 or the like");
  EXPECT_EQ(m.refusal({.shapes = {{"z", {1}}}}), "model: no input is called 'z'; there are: 'x'");
  EXPECT_EQ(m.refusal({.shapes = {{"x", {1, 3, 4}}}}),
            "model: input 'x': size 1 is 3, and the model has 2 there");
  EXPECT_EQ(m.refusal({.shapes = {{"x", {1, 2, 5}}}}), "");
}

TEST(Import, AllThatIsNotPossibleIsListedAtOnce) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y").output("z");
  m.node("Det", {"x"}, {"y"}).set_name("a");
  m.node("NonZero", {"x"}, {"z"}).set_name("b");
  EXPECT_EQ(m.refusal(),
            "model: 2 nodes are not possible on nv_full:\n"
            "  node 'a' (Det): the operator is not supported\n"
            "  node 'b' (NonZero): the operator is not supported");
}

TEST(Import, TheCpuComputesWhatItMay) {
  ModelMaker m;
  m.input("x", {1, 4}).output("y");
  m.node("Softmax", {"x"}, {"s"});
  m.node("Relu", {"s"}, {"y"});
  EXPECT_NE(m.refusal().find("(Softmax): the device has nothing for a softmax; let the CPU compute "
                             "it: --cpu all"),
            std::string::npos)
      << m.refusal();
  EXPECT_EQ(m.refusal({.cpu = CpuUse::kAll}), "");
  EXPECT_EQ(m.refusal({.outputs = {"s"}}), "");  // now it is the tail
  EXPECT_NE(m.refusal({.outputs = {"s"}, .cpu = CpuUse::kNone}), "");
}

TEST(Import, NanInWeightsIsRefused) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y").floats("w", {2}, {1, std::nanf("")});
  m.node("Mul", {"x", "w"}, {"y"});
  EXPECT_NE(m.refusal().find("a constant of it is no number (NaN)"), std::string::npos)
      << m.refusal();
}

TEST(Import, NamesMayHaveAnything) {
  ModelMaker m;
  m.input("x\n\x1b[31m", {1, 2}).output("\xff");
  m.node("Relu", {"x\n\x1b[31m"}, {"\xff"});
  const ImportedModel model = m.import();
  EXPECT_EQ(model.inputs[0].name, "x\\x0a\\x1b[31m");
}

// A convolution between integers: each result is the real number rounded, but for ties.
TEST(Import, QuantisedConvolutionsAreExact) {
  ModelMaker m;
  m.input("x", {1, 2, 3, 3}, ::onnx::TensorProto::UINT8).output("y");
  m.floats("sx", {}, {0.02F}).integers("zx", {}, {120}, ::onnx::TensorProto::UINT8);
  m.floats("sw", {3}, {0.01F, 0.02F, 0.005F});
  m.integers("zw", {3}, {0, 0, 0}, ::onnx::TensorProto::INT8);
  std::vector<std::int64_t> w;
  for (int i = 0; i < 3 * 2 * 2 * 2; ++i) w.push_back((i * 37) % 255 - 127);
  m.integers("w", {3, 2, 2, 2}, w, ::onnx::TensorProto::INT8);
  m.integers("b", {3}, {100, -2000, 30}, ::onnx::TensorProto::INT32);
  m.floats("sy", {}, {0.05F}).integers("zy", {}, {10}, ::onnx::TensorProto::UINT8);
  m.node("QLinearConv", {"x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"}, {"y"});
  for (const char* configuration : {"nv_full", "nv_small", "nv_large"}) {
    const ImportedModel model = m.import({}, configuration);
    Request request =
        model.network.compile(Device::open(std::string("model:") + configuration)).create_request();
    std::vector<std::int8_t> in;
    for (int i = 0; i < 18; ++i) in.push_back(static_cast<std::int8_t>((i * 53) % 256 - 128));
    request.write("x", Layout::kNchw, std::span<const std::int8_t>(in));
    request.run();
    std::vector<std::int8_t> out(12);
    request.read("y", Layout::kNchw, std::span<std::int8_t>(out));
    const double scales[3] = {0.01F, 0.02F, 0.005F};
    const int bias[3] = {100, -2000, 30};
    for (int k = 0; k < 3; ++k)
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 2; ++x) {
          std::int64_t sum = bias[k];
          for (int c = 0; c < 2; ++c)
            for (int r = 0; r < 2; ++r)
              for (int s = 0; s < 2; ++s)
                sum += (in[static_cast<std::size_t>((c * 3 + y + r) * 3 + x + s)] + 128 - 120) *
                       w[static_cast<std::size_t>(((k * 2 + c) * 2 + r) * 2 + s)];
          const double real = static_cast<double>(sum) * static_cast<double>(0.02F) * scales[k] /
                              static_cast<double>(0.05F);
          const double right = std::clamp(std::nearbyint(real) + 10, 0.0, 255.0);
          EXPECT_EQ(out[static_cast<std::size_t>((k * 2 + y) * 2 + x)] + 128, right)
              << configuration << " " << real;
        }
  }
}

std::vector<float> read_floats(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), floats.size() * sizeof(float), reinterpret_cast<char*>(floats.data()));
  return floats;
}

// quantized/make.py made the models, and ONNX Runtime their results.
// Averages have no dilation, whatever they are computed in.
TEST(Import, AveragesWithGapsAreRefused) {
  for (const bool quantized : {false, true}) {
    ModelMaker m(19);
    m.input("x", {1, 1, 5, 5}).output("y");
    m.floats("s", {}, {0.5F}).integers("z", {}, {0}, ::onnx::TensorProto::INT8);
    if (quantized) {
      m.node("QuantizeLinear", {"x", "s", "z"}, {"xq"});
      m.node("DequantizeLinear", {"xq", "s", "z"}, {"xd"});
    }
    auto& average = m.node("AveragePool", {quantized ? "xd" : "x"}, {quantized ? "a" : "y"});
    set(average, "kernel_shape", Sizes{2, 2});
    set(average, "dilations", Sizes{2, 2});
    if (quantized) {
      m.node("QuantizeLinear", {"a", "s", "z"}, {"aq"});
      m.node("DequantizeLinear", {"aq", "s", "z"}, {"y"});
    }
    EXPECT_NE(m.refusal().find("its window has gaps (dilations)"), std::string::npos)
        << m.refusal();
  }
}

TEST(Import, QuantisedNetworksGiveTheResultsOfOnnxRuntime) {
  const std::string folder = std::string(NVDLA_SOURCE_DIR) + "/tests/unit/import/quantized/";
  for (const char* type : {"int8", "uint8"}) {
    const Device device = Device::open("model:nv_full");
    const ImportedModel model = import_model(folder + type + ".onnx", device.info());
    Request request = model.network.compile(device).create_request();
    const auto input = read_floats(folder + "input.f32");
    request.write("x", Layout::kNchw, std::span<const float>(input));
    request.run();
    std::vector<float> output(10);
    request.read("y", Layout::kNchw, std::span<float>(output));
    EXPECT_EQ(output, read_floats(folder + type + ".f32")) << type;
  }
}

TEST(Import, OutputsHaveTheOrderOfTheModel) {
  ModelMaker m;
  m.input("x", {1, 2, 3}).output("y").floats("w", {3, 2}, {1, 0, 0, 1, 0, 0});
  m.node("MatMul", {"x", "w"}, {"y"});
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(m.run(in, {.cpu = CpuUse::kAll}), (std::vector<float>{1, 2, 4, 5}));
  EXPECT_EQ(m.import({.cpu = CpuUse::kAll}).outputs[0].layout, Layout::kNchw);
  ImportOptions last;
  last.channels_last = true;
  EXPECT_EQ(m.import(last).outputs[0].layout, Layout::kNhwc);
  EXPECT_EQ(m.run(in, last), (std::vector<float>{1, 2, 4, 5}));
}

TEST(Import, RealNumbersNeedFp16) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y");
  m.node("Relu", {"x"}, {"y"});
  try {
    (void)m.import({}, "nv_small");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotAvailable);
    EXPECT_NE(std::string(error.what()).find("nv_small has no fp16"), std::string::npos)
        << error.what();
  }
}

TEST(Import, CheckDescribesEveryNode) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y").output("z");
  m.node("Relu", {"x"}, {"y"});
  m.node("Det", {"x"}, {"z"});
  const ImportedModel model = m.import({.check = true});
  ASSERT_EQ(model.nodes.size(), 2U);
  EXPECT_EQ(model.network.layers(), 0U);
}

}  // namespace
}  // namespace nvdla::import_test
