// SPDX-License-Identifier: MIT
//
// Nodes that become others: branches, recurrences, windows beyond the device's, and constants
// beside tensors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "model_maker.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {
namespace {

std::vector<float> numbers(std::size_t count, int seed, float step = 1.0F / 16) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((static_cast<int>(i) * 37 + seed * 11) % 31 - 15) * step);
  return values;
}

// Adds the graph of a branch: out = in * factor, by a constant of the branch.
::onnx::GraphProto& add_branch(::onnx::NodeProto& node, const std::string& name, float factor,
                               const std::string& in, const std::string& out) {
  ::onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  ::onnx::GraphProto& graph = *attribute.mutable_g();
  ::onnx::TensorProto& constant = *graph.add_initializer();
  constant.set_name("factor");
  constant.set_data_type(::onnx::TensorProto::FLOAT);
  constant.add_float_data(factor);
  ::onnx::NodeProto& product = *graph.add_node();
  product.set_op_type("Mul");
  product.add_input(in);
  product.add_input("factor");
  product.add_output(out);
  graph.add_output()->set_name(out);
  return graph;
}

// A model whose If takes a value of the graph around it; the condition is a constant input.
ModelMaker branches(const std::string& condition) {
  ModelMaker m;
  m.input("x", {1, 4}).output("y");
  m.integers("sizes", {1}, {4}).integers("four", {1}, {4});
  m.node("Shape", {"x"}, {"shape"});
  m.integers("last", {1}, {1});
  m.node("Gather", {"shape", "last"}, {"width"});
  m.node("Equal", {"width", "four"}, {"is_four"});
  m.node("Not", {"is_four"}, {"is_other"});
  m.node("Neg", {"x"}, {"n"});
  auto& branch = m.node("If", {condition}, {"b"});
  // Both branches call their results alike, and as a node behind them is called.
  add_branch(branch, "then_branch", 2, "n", "z");
  auto& other = add_branch(branch, "else_branch", 3, "n", "z");
  auto& inner = *other.add_node();
  inner.set_op_type("If");
  inner.add_input("is_four");
  inner.add_output("deep");
  add_branch(inner, "then_branch", 5, "z", "w");
  add_branch(inner, "else_branch", 7, "z", "w");
  other.mutable_output(0)->set_name("deep");
  m.node("Relu", {"b"}, {"z"});
  m.node("Identity", {"z"}, {"y"});
  return m;
}

TEST(ImportExpanded, TheBranchOfAConstantCondition) {
  EXPECT_EQ(branches("is_four").run({-1, 2, -3, 4}), (std::vector<float>{2, 0, 6, 0}));
  EXPECT_EQ(branches("is_other").run({-1, 2, -3, 4}), (std::vector<float>{15, 0, 45, 0}));
}

TEST(ImportExpanded, ABranchOfEachRunIsRefused) {
  ModelMaker m;
  m.input("x", {1, 4}).input("c", {}, ::onnx::TensorProto::BOOL).output("y");
  auto& branch = m.node("If", {"c"}, {"y"});
  add_branch(branch, "then_branch", 2, "x", "z");
  add_branch(branch, "else_branch", 3, "x", "z");
  EXPECT_NE(m.refusal().find("its condition follows from the elements of each run"),
            std::string::npos)
      << m.refusal();
}

TEST(ImportExpanded, ABranchThatTakesWhatIsNowhere) {
  ModelMaker m;
  m.input("x", {1, 4}).output("y").integers("c", {}, {1}, ::onnx::TensorProto::BOOL);
  auto& branch = m.node("If", {"c"}, {"y"});
  add_branch(branch, "then_branch", 2, "nowhere", "z");
  EXPECT_NE(m.refusal().find("nothing computes its input 'nowhere'"), std::string::npos)
      << m.refusal();
}

