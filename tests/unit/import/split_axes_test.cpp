// SPDX-License-Identifier: MIT
//
// Axes that are longer than the device's, as detectors have them: 8400 positions in one row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model_maker.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {
namespace {

constexpr std::int64_t kLong = 8400, kFirst = 6400;  // the first part is a whole number of rows

// Numbers that fp16 has, and whose sums and products it has, too.
std::vector<float> eighths(std::size_t count, int seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((static_cast<int>(i) * 29 + seed * 13) % 41 - 20) / 8);
  return values;
}

std::size_t at(std::int64_t channel, std::int64_t position) {
  return static_cast<std::size_t>(channel * kLong + position);
}

// Boxes as a detector decodes them: points less distances, beside others in steps of their grid.
TEST(ImportLongAxes, ElementsAndChannels) {
  ModelMaker m;
  m.input("x", {1, 4, kLong}).output("y");
  m.integers("halves", {2}, {2, 2});
  set(m.node("Split", {"x", "halves"}, {"a", "b"}), "axis", std::int64_t{1});
  const auto points = eighths(2 * kLong, 3), steps = eighths(kLong, 5);
  m.floats("points", {1, 2, kLong}, points).floats("steps", {1, kLong}, steps);
  m.node("Sub", {"points", "a"}, {"first"});
  m.node("Mul", {"b", "steps"}, {"second"});
  set(m.node("Concat", {"second", "first"}, {"y"}), "axis", std::int64_t{1});
  const auto x = eighths(4 * kLong, 1);
  const auto y = m.run(x);
  ASSERT_EQ(y.size(), x.size());
  for (std::int64_t i = 0; i < kLong; ++i)
    for (std::int64_t c = 0; c < 2; ++c) {
      ASSERT_EQ(y[at(c, i)], x[at(c + 2, i)] * steps[static_cast<std::size_t>(i)]) << i;
      ASSERT_EQ(y[at(c + 2, i)], points[at(c, i)] - x[at(c, i)]) << i;
    }
}

// Parts of the long axis itself, which change places.
TEST(ImportLongAxes, PartsOfThem) {
  ModelMaker m;
  m.input("x", {1, 2, kLong}).output("y");
  m.integers("parts", {2}, {kFirst, kLong - kFirst});
  set(m.node("Split", {"x", "parts"}, {"a", "b"}), "axis", std::int64_t{2});
  m.node("Relu", {"a"}, {"r"});
  set(m.node("Concat", {"b", "r"}, {"y"}), "axis", std::int64_t{2});
  const auto x = eighths(2 * kLong, 2);
  const auto y = m.run(x);
  ASSERT_EQ(y.size(), x.size());
  for (std::int64_t c = 0; c < 2; ++c)
    for (std::int64_t i = 0; i < kLong; ++i) {
      const std::int64_t from = (i + kFirst) % kLong;
      const float value = x[at(c, from)];
      ASSERT_EQ(y[at(c, i)], from < kFirst ? std::max(value, 0.0F) : value) << c << ' ' << i;
    }
}

// Axes in front of the long one change places; a convolution takes each position by itself.
TEST(ImportLongAxes, ChannelsInAnotherOrder) {
  ModelMaker m;
  m.input("x", {1, 6, kLong}).output("y");
  m.integers("apart", {4}, {1, 3, 2, kLong}).integers("together", {3}, {1, 3, kLong});
  m.node("Reshape", {"x", "apart"}, {"r"});
  set(m.node("Transpose", {"r"}, {"t"}), "perm", Sizes{0, 2, 1, 3});
  m.floats("w", {1, 2, 1, 1}, {2, -1});
  m.node("Conv", {"t", "w"}, {"c"});
  m.node("Reshape", {"c", "together"}, {"y"});
  const auto x = eighths(6 * kLong, 4);
  const auto y = m.run(x, {.cpu = CpuUse::kAll});
  ASSERT_EQ(y.size(), x.size() / 2);
  for (std::int64_t c = 0; c < 3; ++c)
    for (std::int64_t i = 0; i < kLong; ++i)
      ASSERT_EQ(y[at(c, i)], 2 * x[at(2 * c, i)] - x[at(2 * c + 1, i)]) << c << ' ' << i;
}