// The cases of ONNX have all forms of recurrences; this one is in int8, with a state of its own.
TEST(ImportExpanded, RecurrencesInInt8) {
  constexpr std::size_t kSteps = 5, kWidth = 8, kSize = 8;
  ModelMaker m;
  m.input("x", {kSteps, 1, kWidth}).output("y");
  m.floats("w", {1, 4 * kSize, kWidth}, numbers(4 * kSize * kWidth, 1, 1.0F / 32))
      .floats("r", {1, 4 * kSize, kSize}, numbers(4 * kSize * kSize, 2, 1.0F / 32))
      .floats("b", {1, 8 * kSize}, numbers(8 * kSize, 3));
  set(m.node("LSTM", {"x", "w", "r", "b"}, {"", "y"}), "hidden_size", std::int64_t{kSize});
  const auto input = numbers(kSteps * kWidth, 4);
  const auto expected = m.run(input);
  ASSERT_EQ(expected.size(), kSize);
  const auto found = m.run(input, {.samples = {{input}, {numbers(kSteps * kWidth, 5)}}});
  for (std::size_t i = 0; i < kSize; ++i) EXPECT_NEAR(found[i], expected[i], 0.03) << i;
}

// A file of a few kilobytes must not become any number of nodes.
TEST(ImportExpanded, ManyRecurrencesAreRefused) {
  ModelMaker m;
  m.input("x0", {1024, 1, 1}).output("x40");
  m.floats("w", {1, 4, 1}, {1, 1, 1, 1});
  m.integers("sizes", {3}, {1024, 1, 1});
  for (int i = 0; i < 40; ++i) {
    const std::string in = "x" + std::to_string(i), out = "x" + std::to_string(i + 1);
    set(m.node("LSTM", {in, "w", "w"}, {out + "y"}), "hidden_size", std::int64_t{1});
    m.node("Reshape", {out + "y", "sizes"}, {out});
  }
  EXPECT_NE(m.refusal().find("the nodes that the model becomes are too many"), std::string::npos);
}

// Adds a convolution along one axis, and returns what it computes.
std::vector<float> add_long(ModelMaker& m, const std::vector<float>& in, std::int64_t channels,
                            std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  const auto length = static_cast<std::int64_t>(in.size()) / channels;
  const auto w = numbers(static_cast<std::size_t>(2 * channels * kernel), 6, 1.0F / 64);
  m.input("x", {1, channels, length}).output("y").floats("w", {2, channels, kernel}, w);
  m.floats("b", {2}, {0.5F, -1});
  auto& conv = m.node("Conv", {"x", "w", "b"}, {"y"});
  set(conv, "strides", Sizes{stride});
  set(conv, "pads", Sizes{pad, pad});
  std::vector<float> out;
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t k = 0; k < 2; ++k)
    for (std::int64_t p = 0; p * stride + kernel <= length + 2 * pad; ++p) {
      float sum = k == 0 ? 0.5F : -1;
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t i = 0; i < kernel; ++i)
          if (const std::int64_t from = p * stride + i - pad; from >= 0 && from < length)
            sum += in[at(c * length + from)] * w[at((k * channels + c) * kernel + i)];
      out.push_back(sum);
    }
  return out;
}

TEST(ImportExpanded, LongWindows) {
  struct Case {
    std::int64_t channels, kernel, stride, pad;
  };
  for (const Case& c : {Case{1, 64, 16, 0}, {1, 50, 20, 10}, {2, 33, 4, 3}, {1, 24, 12, 0}}) {
    const auto in = numbers(static_cast<std::size_t>(200 * c.channels), 7);
    ModelMaker m;
    const auto expected = add_long(m, in, c.channels, c.kernel, c.stride, c.pad);
    const auto found = m.run(in, {.cpu = CpuUse::kAll});
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 0.01) << c.kernel << " " << i;
    const auto int8 = m.run(in, {.samples = {{in}}, .cpu = CpuUse::kAll});
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(int8[i], expected[i], 0.1) << c.kernel << " " << i;
  }
}

// Windows above 32 in lines or columns, which become sums of several.
TEST(ImportExpanded, WindowsLongerThanTheDevices) {
  struct Case {
    std::int64_t lines, columns, stride, dilation, pad, group;
  };
  for (const Case& c : {Case{39, 3, 1, 1, 19, 1}, {3, 70, 3, 1, 0, 2}, {35, 1, 1, 2, 5, 1}}) {
    constexpr std::int64_t kHeight = 80, kWidth = 90;
    const auto in = numbers(2 * kHeight * kWidth, 3);
    const auto w =
        numbers(static_cast<std::size_t>(4 / c.group * c.lines * c.columns), 5, 1.0F / 256);
    ModelMaker m;
    m.input("x", {1, 2, kHeight, kWidth}).output("y").floats("b", {2}, {0.5F, -1});
    m.floats("w", {2, 2 / c.group, c.lines, c.columns}, w);
    auto& node = m.node("Conv", {"x", "w", "b"}, {"y"});
    set(node, "strides", Sizes{1, c.stride});
    set(node, "dilations", Sizes{c.dilation, 1});
    set(node, "pads", Sizes{c.pad, 0, c.pad, 0});
    set(node, "group", c.group);
    const std::int64_t height = kHeight + 2 * c.pad - (c.lines - 1) * c.dilation;
    const std::int64_t width = (kWidth - c.columns) / c.stride + 1;
    const auto found = m.run(in, {.cpu = CpuUse::kAll});
    ASSERT_EQ(found.size(), static_cast<std::size_t>(2 * height * width));
    for (std::int64_t i = 0; i < 2 * height * width; ++i) {
      const std::int64_t k = i / (height * width), y = i / width % height, x = i % width;
      float sum = k == 0 ? 0.5F : -1;
      for (std::int64_t part = 0; part < 2 / c.group; ++part)
        for (std::int64_t r = 0; r < c.lines; ++r)
          for (std::int64_t s = 0; s < c.columns; ++s) {
            const std::int64_t channel = c.group == 2 ? k : part, line = y + r * c.dilation - c.pad;
            if (line < 0 || line >= kHeight) continue;
            sum += in[static_cast<std::size_t>((channel * kHeight + line) * kWidth + x * c.stride +
                                               s)] *
                   w[static_cast<std::size_t>(((k * 2 / c.group + part) * c.lines + r) * c.columns +
                                              s)];
          }
      ASSERT_NEAR(found[static_cast<std::size_t>(i)], sum, 0.02) << c.lines << " " << i;
    }
  }
}

// Elements in another order than parts of an axis could be put: a border that mirrors 200 of them.
TEST(ImportExpanded, BordersOfManyParts) {
  constexpr std::int64_t kSize = 300, kBorder = 200;
  ModelMaker m;
  m.input("x", {1, 2, kSize}).output("y").integers("pads", {6}, {0, 0, kBorder, 0, 0, kBorder});
  m.node("Relu", {"x"}, {"r"});
  auto& node = m.node("Pad", {"r", "pads"}, {"y"});
  ::onnx::AttributeProto& mode = *node.add_attribute();
  mode.set_name("mode");
  mode.set_type(::onnx::AttributeProto::STRING);
  mode.set_s("reflect");
  const auto in = numbers(2 * kSize, 4);
  const auto out = m.run(in, {.cpu = CpuUse::kAll});
  ASSERT_EQ(out.size(), static_cast<std::size_t>(2 * (kSize + 2 * kBorder)));
  for (std::int64_t c = 0; c < 2; ++c)
    for (std::int64_t i = 0; i < kSize + 2 * kBorder; ++i) {
      std::int64_t from = std::abs(i - kBorder);
      if (from >= kSize) from = 2 * (kSize - 1) - from;
      ASSERT_EQ(out[static_cast<std::size_t>(c * (kSize + 2 * kBorder) + i)],
                std::max(in[static_cast<std::size_t>(c * kSize + from)], 0.0F))
          << c << ' ' << i;
    }
}