// All channels normalised together, which a model has as one channel in a row of all positions.
TEST(ImportLongAxes, NormalisationsOfGroups) {
  constexpr std::int64_t kChannels = 6, kSide = 48;
  constexpr std::size_t kAll = kChannels * kSide * kSide;
  ModelMaker m;
  m.input("x", {1, kChannels, kSide, kSide}).output("y");
  m.integers("row", {3}, {0, 1, -1}).integers("back", {4}, {1, kChannels, kSide, kSide});
  m.floats("g", {1}, {1}).floats("b", {1}, {0});
  m.node("Reshape", {"x", "row"}, {"r"});
  m.node("InstanceNormalization", {"r", "g", "b"}, {"n"});
  m.node("Reshape", {"n", "back"}, {"y"});
  const auto x = eighths(kAll, 4);
  double mean = 0, squares = 0;
  for (const float v : x) mean += static_cast<double>(v) / kAll;
  for (const float v : x) squares += (static_cast<double>(v) - mean) * (v - mean) / kAll;
  const auto y = m.run(x, {.cpu = CpuUse::kAll});
  const auto int8 = m.run(x, {.samples = {{x}}, .cpu = CpuUse::kAll});
  ASSERT_EQ(y.size(), x.size());
  for (std::size_t i = 0; i < kAll; ++i) {
    const double wanted = (static_cast<double>(x[i]) - mean) / std::sqrt(squares + 1e-5);
    ASSERT_NEAR(y[i], wanted, 5e-3) << i;
    ASSERT_NEAR(int8[i], wanted, 0.03) << i;
  }
}

// Positions first, as scores of classes have them.
TEST(ImportLongAxes, RowsOfAMatrix) {
  ModelMaker m;
  m.input("x", {1, 4, kLong}).output("y");
  set(m.node("Transpose", {"x"}, {"t"}), "perm", Sizes{0, 2, 1});
  m.floats("w", {4, 2}, {1, 2, -1, 1, 2, -2, 1, 0.5F});
  m.node("MatMul", {"t", "w"}, {"y"});
  const auto x = eighths(4 * kLong, 6);
  const auto y = m.run(x, {.cpu = CpuUse::kAll});
  ASSERT_EQ(y.size(), x.size() / 2);
  for (std::int64_t i = 0; i < kLong; ++i) {
    const float a = x[at(0, i)], b = x[at(1, i)], c = x[at(2, i)], d = x[at(3, i)];
    ASSERT_EQ(y[static_cast<std::size_t>(2 * i)], a - b + 2 * c + d) << i;
    ASSERT_EQ(y[static_cast<std::size_t>(2 * i + 1)], 2 * a + b - 2 * c + d / 2) << i;
  }
}

// Scores of 9000 classes, for one place and for several in a row.
TEST(ImportLongAxes, ColumnsOfAMatrix) {
  constexpr std::int64_t kClasses = 9000;
  for (const std::int64_t places : {1, 3}) {
    ModelMaker m;
    const auto w = eighths(2 * kClasses, 4), b = eighths(kClasses, 9);
    m.input("x", {1, 2, places}).output("y");
    set(m.node("Transpose", {"x"}, {"t"}), "perm", Sizes{0, 2, 1});
    if (places == 1) {
      m.node("Flatten", {"t"}, {"f"});
      m.floats("w", {kClasses, 2}, w).floats("b", {kClasses}, b);
      set(m.node("Gemm", {"f", "w", "b"}, {"y"}), "transB", std::int64_t{1});
    } else {
      m.floats("w", {2, kClasses}, w).floats("b", {kClasses}, b);
      m.node("MatMul", {"t", "w"}, {"p"});
      m.node("Add", {"p", "b"}, {"y"});
    }
    const auto x = eighths(static_cast<std::size_t>(2 * places), 1);
    const auto y = m.run(x, {.cpu = CpuUse::kAll});
    ASSERT_EQ(y.size(), static_cast<std::size_t>(places * kClasses));
    for (std::int64_t i = 0; i < places * kClasses; ++i) {
      const std::int64_t place = i / kClasses, k = i % kClasses;
      float sum = b[static_cast<std::size_t>(k)];
      for (std::int64_t d = 0; d < 2; ++d)
        sum += x[static_cast<std::size_t>(d * places + place)] *
               w[static_cast<std::size_t>(places == 1 ? k * 2 + d : d * kClasses + k)];
      ASSERT_NEAR(y[static_cast<std::size_t>(i)], sum, 0.01) << places << ' ' << i;
    }
  }
}