// A quotient, or 0 where the divisor is that; and of two tensors the one that a third one chooses.
TEST(ImportExpanded, ConditionsThatAreComputed) {
  ModelMaker quotient;
  quotient.input("x", {1, 4}).output("y").floats("zero", {}, {0});
  quotient.node("Equal", {"x", "zero"}, {"c"});
  quotient.node("Reciprocal", {"x"}, {"r"});
  quotient.node("Where", {"c", "zero", "r"}, {"y"});
  EXPECT_EQ(quotient.run({2, 0, -4, 0}, {.cpu = CpuUse::kAll}),
            (std::vector<float>{0.5F, 0, -0.25F, 0}));
  ModelMaker both;
  both.input("x", {1, 2, 3}).output("y").floats("one", {}, {1}).floats("row", {3}, {5, 6, 7});
  both.node("Greater", {"x", "one"}, {"c"});
  both.node("Neg", {"x"}, {"n"});
  both.node("Add", {"x", "row"}, {"a"});
  both.node("Where", {"c", "n", "a"}, {"y"});
  EXPECT_EQ(both.run({1, 2, 3, -1, 0, 4}, {.cpu = CpuUse::kAll}),
            (std::vector<float>{6, -2, -3, 4, 6, -4}));
}

// All of many lines and columns, of which one axis of the device has not enough.
TEST(ImportExpanded, ReductionsOfManyPositions) {
  ModelMaker m;
  const auto in = numbers(std::size_t{172} * 309, 2);
  m.input("x", {1, 172, 309}).output("y");
  m.node("ReduceMin", {"x"}, {"a"});
  m.node("Relu", {"x"}, {"r"});
  m.node("Sub", {"r", "a"}, {"y"});
  const auto out = m.run(in, {.cpu = CpuUse::kAll});
  const float least = *std::min_element(in.begin(), in.end());
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], std::max(in[i], 0.0F) - least) << i;
}

// Patches of 16x16, as vision transformers begin with.
TEST(ImportExpanded, StridesBeyondTheDevice) {
  ModelMaker m;
  const auto in = numbers(std::size_t{48} * 32, 1), w = numbers(256, 2, 1.0F / 64);
  m.input("x", {1, 1, 48, 32}).output("y").floats("w", {1, 1, 16, 16}, w);
  set(m.node("Conv", {"x", "w"}, {"y"}), "strides", Sizes{16, 16});
  const auto out = m.run(in);
  ASSERT_EQ(out.size(), 6U);
  for (std::size_t p = 0; p < out.size(); ++p) {
    float sum = 0;
    for (std::size_t i = 0; i < 256; ++i)
      sum += w[i] * in[(p / 2 * 16 + i / 16) * 32 + p % 2 * 16 + i % 16];
    EXPECT_NEAR(out[p], sum, 0.01) << p;
  }
}

TEST(ImportExpanded, ConstantsBesideTensors) {
  for (const std::int64_t axis : {1, 2, 3}) {
    Sizes sizes = {1, 2, 3, 4};
    sizes[static_cast<std::size_t>(axis)] = 5;
    // The same at each position, as a padding of channels has it; and another one at each.
    for (const bool same : {true, false}) {
      ModelMaker m;
      std::vector<float> constant = numbers(static_cast<std::size_t>(120 / (axis + 1)), 3);
      if (same) std::fill(constant.begin(), constant.end(), 0.5F);
      m.input("x", {1, 2, 3, 4}).output("y").floats("c", sizes, constant);
      set(m.node("Concat", {"c", "x"}, {"y"}), "axis", axis);
      const auto in = numbers(24, 1);
      const std::size_t outer = axis == 1 ? 1 : axis == 2 ? 2 : 6;
      std::vector<float> expected;
      for (std::size_t o = 0; o < outer; ++o)
        for (const auto& part : {std::cref(constant), std::cref(in)}) {
          const auto size = static_cast<std::ptrdiff_t>(part.get().size() / outer);
          const auto from = part.get().begin() + static_cast<std::ptrdiff_t>(o) * size;
          expected.insert(expected.end(), from, from + size);
        }
      EXPECT_EQ(m.run(in), expected) << axis << same;
      if (!same) continue;
      const auto int8 = m.run(in, {.samples = {{in}}});
      for (std::size_t i = 0; i < int8.size(); ++i)
        EXPECT_NEAR(int8[i], expected[i], 0.005) << axis << " " << i;
    }
  }
}

TEST(ImportExpanded, BoundsThatAreComputed) {
  ModelMaker m;
  m.input("x", {1, 1, 2, 2}).output("y").floats("two", {}, {2});
  set(m.node("ReduceMax", {"x"}, {"most"}), "keepdims", std::int64_t{0});
  m.node("Sub", {"most", "two"}, {"least"});
  m.node("Clip", {"x", "least"}, {"y"});
  EXPECT_EQ(m.run({-4, 1, 3, 2.5F}), (std::vector<float>{1, 1, 3, 2.5F}));
}

// ln(1 + 2^20 x): the factor alone takes numbers beyond those of fp16.
TEST(ImportExpanded, FactorsBeyondFp16BeforeATable) {
  ModelMaker m;
  m.input("x", {1, 1, 1, 4}).output("y").floats("f", {}, {0x1p20F}).floats("one", {}, {1});
  m.node("Mul", {"x", "f"}, {"p"});
  m.node("Add", {"p", "one"}, {"s"});
  m.node("Log", {"s"}, {"y"});
  const std::vector<float> in = {0, 0.001F, 0.5F, 30};
  const auto out = m.run(in, {.cpu = CpuUse::kAll});
  for (std::size_t i = 0; i < in.size(); ++i)
    EXPECT_NEAR(out[i], std::log1p(in[i] * 0x1p20F), 0.02) << in[i];
}

void set_text(::onnx::NodeProto& node, const char* name, const char* text) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::STRING);
  attribute.set_s(text);
}

// Imports an interpolation between the corners or the middles of elements, and holds it to its
// definition, in fp16 and in int8.
void check_interpolation(std::int64_t channels, Sizes in, Sizes out, bool corners) {
  ModelMaker m;
  m.input("x", {1, channels, in[0], in[1]}).output("y");
  m.integers("sizes", {4}, {1, channels, out[0], out[1]});
  auto& resize = m.node("Resize", {"x", "", "", "sizes"}, {"y"});
  set_text(resize, "mode", "linear");
  set_text(resize, "coordinate_transformation_mode", corners ? "align_corners" : "half_pixel");
  const auto input = numbers(static_cast<std::size_t>(channels * in[0] * in[1]), 1);
  const auto at = [&](std::int64_t c, std::int64_t y, std::int64_t x) {
    return static_cast<double>(input[static_cast<std::size_t>((c * in[0] + y) * in[1] + x)]);
  };
  const auto place = [&](std::size_t axis, std::int64_t i) {
    const auto from = static_cast<double>(in[axis]), to = static_cast<double>(out[axis]);
    const double x = corners ? static_cast<double>(i) * (from - 1) / (to - 1)
                             : (static_cast<double>(i) + 0.5) * from / to - 0.5;
    return std::clamp(x, 0.0, from - 1);
  };
  const auto fp16 = m.run(input, {.cpu = CpuUse::kAll});
  const auto int8 = m.run(input, {.samples = {{input}}, .cpu = CpuUse::kAll});
  ASSERT_EQ(fp16.size(), static_cast<std::size_t>(channels * out[0] * out[1]));
  std::size_t i = 0;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t y = 0; y < out[0]; ++y)
      for (std::int64_t x = 0; x < out[1]; ++x, ++i) {
        const double v = place(0, y), u = place(1, x);
        const auto y0 = static_cast<std::int64_t>(v), x0 = static_cast<std::int64_t>(u);
        const std::int64_t y1 = std::min(y0 + 1, in[0] - 1), x1 = std::min(x0 + 1, in[1] - 1);
        const double fy = v - static_cast<double>(y0), fx = u - static_cast<double>(x0);
        const double expected = (1 - fy) * ((1 - fx) * at(c, y0, x0) + fx * at(c, y0, x1)) +
                                fy * ((1 - fx) * at(c, y1, x0) + fx * at(c, y1, x1));
        ASSERT_NEAR(fp16[i], expected, 0.003) << c << " " << y << " " << x;
        ASSERT_NEAR(int8[i], expected, 0.03) << c << " " << y << " " << x;
      }
}