struct WindowCase {
  std::int64_t kernel, stride, dilation, before, after;
};

// y = pool(relu(conv(x))) over 16000 samples in a row, as networks of sound begin with.
std::vector<float> conv_and_pool(const std::vector<float>& x, const std::vector<float>& w,
                                 std::int64_t length, const WindowCase& c) {
  const std::int64_t out =
      (length + c.before + c.after - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
  std::vector<float> y;
  for (std::int64_t k = 0; k < 2; ++k) {
    std::vector<float> row;
    for (std::int64_t i = 0; i < out; ++i) {
      float sum = 0;
      for (std::int64_t t = 0; t < c.kernel; ++t) {
        const std::int64_t from = i * c.stride + t * c.dilation - c.before;
        if (from >= 0 && from < length)
          sum += w[static_cast<std::size_t>(k * c.kernel + t)] * x[static_cast<std::size_t>(from)];
      }
      row.push_back(std::max(sum, 0.0F));
    }
    for (std::size_t i = 0; i + 1 < row.size(); i += 2) y.push_back(std::max(row[i], row[i + 1]));
  }
  return y;
}

TEST(ImportLongAxes, WindowsOverThem) {
  constexpr std::int64_t kSamples = 16000;
  const auto x = eighths(kSamples, 7);
  for (const WindowCase& c : {WindowCase{9, 1, 1, 4, 4},
                              {5, 1, 3, 0, 12},
                              {10, 5, 1, 0, 0},
                              {80, 4, 1, 38, 38},
                              {4, 2, 1, 1, 1}}) {
    const auto w = eighths(static_cast<std::size_t>(2 * c.kernel), 3);
    ModelMaker m;
    m.input("x", {1, 1, kSamples}).output("y").floats("w", {2, 1, c.kernel}, w);
    auto& conv = m.node("Conv", {"x", "w"}, {"c"});
    set(conv, "strides", Sizes{c.stride});
    set(conv, "dilations", Sizes{c.dilation});
    set(conv, "pads", Sizes{c.before, c.after});
    m.node("Relu", {"c"}, {"r"});
    auto& pool = m.node("MaxPool", {"r"}, {"y"});
    set(pool, "kernel_shape", Sizes{2});
    set(pool, "strides", Sizes{2});
    const auto expected = conv_and_pool(x, w, kSamples, c);
    const auto found = m.run(x, {.cpu = CpuUse::kAll});
    const auto int8 = m.run(x, {.samples = {{x}}, .cpu = CpuUse::kAll});
    ASSERT_EQ(found.size(), expected.size()) << c.kernel;
    const float most = *std::max_element(expected.begin(), expected.end());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 0.002F * most) << c.kernel << ' ' << i;
      ASSERT_NEAR(int8[i], expected[i], 0.03F * most) << c.kernel << ' ' << i;
    }
  }
}

// A softmax of each of the positions that follow it in two axes, 9600 of them.
TEST(ImportLongAxes, SoftmaxOfPositionsInTwoAxes) {
  ModelMaker m;
  m.input("x", {1, 3, 120, 80}).output("y");
  set(m.node("Softmax", {"x"}, {"y"}), "axis", std::int64_t{1});
  const auto y = m.run(std::vector<float>(3 * 120 * 80, 0.5F), {.cpu = CpuUse::kAll});
  for (const float v : y) ASSERT_NEAR(v, 1.0 / 3, 1e-3);
}

TEST(ImportLongAxes, PrimesAreRefused) {
  ModelMaker m;
  m.input("x", {1, 2, 8209}).output("y");
  m.node("Relu", {"x"}, {"y"});
  EXPECT_NE(m.refusal().find("8209 in one axis of the device, above 8192"), std::string::npos)
      << m.refusal();
}

}  // namespace
}  // namespace nvdla::import_test