TEST(ImportExpanded, InterpolationByLargeFactors) {
  check_interpolation(2, {5, 5}, {320, 320}, false);
  check_interpolation(1, {4, 6}, {132, 192}, false);
}

TEST(ImportExpanded, ManyLinesOfTheEdge) {
  ModelMaker m;
  m.input("x", {1, 2, 3, 4}).output("y").integers("pads", {8}, {0, 0, 40, 0, 0, 0, 70, 3});
  set_text(m.node("Pad", {"x", "pads"}, {"y"}), "mode", "edge");
  const auto in = numbers(24, 1), out = m.run(in);
  ASSERT_EQ(out.size(), 2U * 113 * 7);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int y = std::clamp(static_cast<int>(i / 7 % 113) - 40, 0, 2);
    const int x = std::min(static_cast<int>(i % 7), 3);
    ASSERT_EQ(out[i], in[i / (113 * 7) * 12 + static_cast<std::size_t>(y * 4 + x)]) << i;
  }
}

TEST(ImportExpanded, RepetitionsBeyondOneLayer) {
  ModelMaker m;
  m.input("x", {1, 1, 2, 3}).output("y").integers("sizes", {4}, {1, 1, 128, 3});
  auto& resize = m.node("Resize", {"x", "", "", "sizes"}, {"y"});
  set_text(resize, "mode", "nearest");
  set_text(resize, "coordinate_transformation_mode", "asymmetric");
  set_text(resize, "nearest_mode", "floor");
  const auto in = numbers(6, 1), out = m.run(in);
  ASSERT_EQ(out.size(), 384U);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], in[i / 192 * 3 + i % 3]) << i;
}

TEST(ImportExpanded, InterpolationBetweenCorners) {
  check_interpolation(4, {24, 24}, {40, 33}, true);
  check_interpolation(4, {24, 40}, {48, 60}, true);
  check_interpolation(3, {48, 48}, {31, 65}, false);
}

// The tensor between both has an axis that is longer than the device's.
TEST(ImportExpanded, ReshapesOfReshapes) {
  ModelMaker m;
  m.input("x", {1, 16000}).output("y");
  m.integers("flat", {3}, {1, 1, 16000}).integers("apart", {4}, {1, 1, 100, 160});
  m.node("Reshape", {"x", "flat"}, {"a"});
  m.node("Reshape", {"a", "apart"}, {"b"});
  m.node("Neg", {"b"}, {"y"});
  const auto in = numbers(16000, 1);
  auto expected = in;
  for (float& v : expected) v = -v;
  EXPECT_EQ(m.run(in), expected);
}

// Causal networks over samples of sound have taps and borders further out than the device.
TEST(ImportExpanded, TapsAndBordersBeyondTheDevice) {
  constexpr std::int64_t kSamples = 150;
  struct Case {
    std::int64_t dilation, before, after;
  };
  for (const Case& c : {Case{64, 128, 0}, Case{50, 0, 0}, Case{37, 40, 37}, Case{32, 64, 64}}) {
    ModelMaker m;
    m.input("x", {1, 2, kSamples}).output("y");
    const auto w = numbers(12, 1), in = numbers(2 * kSamples, 2);
    m.floats("w", {2, 2, 3}, w).floats("b", {2}, {1, -1});
    auto& conv = m.node("Conv", {"x", "w", "b"}, {"y"});
    set(conv, "dilations", Sizes{c.dilation});
    set(conv, "pads", Sizes{c.before, c.after});
    const auto out = m.run(in, {.cpu = CpuUse::kNone});
    const std::int64_t size = kSamples + c.before + c.after - 2 * c.dilation;
    ASSERT_EQ(out.size(), static_cast<std::size_t>(2 * size));
    for (std::int64_t k = 0; k < 2; ++k)
      for (std::int64_t x = 0; x < size; ++x) {
        double sum = k == 0 ? 1 : -1;
        for (std::int64_t ch = 0; ch < 2; ++ch)
          for (std::int64_t t = 0; t < 3; ++t) {
            const std::int64_t at = x + t * c.dilation - c.before;
            if (at < 0 || at >= kSamples) continue;
            sum += static_cast<double>(w[static_cast<std::size_t>((k * 2 + ch) * 3 + t)]) *
                   static_cast<double>(in[static_cast<std::size_t>(ch * kSamples + at)]);
          }
        EXPECT_NEAR(out[static_cast<std::size_t>(k * size + x)], sum, 0.01) << c.dilation;
      }
  }
}

// Atrous pyramids have taps further apart than the device along both axes, and some that see the
// border alone.
TEST(ImportExpanded, TapsBeyondTheDeviceAlongBothAxes) {
  struct Case {
    std::int64_t height, width, dilation, pad, group;
  };
  for (const Case& c : {Case{65, 70, 36, 36, 1}, Case{130, 66, 64, 64, 1}, Case{41, 80, 36, 36, 2},
                        Case{33, 33, 36, 36, 1}, Case{33, 65, 36, 36, 1}, Case{75, 76, 34, 0, 1},
                        Case{70, 69, 33, 33, 1}}) {
    ModelMaker m;
    m.input("x", {1, 2, c.height, c.width}).output("y");
    const auto w = numbers(static_cast<std::size_t>(36 / c.group), 1),
               in = numbers(static_cast<std::size_t>(2 * c.height * c.width), 2);
    m.floats("w", {2, 2 / c.group, 3, 3}, w).floats("b", {2}, {1, -1});
    auto& conv = m.node("Conv", {"x", "w", "b"}, {"y"});
    set(conv, "dilations", Sizes{c.dilation, c.dilation});
    set(conv, "pads", Sizes{c.pad, c.pad, c.pad, c.pad});
    set(conv, "group", c.group);
    const auto out = m.run(in, {.cpu = CpuUse::kNone});
    const std::int64_t height = c.height + 2 * (c.pad - c.dilation),
                       width = c.width + 2 * (c.pad - c.dilation), each = 2 / c.group;
    ASSERT_EQ(out.size(), static_cast<std::size_t>(2 * height * width));
    for (std::int64_t i = 0; i < 2 * height * width; ++i) {
      const std::int64_t k = i / (height * width), y = i / width % height, x = i % width;
      double sum = k == 0 ? 1 : -1;
      for (std::int64_t t = 0; t < each * 9; ++t) {
        const std::int64_t ch = c.group == 2 ? k : t / 9, row = y + t / 3 % 3 * c.dilation - c.pad,
                           column = x + t % 3 * c.dilation - c.pad;
        if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
        sum += static_cast<double>(w[static_cast<std::size_t>(k * each * 9 + t)]) *
               static_cast<double>(
                   in[static_cast<std::size_t>((ch * c.height + row) * c.width + column)]);
      }
      ASSERT_NEAR(out[static_cast<std::size_t>(i)], sum, 0.02)
          << c.height << ' ' << c.dilation << ' ' << i;
    }
  }
}

// The joints of a skeleton are mixed by a matrix for each kind of neighbour.
TEST(ImportExpanded, SumsByTheNamesOfAxes) {
  constexpr std::int64_t kKinds = 2, kChannels = 3, kTimes = 4, kJoints = 5;
  ModelMaker m;
  m.input("x", {1, kKinds, kChannels, kTimes, kJoints}).output("y");
  const auto w = numbers(kKinds * kJoints * kJoints, 1),
             in = numbers(kKinds * kChannels * kTimes * kJoints, 2);
  m.floats("w", {kKinds, kJoints, kJoints}, w);
  auto& node = m.node("Einsum", {"x", "w"}, {"y"});
  ::onnx::AttributeProto& equation = *node.add_attribute();
  equation.set_name("equation");
  equation.set_type(::onnx::AttributeProto::STRING);
  equation.set_s("nkctv, kvw -> nctw");
  const auto out = m.run(in, {.cpu = CpuUse::kNone});
  ASSERT_EQ(out.size(), static_cast<std::size_t>(kChannels * kTimes * kJoints));
  for (std::int64_t i = 0; i < kChannels * kTimes * kJoints; ++i) {
    double sum = 0;
    for (std::int64_t k = 0; k < kKinds; ++k)
      for (std::int64_t v = 0; v < kJoints; ++v)
        sum += static_cast<double>(in[static_cast<std::size_t>(
                   (k * kChannels * kTimes + i / kJoints) * kJoints + v)]) *
               static_cast<double>(
                   w[static_cast<std::size_t>((k * kJoints + v) * kJoints + i % kJoints)]);
    EXPECT_NEAR(out[static_cast<std::size_t>(i)], sum, 0.01) << i;
  }
  equation.set_s("nkctv,kvw->nctq");
  EXPECT_NE(m.refusal().find("is there once in all"), std::string::npos) << m.refusal();
}

// A layer of its own adds a transposed convolution to a tensor behind a ReLU.
TEST(ImportExpanded, TransposedConvolutionsBesideTensors) {
  ModelMaker m;
  m.input("x", {1, 1, 1, 2}).output("y");
  m.floats("w", {1, 1, 1, 2}, {1, -2}).floats("one", {1, 1, 1, 1}, {0.5F});
  m.floats("each", {1, 1, 1, 4}, {1, 2, 3, 4});
  set(m.node("ConvTranspose", {"x", "w"}, {"d"}), "strides", Sizes{1, 2});
  m.node("Relu", {"d"}, {"r"});
  set(m.node("ConvTranspose", {"x", "w"}, {"s"}), "strides", Sizes{1, 2});
  m.node("Add", {"r", "s"}, {"t"});
  m.node("Add", {"t", "each"}, {"y"});
  EXPECT_EQ(m.run({3, -1}, {.cpu = CpuUse::kNone}), (std::vector<float>{7, -4, 2, 8}));
}

TEST(ImportExpanded, ProductsWithAVector) {
  ModelMaker m;
  m.input("x", {1, 2, 3}).output("y").floats("v", {3}, {1, 2, 4});
  m.node("MatMul", {"x", "v"}, {"y"});
  const std::vector<float> in = {1, 2, 3, -1, 0, 2};
  EXPECT_EQ(m.run(in), (std::vector<float>{17, 7}));
  const auto out = m.run(in, {.samples = {{in}}});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_NEAR(out[0], 17, 0.2);
  EXPECT_NEAR(out[1], 7, 0.2);
}

// Vectors of features are divided by their length, which has a scale behind each step.
TEST(ImportExpanded, LengthsOfVectorsInInt8) {
  for (const auto& [name, expected] :
       {std::pair{"ReduceL2", 5.0F}, {"ReduceL1", 7.0F}, {"ReduceSumSquare", 25.0F}}) {
    ModelMaker m;
    m.input("x", {1, 2}).output("y");
    set(m.node(name, {"x"}, {"y"}), "axes", Sizes{1});
    const std::vector<float> in = {3, -4};
    const auto out = m.run(in, {.samples = {{in}}});
    ASSERT_EQ(out.size(), 1U);
    EXPECT_NEAR(out[0], expected, expected / 50) << name;
  }
}

}  // namespace
}  // namespace nvdla::import_test
