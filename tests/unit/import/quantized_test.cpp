// SPDX-License-Identifier: MIT
//
// Operators of int8 tensors: each result is the real number, rounded.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "nvdla/nvdla.hpp"
#include "quantized_maker.hpp"

namespace nvdla::import_test {
namespace {

std::vector<double> reals_of(const QuantizedInput& input) {
  std::vector<double> reals;
  for (std::size_t i = 0; i < input.elements.size(); ++i) reals.push_back(input.real(i));
  return reals;
}

// Calls `value` with the batch, channel, line and column of each element.
template <typename Value>
std::vector<double> made(const Sizes& sizes, const Value& value) {
  std::vector<double> out;
  for (std::int64_t n = 0; n < sizes[0]; ++n)
    for (std::int64_t c = 0; c < sizes[1]; ++c)
      for (std::int64_t y = 0; y < sizes[2]; ++y)
        for (std::int64_t x = 0; x < sizes[3]; ++x) out.push_back(value(n, c, y, x));
  return out;
}

std::size_t at(const Sizes& sizes, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
  return static_cast<std::size_t>(((n * sizes[1] + c) * sizes[2] + y) * sizes[3] + x);
}

constexpr Quantization kIn = {0.05F, -7}, kOther = {0.03F, 11}, kOut = {0.07F, 5};

struct TransposedCase {
  std::int64_t groups, stride, pad, extra;
};

// Kernels C x K/groups x R x S with a scale for each of their second axis.
void check_transposed(const TransposedCase& t) {
  QuantizedMaker q;
  const Sizes in = {1, 4, 3, 5}, w = {4, 3, 3, 2};
  const auto x = reals_of(q.input("x", in, kIn));
  const auto kernels = q.kernels("w", w, {0.002F, 0.01F, 0.004F}, 1);
  const std::int64_t k_all = w[1] * t.groups;
  std::vector<float> bias;
  for (std::int64_t k = 0; k < k_all; ++k) bias.push_back(static_cast<float>(k) - 1.5F);
  q.maker.floats("b", {k_all}, bias);
  auto& node = q.maker.node("ConvTranspose", {"x.real", "w", "b"}, {"c"});
  set(node, "group", t.groups);
  set(node, "strides", Sizes{t.stride, t.stride});
  set(node, "pads", Sizes{t.pad, 0, t.pad, 0});
  set(node, "output_padding", Sizes{t.extra, 0});
  q.maker.node("Relu", {"c"}, {"r"});
  q.output("r", kOut);
  const Sizes out = {1, k_all, (in[2] - 1) * t.stride + 3 - 2 * t.pad + t.extra,
                     (in[3] - 1) * t.stride + 2};
  std::vector<double> sums(static_cast<std::size_t>(out[1] * out[2] * out[3]), 0);
  for (std::int64_t c = 0; c < in[1]; ++c)
    for (std::int64_t y = 0; y < in[2]; ++y)
      for (std::int64_t s = 0; s < in[3]; ++s)
        for (std::int64_t k = 0; k < w[1]; ++k)
          for (std::int64_t r = 0; r < 3; ++r)
            for (std::int64_t u = 0; u < 2; ++u) {
              const std::int64_t line = y * t.stride + r - t.pad, column = s * t.stride + u;
              if (line < 0 || line >= out[2]) continue;
              const std::int64_t kernel = c / (in[1] / t.groups) * w[1] + k;
              sums[at(out, 0, kernel, line, column)] +=
                  x[at(in, 0, c, y, s)] * kernels[at(w, c, k, r, u)];
            }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] += static_cast<double>(bias[i / static_cast<std::size_t>(out[2] * out[3])]);
    sums[i] = std::max(sums[i], 0.0);
  }
  EXPECT_LE(q.expect(sums, 5e-3), 2);
}

TEST(Quantized, TransposedConvolutions) {
  check_transposed({1, 2, 1, 1});
  check_transposed({2, 1, 0, 0});
  check_transposed({2, 2, 1, 0});
}

TEST(Quantized, PaddingHasTheScaleOfTheResult) {
  for (const char* mode : {"constant", "reflect", "edge"}) {
    QuantizedMaker q;
    const Sizes in = {1, 2, 3, 4}, out = {1, 4, 4, 7};
    const auto x = reals_of(q.input("x", in, kIn));
    const bool constant = std::string(mode) == "constant";
    q.maker.integers("pads", {8}, {0, constant ? 1 : 0, 0, 2, 0, constant ? 1 : 0, 1, 1});
    q.maker.floats("v", {}, {0.61F});
    auto& node = q.maker.node("Pad", {"x.real", "pads", "v"}, {"p"});
    ::onnx::AttributeProto& a = *node.add_attribute();
    a.set_name("mode");
    a.set_type(::onnx::AttributeProto::STRING);
    a.set_s(mode);
    q.output("p", kOut);
    Sizes sizes = out;
    if (!constant) sizes[1] = 2;
    const auto reflect = [&](std::int64_t v, std::int64_t size) {
      if (std::string(mode) == "edge") return std::clamp<std::int64_t>(v, 0, size - 1);
      return v < 0 ? -v : v >= size ? 2 * size - 2 - v : v;
    };
    EXPECT_EQ(q.expect(made(sizes,
                            [&](std::int64_t, std::int64_t c, std::int64_t y, std::int64_t s) {
                              if (constant) --c;
                              s -= 2;
                              const bool inside = c >= 0 && c < 2 && y < 3 && s >= 0 && s < 4;
                              if (constant && !inside) return static_cast<double>(0.61F);
                              return x[at(in, 0, c, reflect(y, 3), reflect(s, 4))];
                            })),
              0)
        << mode;
  }
}

TEST(Quantized, PaddingWithoutAScaleNeedsAnElement) {
  QuantizedMaker q;
  q.input("x", {1, 2, 3, 4}, {0.5F, 3});
  q.maker.integers("pads", {8}, {0, 0, 0, 1, 0, 0, 0, 0}).floats("v", {}, {0.3F});
  q.kernels("w", {1, 2, 1, 1}, {0.01F}, 0);
  q.maker.node("Pad", {"x.real", "pads", "v"}, {"p"});
  q.maker.node("Conv", {"p", "w"}, {"c"});
  q.output("c", kOut);
  EXPECT_NE(q.maker.refusal().find("which is no element of scale 0.5 and zero point 3, and no "
                                   "QuantizeLinear follows; quantise the output, too"),
            std::string::npos)
      << q.maker.refusal();
}

struct MoveCase {
  const char* op;
  Sizes list;  // second input, of integers
  Sizes result;
  std::function<std::size_t(std::int64_t, std::int64_t, std::int64_t, std::int64_t)> from;
};

TEST(Quantized, MovesKeepElements) {
  const Sizes in = {1, 8, 2, 4}, one = {1, 8, 1, 1};
  const MoveCase cases[] = {
      {"Tile",
       {1, 2, 1, 3},
       {1, 16, 2, 12},
       [&](auto, auto c, auto y, auto x) { return at(in, 0, c % 8, y, x % 4); }},
      {"Gather",
       {7, 0, 0, 3},
       {1, 4, 2, 4},
       [&](auto, auto c, auto y, auto x) {
         constexpr std::int64_t kTaken[] = {7, 0, 0, 3};
         return at(in, 0, kTaken[c], y, x);
       }},
      {"DepthToSpace",
       {},
       {1, 2, 4, 8},
       [&](auto, auto c, auto y, auto x) {
         return at(in, 0, ((y % 2) * 2 + x % 2) * 2 + c, y / 2, x / 2);
       }},
      {"SpaceToDepth",
       {},
       {1, 32, 1, 2},
       [&](auto, auto c, auto y, auto x) {
         return at(in, 0, c % 8, y * 2 + c / 16, x * 2 + c / 8 % 2);
       }},
      {"Expand",
       {1, 8, 3, 2},
       {1, 8, 3, 2},
       [&](auto, auto c, auto, auto) { return at(one, 0, c, 0, 0); }},
  };
  for (const MoveCase& c : cases) {
    for (const Quantization& to : {kIn, kOut}) {
      QuantizedMaker q;
      const bool expand = std::string(c.op) == "Expand";
      const auto x = reals_of(q.input("x", expand ? one : in, kIn));
      std::vector<std::string> names = {"x.real"};
      if (!c.list.empty()) {
        q.maker.integers("list", {static_cast<std::int64_t>(c.list.size())}, c.list);
        names.emplace_back("list");
      }
      auto& node = q.maker.node(c.op, names, {"m"});
      if (c.list.empty()) set(node, "blocksize", std::int64_t{2});
      if (std::string(c.op) == "Gather") set(node, "axis", std::int64_t{1});
      q.output("m", to);
      EXPECT_EQ(q.expect(made(c.result, [&](auto n, auto k, auto y,
                                            auto v) { return x[c.from(n, k, y, v)]; })),
                0)
          << c.op;
    }
  }
}

TEST(Quantized, InterpolationIsExact) {
  QuantizedMaker q;
  const Sizes in = {1, 2, 3, 3}, out = {1, 2, 6, 6};
  const auto x = reals_of(q.input("x", in, kIn));
  q.maker.floats("scales", {4}, {1, 1, 2, 2});
  auto& node = q.maker.node("Resize", {"x.real", "", "scales"}, {"r"});
  ::onnx::AttributeProto& a = *node.add_attribute();
  a.set_name("mode");
  a.set_type(::onnx::AttributeProto::STRING);
  a.set_s("linear");
  q.output("r", kOut);
  const auto parts = [](std::int64_t v) {
    const double place = (static_cast<double>(v) + 0.5) / 2 - 0.5, low = std::floor(place);
    const auto first = static_cast<std::int64_t>(low);
    return std::tuple{std::clamp<std::int64_t>(first, 0, 2),
                      std::clamp<std::int64_t>(first + 1, 0, 2), place - low};
  };
  EXPECT_LE(q.expect(made(out,
                          [&](auto, auto c, auto y, auto s) {
                            const auto [y0, y1, ty] = parts(y);
                            const auto [x0, x1, tx] = parts(s);
                            const auto line = [&, x0 = x0, x1 = x1, tx = tx](std::int64_t l) {
                              return x[at(in, 0, c, l, x0)] * (1 - tx) +
                                     x[at(in, 0, c, l, x1)] * tx;
                            };
                            return line(y0) * (1 - ty) + line(y1) * ty;
                          })),
            2);
}

TEST(Quantized, InterpolationThatIsNotExactIsRefused) {
  QuantizedMaker q;
  q.input("x", {1, 1, 1, 3}, kIn);
  q.maker.floats("scales", {4}, {1, 1, 1, 1.7F});
  auto& node = q.maker.node("Resize", {"x.real", "", "scales"}, {"r"});
  ::onnx::AttributeProto& a = *node.add_attribute();
  a.set_name("mode");
  a.set_type(::onnx::AttributeProto::STRING);
  a.set_s("cubic");
  q.output("r", kOut);
  EXPECT_NE(q.maker.refusal().find("its weights are no whole multiples of one number"),
            std::string::npos)
      << q.maker.refusal();
}

struct ReduceCase {
  const char* op;
  Sizes axes;
};

TEST(Quantized, Reductions) {
  const Sizes in = {1, 5, 4, 6};
  const ReduceCase cases[] = {
      {"ReduceMean", {2, 3}}, {"ReduceMean", {1}}, {"ReduceMean", {3}},   {"ReduceMean", {1, 2, 3}},
      {"ReduceSum", {2, 3}},  {"ReduceSum", {1}},  {"ReduceMax", {2, 3}}, {"ReduceMin", {2}},
      {"ReduceMean", {1, 2}}, {"ReduceMax", {3}}};
  for (const ReduceCase& c : cases) {
    QuantizedMaker q(18);
    const auto x = reals_of(q.input("x", in, kIn));
    q.maker.integers("axes", {static_cast<std::int64_t>(c.axes.size())}, c.axes);
    q.maker.node(c.op, {"x.real", "axes"}, {"r"});
    const std::string op = c.op;
    const Quantization to = op == "ReduceSum" ? Quantization{0.4F, 5} : kOut;
    q.output("r", to);
    Sizes out = in;
    double count = 1;
    for (const std::int64_t axis : c.axes) {
      count *= static_cast<double>(in[static_cast<std::size_t>(axis)]);
      out[static_cast<std::size_t>(axis)] = 1;
    }
    const double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> reals(static_cast<std::size_t>(out[1] * out[2] * out[3]),
                              op == "ReduceMax"   ? -infinite
                              : op == "ReduceMin" ? infinite
                                                  : 0);
    (void)made(in, [&](auto n, auto k, auto y, auto s) {
      double& to_real =
          reals[at(out, 0, out[1] == 1 ? 0 : k, out[2] == 1 ? 0 : y, out[3] == 1 ? 0 : s)];
      const double v = x[at(in, n, k, y, s)];
      to_real = op == "ReduceMax"   ? std::max(to_real, v)
                : op == "ReduceMin" ? std::min(to_real, v)
                : op == "ReduceSum" ? to_real + v
                                    : to_real + v / count;
      return 0.0;
    });
    EXPECT_LE(q.expect(reals), 2) << op << " " << c.axes.size();
  }
}

TEST(Quantized, ReductionsWithoutAScaleBetweenAreRefused) {
  QuantizedMaker q(18);
  q.input("x", {1, 2, 3, 4, 5}, kIn);
  q.maker.integers("axes", {2}, {2, 4});
  q.maker.node("ReduceMean", {"x.real", "axes"}, {"r"});
  q.output("r", kOut);
  EXPECT_NE(q.maker.refusal().find("it reduces axes of 1x2x3x4x5 that are no neighbours, and sums "
                                   "between have no scale"),
            std::string::npos)
      << q.maker.refusal();
}

struct ExtremeCase {
  const char* op;
  Quantization second, output;
  Sizes size;  // of the second
};

TEST(Quantized, Extremes) {
  const Sizes in = {1, 3, 2, 4};
  const ExtremeCase cases[] = {{"Max", kIn, kIn, in},
                               {"Min", kOther, kOut, in},
                               {"Max", kOther, kOut, {1, 3, 1, 1}},
                               {"Min", kOther, kIn, {1, 1, 2, 4}}};
  for (const ExtremeCase& c : cases) {
    QuantizedMaker q;
    const auto a = reals_of(q.input("a", in, kIn));
    const auto b = reals_of(q.input("b", c.size, c.second));
    q.maker.node(c.op, {"a.real", "b.real"}, {"m"});
    q.output("m", c.output);
    const bool max = std::string(c.op) == "Max";
    EXPECT_EQ(q.expect(made(in,
                            [&](auto, auto k, auto y, auto s) {
                              const double u = a[at(in, 0, k, y, s)];
                              const double v =
                                  b[at(c.size, 0, c.size[1] == 1 ? 0 : k, c.size[2] == 1 ? 0 : y,
                                       c.size[3] == 1 ? 0 : s)];
                              return max ? std::max(u, v) : std::min(u, v);
                            })),
              0)
        << c.op;
  }
}

TEST(Quantized, ExtremesOfSeveralAndOfConstants) {
  const Sizes in = {1, 3, 2, 4};
  QuantizedMaker q;
  const auto a = reals_of(q.input("a", in, kIn));
  const auto b = reals_of(q.input("b", in, kOther));
  const std::vector<float> list = {0.5F, -1.25F, 2};
  q.maker.floats("c", {3, 1, 1}, list);
  q.maker.node("Max", {"a.real", "b.real", "c"}, {"m"});
  q.maker.node("Relu", {"m"}, {"r"});
  q.output("r", kOut);
  EXPECT_EQ(q.expect(made(in,
                          [&](auto, auto k, auto y, auto s) {
                            const std::size_t i = at(in, 0, k, y, s);
                            return std::max({a[i], b[i],
                                             static_cast<double>(list[static_cast<std::size_t>(k)]),
                                             0.0});
                          })),
            0);
}

struct PairCase {
  const char* op;
  Sizes a, b;
};

TEST(Quantized, PairsOfDifferentSizes) {
  const Sizes whole = {1, 3, 2, 4}, channels = {1, 3, 1, 1}, plane = {1, 1, 2, 4},
              row = {1, 1, 1, 4};
  const PairCase cases[] = {{"Add", whole, channels}, {"Sub", channels, whole},
                            {"Sub", whole, plane},    {"Mul", plane, whole},
                            {"Mul", channels, whole}, {"Add", channels, plane},
                            {"Add", whole, row}};
  for (const PairCase& c : cases) {
    QuantizedMaker q;
    const auto a = reals_of(q.input("a", c.a, kIn));
    const auto b = reals_of(q.input("b", c.b, kOther));
    q.maker.node(c.op, {"a.real", "b.real"}, {"m"});
    q.output("m", kOut);
    const auto part = [](const Sizes& sizes, std::int64_t k, std::int64_t y, std::int64_t s) {
      return at(sizes, 0, sizes[1] == 1 ? 0 : k, sizes[2] == 1 ? 0 : y, sizes[3] == 1 ? 0 : s);
    };
    // Products of two zero points take operator Y; GateOnNvSmall tests those of nv_small.
    std::vector<std::string> configurations = {"nv_full", "nv_large"};
    if (c.op[0] != 'M') configurations.emplace_back("nv_small");
    EXPECT_LE(q.expect(made(whole,
                            [&](auto, auto k, auto y, auto s) {
                              const double u = a[part(c.a, k, y, s)], v = b[part(c.b, k, y, s)];
                              return c.op[0] == 'A' ? u + v : c.op[0] == 'S' ? u - v : u * v;
                            }),
                       5e-3, {}, configurations),
              2)
        << c.op;
  }
}

// Where there is no operator Y a factor with a zero point is rounded to one without, and a notice
// says how far results may be away from those of the file.
struct GateCase {
  const char* title;
  Sizes a, b;
  Quantization of_a, of_b;
  const char* rounded;  // which input is, or none
};

class GateOnNvSmall : public ::testing::TestWithParam<GateCase> {};

TEST_P(GateOnNvSmall, StaysWithinTheBoundThatItStates) {
  const GateCase& c = GetParam();
  const Sizes whole = {1, 3, 2, 4};
  QuantizedMaker q;
  const std::map<std::string, std::vector<double>> factors = {
      {"a", reals_of(q.input("a", c.a, c.of_a))}, {"b", reals_of(q.input("b", c.b, c.of_b))}};
  q.maker.node("Mul", {"a.real", "b.real"}, {"m"}).set_name("gate");
  q.output("m", kOut);
  const auto product = [&](const std::vector<double>& a, const std::vector<double>& b) {
    return made(whole, [&](auto, auto k, auto y, auto s) {
      return a[c.a[2] == 1 ? static_cast<std::size_t>(k) : at(whole, 0, k, y, s)] *
             b[c.b[2] == 1 ? static_cast<std::size_t>(k) : at(whole, 0, k, y, s)];
    });
  };
  const auto exact = product(factors.at("a"), factors.at("b"));
  const auto notices = q.maker.import({}, "nv_small").notices;
  if (c.rounded == nullptr) {
    EXPECT_TRUE(notices.empty()) << notices[0];
    EXPECT_LE(q.expect(exact, 5e-3, {}, {"nv_small"}), 2);
    return;
  }
  // Results are those of the rounded factor, exactly.
  auto rounded = factors;
  const Quantization from = c.rounded[0] == 'a' ? c.of_a : c.of_b;
  const auto scale = static_cast<double>(
      static_cast<float>(static_cast<double>(from.scale) *
                         std::max(128 + from.zero_point, 127 - from.zero_point) / 127.5));
  for (double& real : rounded.at(c.rounded))
    real = std::clamp(std::round(real / scale), -128.0, 127.0) * scale;
  const auto expected = product(rounded.at("a"), rounded.at("b"));
  EXPECT_LE(q.expect(expected, 5e-3, {}, {"nv_small"}), 2);
  // They keep to the bound of the notice.
  ASSERT_EQ(notices.size(), 1U);
  const std::string& notice = notices[0];
  EXPECT_NE(notice.find(fmt::format("'{}.real' is rounded to zero point 0", c.rounded)),
            std::string::npos)
      << notice;
  const std::string before = "results may be ";
  ASSERT_NE(notice.find(before), std::string::npos) << notice;
  const double bound = std::stod(notice.substr(notice.find(before) + before.size()));
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    worst = std::max(worst, std::fabs(expected[i] - exact[i]) / static_cast<double>(kOut.scale));
  EXPECT_LE(worst, bound);
  EXPECT_GT(worst, bound / 50) << "a bound that says little";
}

INSTANTIATE_TEST_SUITE_P(
    Products, GateOnNvSmall,
    ::testing::Values(
        GateCase{"Gate", {1, 3, 2, 4}, {1, 3, 1, 1}, {0.02F, 5}, {1 / 256.0F, -128}, "b"},
        GateCase{"GateFirst", {1, 3, 1, 1}, {1, 3, 2, 4}, {1 / 256.0F, -128}, {0.02F, 5}, "a"},
        GateCase{"GateBesideZero", {1, 3, 2, 4}, {1, 3, 1, 1}, {0.02F, 0}, {0.01F, 7}, "b"},
        GateCase{"GateOfZero", {1, 3, 2, 4}, {1, 3, 1, 1}, {0.02F, 5}, {0.01F, 0}, nullptr},
        GateCase{"Alike", {1, 3, 2, 4}, {1, 3, 2, 4}, {0.02F, 3}, {0.02F, -128}, "b"},
        GateCase{"OneIsZero", {1, 3, 2, 4}, {1, 3, 2, 4}, {0.02F, 0}, {0.02F, 3}, nullptr}),
    [](const auto& each) { return each.param.title; });

TEST(Quantized, NumbersOfChannels) {
  const Sizes in = {1, 3, 2, 4};
  const std::vector<float> list = {0.5F, -1.25F, 1.9F};
  for (const std::string op : {"Add", "Sub", "Mul", "Div", "from"}) {
    QuantizedMaker q;
    const auto x = reals_of(q.input("x", in, kIn));
    q.maker.floats("c", {3, 1, 1}, list);
    if (op == "from")
      q.maker.node("Sub", {"c", "x.real"}, {"m"});
    else
      q.maker.node(op, {"x.real", "c"}, {"m"});
    q.maker.node("Relu", {"m"}, {"r"});
    q.output("r", kOut);
    EXPECT_LE(q.expect(made(in,
                            [&](auto, auto k, auto y, auto s) {
                              const double u = x[at(in, 0, k, y, s)];
                              const auto v = static_cast<double>(list[static_cast<std::size_t>(k)]);
                              const double r = op == "Add"   ? u + v
                                               : op == "Sub" ? u - v
                                               : op == "Mul" ? u * v
                                               : op == "Div" ? u / v
                                                             : v - u;
                              return std::max(r, 0.0);
                            }),
                       0.01),
              1)
        << op;
  }
}

// Numbers of the last axis are those of channels, once these lie there.
TEST(Quantized, NumbersOfTheLastAxis) {
  QuantizedMaker q;
  const Sizes in = {1, 1, 4, 3};
  const auto x = reals_of(q.input("x", in, kIn));
  const std::vector<float> list = {0.5F, 0, 1.9F};
  q.maker.floats("c", {3}, list);
  q.maker.node("Mul", {"x.real", "c"}, {"m"});
  q.maker.floats("h", {}, {0.5F}).floats("one", {1}, {0.75F});
  q.maker.node("Sub", {"m", "h"}, {"d"});
  q.maker.node("Add", {"one", "d"}, {"e"});
  q.output("e", kOut);
  EXPECT_LE(q.expect(made(in,
                          [&](auto, auto k, auto y, auto s) {
                            return 0.25 +
                                   x[at(in, 0, k, y, s)] *
                                       static_cast<double>(list[static_cast<std::size_t>(s)]);
                          }),
                     0.01, {.cpu = CpuUse::kAll}),
            1);
}

// Constants with another number at each position, as anchors of a detector are.
TEST(Quantized, NumbersOfPositions) {
  const Sizes in = {1, 4, 3, 5};
  struct Case {
    std::string op;
    Sizes sizes;
    bool first;  // the constant is the first input
    float step;
  };
  for (const Case& c : {Case{"Add", {1, 4, 3, 5}, false, 0.5F}, Case{"Sub", {4, 3, 5}, true, 0.02F},
                        Case{"Mul", {3, 5}, false, 0.3F}, Case{"Mul", {4, 1, 5}, true, -0.1F},
                        Case{"Div", {4, 3, 1}, false, 0.7F}}) {
    QuantizedMaker q;
    const auto x = reals_of(q.input("x", in, kIn));
    const auto strides = [&](std::size_t axis) {
      const std::size_t left = 4 - c.sizes.size();
      return axis < left || c.sizes[axis - left] == 1 ? 0 : 1;
    };
    const auto number = [&](std::int64_t k, std::int64_t y, std::int64_t s) {
      return c.step *
             static_cast<float>(1 + k * strides(1) * 7 + y * strides(2) * 3 + s * strides(3));
    };
    std::vector<float> numbers;
    for (std::int64_t k = 0; k <= 3 * strides(1); ++k)
      for (std::int64_t y = 0; y <= 2 * strides(2); ++y)
        for (std::int64_t s = 0; s <= 4 * strides(3); ++s) numbers.push_back(number(k, y, s));
    q.maker.floats("c", c.sizes, numbers);
    const std::vector<std::string> inputs =
        c.first ? std::vector<std::string>{"c", "x.real"} : std::vector<std::string>{"x.real", "c"};
    q.maker.node(c.op, inputs, {"m"});
    q.maker.node("Relu", {"m"}, {"r"});
    q.output("r", {0.07F, -90});
    const auto reals = made(in, [&](auto, auto k, auto y, auto s) {
      const double v = x[at(in, 0, k, y, s)], n = static_cast<double>(number(k, y, s));
      const double result = c.op == "Add"   ? v + n
                            : c.op == "Sub" ? n - v
                            : c.op == "Mul" ? v * n
                                            : v / n;
      return std::max(result, 0.0);
    });
    EXPECT_LE(q.expect(reals, 0.02), 4) << c.op << c.sizes.size();
  }
}

TEST(Quantized, QuotientsOfTensorsAreRefused) {
  QuantizedMaker q;
  q.input("a", {1, 2, 1, 2}, kIn);
  q.input("b", {1, 2, 1, 2}, kIn);
  q.maker.node("Div", {"a.real", "b.real"}, {"m"});
  q.output("m", kOut);
  EXPECT_NE(q.maker.refusal().find("the device has no quotient of two tensors of int8"),
            std::string::npos)
      << q.maker.refusal();
}

TEST(Quantized, QuotientsOfNumbersOfChannelsAreRefused) {
  QuantizedMaker q;
  q.input("x", {1, 2, 1, 2}, kIn);
  q.maker.floats("c", {2, 1, 1}, {1, 2});
  q.maker.node("Div", {"c", "x.real"}, {"m"});
  q.output("m", kOut);
  EXPECT_NE(q.maker.refusal().find("it divides 2 numbers by an int8 tensor, whose reciprocal has "
                                   "no scale; multiply with a Reciprocal"),
            std::string::npos)
      << q.maker.refusal();
}

// Windows above 32 are averaged in steps that are exact.
TEST(Quantized, ReductionsOfManyPositions) {
  for (const std::string op : {"ReduceMean", "ReduceSum", "GlobalAveragePool"}) {
    QuantizedMaker q;
    const Sizes in = {2, 3, 40, 48};
    const auto x = reals_of(q.input("x", in, kIn));
    auto& node = q.maker.node(op, {"x.real"}, {"r"});
    if (op != "GlobalAveragePool") {
      if (op == "ReduceMean")
        set(node, "axes", Sizes{2, 3});
      else
        node.add_input("axes");
    }
    q.maker.integers("axes", {2}, {2, 3});
    const double count = op == "ReduceSum" ? 1 : 40 * 48;
    q.output("r", op == "ReduceSum" ? Quantization{2, 5} : Quantization{0.003F, 5});
    EXPECT_LE(q.expect(made({2, 3, 1, 1},
                            [&](auto n, auto c, auto, auto) {
                              double sum = 0;
                              for (std::int64_t i = 0; i < 40 * 48; ++i)
                                sum += x[at(in, n, c, i / 48, i % 48)];
                              return sum / count;
                            }),
                       1e-3, {.cpu = CpuUse::kAll}),
              1)
        << op;
  }
}

TEST(Quantized, BatchNormalization) {
  QuantizedMaker q;
  const Sizes in = {1, 3, 2, 4};
  const auto x = reals_of(q.input("x", in, kIn));
  const std::vector<float> scale = {0.5F, -1.5F, 0.001F}, shift = {1, 2, -3}, mean = {0.3F, 0, 1},
                           variance = {1, 4, 0.25F};
  q.maker.floats("s", {3}, scale).floats("b", {3}, shift);
  q.maker.floats("m", {3}, mean).floats("v", {3}, variance);
  q.maker.node("BatchNormalization", {"x.real", "s", "b", "m", "v"}, {"n"});
  q.maker.node("Clip", {"n"}, {"r"});
  q.output("r", kOut);
  EXPECT_LE(q.expect(made(in,
                          [&](auto, auto c, auto y, auto s) {
                            const auto k = static_cast<std::size_t>(c);
                            return (x[at(in, 0, c, y, s)] - static_cast<double>(mean[k])) *
                                       static_cast<double>(scale[k]) /
                                       std::sqrt(static_cast<double>(variance[k]) + 1e-5) +
                                   static_cast<double>(shift[k]);
                          }),
                     0.01),
            1);
}

TEST(Quantized, SlopesOfChannels) {
  const Sizes in = {1, 3, 2, 4};
  const std::vector<float> below = {0.25F, -0.5F, 0.01F}, above = {1.5F, 2, 1},
                           mixed = {0.5F, 2, 1};
  for (const auto& slopes : {below, above, mixed}) {
    QuantizedMaker q;
    const auto x = reals_of(q.input("x", in, kIn));
    q.maker.floats("slope", {3, 1, 1}, slopes);
    q.maker.node("PRelu", {"x.real", "slope"}, {"p"});
    q.output("p", kOut);
    EXPECT_LE(
        q.expect(made(in,
                      [&](auto, auto c, auto y, auto s) {
                        const double v = x[at(in, 0, c, y, s)];
                        return v < 0 ? v * static_cast<double>(slopes[static_cast<std::size_t>(c)])
                                     : v;
                      }),
                 5e-3),
        1);
  }
}

// The scale of a kernel without weights may be as small as a float gets.
TEST(Quantized, KernelsWithoutWeightsAreTheirBias) {
  const Sizes in = {1, 3, 4, 5}, kernels = {2, 3, 1, 1};
  QuantizedMaker q;
  const auto x = reals_of(q.input("x", in, kIn));
  const auto w = q.kernels("w", kernels, {0.01F, 1e-14F}, 0);
  q.maker.floats("b", {2}, {1, -2});
  q.maker.node("Conv", {"x.real", "w", "b"}, {"c"});
  q.output("c", {0.1F, 3});
  EXPECT_LE(q.expect(made({1, 2, 4, 5},
                          [&](auto, auto k, auto y, auto s) {
                            double sum = k == 0 ? 1 : -2;
                            for (std::int64_t d = 0; d < 3; ++d)
                              sum += x[at(in, 0, d, y, s)] * w[static_cast<std::size_t>(k * 3 + d)];
                            return sum;
                          }),
                     0.01),
            1);
}

TEST(Quantized, AveragesThatRoundUpTheirSizes) {
  QuantizedMaker q;
  const Sizes in = {1, 2, 5, 6}, out = {1, 2, 3, 3};
  const auto x = reals_of(q.input("x", in, kIn));
  auto& node = q.maker.node("AveragePool", {"x.real"}, {"a"});
  set(node, "kernel_shape", Sizes{2, 3});
  set(node, "strides", Sizes{2, 2});
  set(node, "ceil_mode", std::int64_t{1});
  q.output("a", kOut);
  EXPECT_LE(q.expect(made(out,
                          [&](auto, auto c, auto y, auto s) {
                            double sum = 0, count = 0;
                            for (std::int64_t r = y * 2; r < std::min<std::int64_t>(y * 2 + 2, 5);
                                 ++r)
                              for (std::int64_t u = s * 2; u < std::min<std::int64_t>(s * 2 + 3, 6);
                                   ++u) {
                                sum += x[at(in, 0, c, r, u)];
                                ++count;
                              }
                            return sum / count;
                          }),
                     1e-3, {.cpu = CpuUse::kAll}),
            1);
}

TEST(Quantized, ProductsOfTensorsAndSoftmaxOnTheCpu) {
  QuantizedMaker q;
  const Sizes a = {1, 2, 3, 4}, b = {1, 2, 4, 5}, out = {1, 2, 3, 5};
  const auto x = reals_of(q.input("a", a, kIn)), y = reals_of(q.input("b", b, kOther));
  q.maker.floats("f", {}, {2});
  q.maker.node("MatMul", {"a.real", "b.real"}, {"m"});
  q.maker.node("Div", {"m", "f"}, {"d"});
  q.output("d", {0.3F, 4});
  EXPECT_LE(q.expect(made(out,
                          [&](auto, auto h, auto r, auto c) {
                            double sum = 0;
                            for (std::int64_t d = 0; d < 4; ++d)
                              sum += x[at(a, 0, h, r, d)] * y[at(b, 0, h, d, c)];
                            return sum / 2;
                          }),
                     1e-3, {.cpu = CpuUse::kAll}),
            1);
  QuantizedMaker s;
  const auto z = reals_of(s.input("z", a, {0.02F, 3}));
  set(s.maker.node("Softmax", {"z.real"}, {"p"}), "axis", std::int64_t{-1});
  s.output("p", {1.0F / 256, -128});
  EXPECT_LE(s.expect(made(a,
                          [&](auto, auto h, auto r, auto c) {
                            double sum = 0;
                            for (std::int64_t d = 0; d < 4; ++d)
                              sum += std::exp(z[at(a, 0, h, r, d)]);
                            return std::exp(z[at(a, 0, h, r, c)]) / sum;
                          }),
                     1e-3, {.cpu = CpuUse::kAll}),
            1);
}

// Sums of squares of neighbouring channels, by a table: its interpolation is off by a small part of
// a step.
TEST(Quantized, LocalResponseNormalization) {
  for (const std::int64_t size : {3, 5, 7, 9}) {
    QuantizedMaker q;
    const Sizes in = {1, 40, 2, 3};
    const auto x = reals_of(q.input("x", in, {0.05F, -7}));
    auto& node = q.maker.node("LRN", {"x.real"}, {"l"});
    set(node, "size", size);
    set(node, "alpha", 0.5F);
    set(node, "beta", 0.75F);
    set(node, "bias", 2.0F);
    q.maker.node("Relu", {"l"}, {"r"});
    q.output("r", {0.02F, -100});
    const auto reals = made(in, [&](auto, auto c, auto y, auto s) {
      double squares = 0;
      for (std::int64_t k = std::max<std::int64_t>(c - size / 2, 0);
           k <= std::min<std::int64_t>(c + size / 2, 39); ++k)
        squares += std::pow(x[at(in, 0, k, y, s)], 2);
      return std::max(
          x[at(in, 0, c, y, s)] / std::pow(2 + 0.5 / static_cast<double>(size) * squares, 0.75),
          0.0);
    });
    EXPECT_LE(q.expect(reals, 0.1), 40) << size;
  }
}

TEST(Quantized, LayerNormalization) {
  QuantizedMaker q(17);
  const Sizes in = {1, 2, 3, 6};
  const auto x = reals_of(q.input("x", in, kIn));
  const std::vector<float> gamma = {1, 0.5F, -1, 2, 1.5F, 0.25F};
  q.maker.floats("g", {6}, gamma);
  q.maker.node("LayerNormalization", {"x.real", "g"}, {"n"});
  q.output("n", {0.03F, 2});
  EXPECT_LE(q.expect(made(in,
                          [&](auto, auto c, auto y, auto s) {
                            double mean = 0, variance = 0;
                            for (std::int64_t d = 0; d < 6; ++d) mean += x[at(in, 0, c, y, d)] / 6;
                            for (std::int64_t d = 0; d < 6; ++d)
                              variance += std::pow(x[at(in, 0, c, y, d)] - mean, 2) / 6;
                            return (x[at(in, 0, c, y, s)] - mean) / std::sqrt(variance + 1e-5) *
                                   static_cast<double>(gamma[static_cast<std::size_t>(s)]);
                          }),
                     1e-3, {.cpu = CpuUse::kAll}),
            1);
}

// Many channels, several cubes, and factors so far apart that weights bring them closer.
TEST(Quantized, FactorsFarApart) {
  const Sizes in = {2, 70, 3, 3};
  QuantizedMaker q;
  const auto x = reals_of(q.input("x", in, kIn));
  std::vector<float> factors, shifts;
  for (int k = 0; k < 70; ++k) {
    factors.push_back(static_cast<float>((k % 2 == 0 ? 1 : -1) * std::pow(2.0, -k / 8.0)));
    shifts.push_back(static_cast<float>(k) * 0.05F - 1.5F);
  }
  q.maker.floats("f", {70, 1, 1}, factors).floats("s", {70, 1, 1}, shifts);
  q.maker.node("Mul", {"x.real", "f"}, {"m"});
  q.maker.node("Add", {"m", "s"}, {"a"});
  q.output("a", kOut);
  EXPECT_EQ(q.maker.import().network.layers(), 1U);
  const int ties = q.expect(made(in,
                                 [&](auto n, auto c, auto y, auto s) {
                                   const auto k = static_cast<std::size_t>(c);
                                   return x[at(in, n, c, y, s)] * static_cast<double>(factors[k]) +
                                          static_cast<double>(shifts[k]);
                                 }),
                            0.02);
  EXPECT_LE(ties, 20) << "of 1260";
}

TEST(Quantized, ChannelsOfTheLeastElement) {
  for (const std::string op : {"ArgMax", "ArgMin"}) {
    QuantizedMaker q;
    const Sizes in = {1, 5, 2, 3};
    const auto x = reals_of(q.input("x", in, kIn));
    auto& node = q.maker.node(op, {"x.real"}, {"y"});
    set(node, "axis", std::int64_t{1});
    q.maker.output("y");
    const ImportedModel model = q.maker.import({.cpu = CpuUse::kAll});
    Request request = model.network.compile(Device::open("model:nv_full")).create_request();
    request.write("x", Layout::kNchw, std::span<const std::int8_t>(q.inputs["x"].elements));
    request.run();
    std::vector<std::int16_t> out(6);
    request.read("y", Layout::kNchw, std::span<std::int16_t>(out));
    for (std::int64_t i = 0; i < 6; ++i) {
      std::int64_t best = 0;
      for (std::int64_t c = 1; c < 5; ++c) {
        const double v = x[at(in, 0, c, i / 3, i % 3)], b = x[at(in, 0, best, i / 3, i % 3)];
        if (op == "ArgMax" ? v > b : v < b) best = c;
      }
      EXPECT_EQ(out[static_cast<std::size_t>(i)], best) << op << " " << i;
    }
  }
}

TEST(Quantized, Gemm) {
  QuantizedMaker q;
  const auto x = reals_of(q.input("x", {2, 4}, kIn));
  const auto w = q.kernels("w", {3, 4}, {0.01F, 0.02F, 0.005F}, 0);
  q.maker.floats("b", {3}, {1, -2, 0.5F});
  auto& node = q.maker.node("Gemm", {"x.real", "w", "b"}, {"g"});
  set(node, "transB", std::int64_t{1});
  set(node, "alpha", 0.5F);
  set(node, "beta", 2.0F);
  q.output("g", kOut);
  const double bias[] = {2, -4, 1};
  EXPECT_LE(q.expect(made({1, 1, 2, 3},
                          [&](auto, auto, auto r, auto c) {
                            double sum = 0;
                            for (std::int64_t d = 0; d < 4; ++d)
                              sum += x[static_cast<std::size_t>(r * 4 + d)] *
                                     w[static_cast<std::size_t>(c * 4 + d)];
                            return sum / 2 + bias[c];
                          }),
                     5e-3),
            1);
}

TEST(Quantized, SumsAndMeansOfSeveral) {
  const Sizes in = {1, 3, 2, 4};
  for (const std::string op : {"Sum", "Mean"}) {
    for (const int count : {2, 3, 4}) {
      QuantizedMaker q;
      std::vector<std::vector<double>> all;
      std::vector<std::string> names;
      for (int i = 0; i < count; ++i) {
        const std::string name(1, static_cast<char>('a' + i));
        // The scale of one is a multiple of the others'.
        all.push_back(reals_of(q.input(name, in, {i == 1 ? 0.1F : 0.05F, -7 + 3 * i})));
        names.push_back(name + ".real");
      }
      q.maker.node(op, names, {"s"});
      q.output("s", {0.13F, 5});
      std::vector<double> reals(24, 0);
      for (const auto& each : all)
        for (std::size_t i = 0; i < reals.size(); ++i)
          reals[i] += each[i] / (op == "Mean" ? count : 1);
      EXPECT_LE(q.expect(reals, 5e-3), 4) << op << count;
    }
  }
  QuantizedMaker q;
  q.input("a", in, kIn);
  q.input("b", in, kOther);
  q.input("c", in, {0.0417F, 0});
  q.maker.node("Sum", {"a.real", "b.real", "c.real"}, {"s"});
  q.output("s", kOut);
  EXPECT_NE(
      q.maker.refusal().find("its inputs have the scales 0.05, 0.03, 0.0417, and sums of some "
                             "of them have none; expected one scale, or multiples"),
      std::string::npos)
      << q.maker.refusal();
}

struct IntegerCase {
  bool matrix;     // MatMulInteger, else ConvInteger
  bool quantized;  // a QuantizeLinear makes the integers, else they are the model's input
};

// Integers of 32 bits with a Cast, a factor for each kernel, a bias and a QuantizeLinear.
TEST(Quantized, SumsOfInt32BecomeQuantisedLayers) {
  for (const IntegerCase& c : {IntegerCase{false, true}, {false, false}, {true, true}}) {
    QuantizedMaker q;
    const Sizes in = {1, 2, 1, 3};
    QuantizedInput& x = q.inputs["x"];
    x.quantization = c.quantized ? Quantization{0.05F, -7} : Quantization{1, -7};
    for (int i = 0; i < 6; ++i) x.elements.push_back(static_cast<std::int8_t>(i * 43 - 110));
    q.maker.floats("sx", {}, {0.05F}).integers("zx", {}, {-7}, ::onnx::TensorProto::INT8);
    q.maker.input("x", in, c.quantized ? ::onnx::TensorProto::FLOAT : ::onnx::TensorProto::INT8);
    if (c.quantized) q.maker.node("QuantizeLinear", {"x", "sx", "zx"}, {"xi"});
    const std::vector<std::int64_t> weights = {3, -127, 90, 55, -20, 7, 1, 100, -66};
    const std::vector<std::int64_t> kernels(weights.begin(), weights.begin() + (c.matrix ? 9 : 6));
    const std::vector<float> factors = {0.001F, 0.0005F, 0.002F}, bias = {1, -0.5F, 0.25F};
    q.maker.integers("w", c.matrix ? Sizes{3, 3} : Sizes{3, 2, 1, 1}, kernels,
                     ::onnx::TensorProto::INT8);
    q.maker.integers("zw", {}, {0}, ::onnx::TensorProto::INT8);
    const Sizes list = c.matrix ? Sizes{3} : Sizes{3, 1, 1};
    q.maker.floats("f", list, factors).floats("b", list, bias);
    q.maker.node(c.matrix ? "MatMulInteger" : "ConvInteger",
                 {c.quantized ? "xi" : "x", "w", "zx", "zw"}, {"s"});
    set(q.maker.node("Cast", {"s"}, {"sf"}), "to", std::int64_t{1});
    q.maker.node("Mul", {"sf", "f"}, {"m"});
    q.maker.node("Add", {"m", "b"}, {"a"});
    q.maker.node("Relu", {"a"}, {"r"});
    q.output("r", {0.11F, -100});
    if (!c.matrix) {
      EXPECT_EQ(q.maker.import().network.layers(), 1U);
    }
    const Sizes out = c.matrix ? in : Sizes{1, 3, 1, 3};
    EXPECT_LE(q.expect(made(out,
                            [&](auto, auto k, auto, auto s) {
                              const auto kernel = static_cast<std::size_t>(c.matrix ? s : k);
                              double sum = 0;
                              for (std::int64_t d = 0; d < (c.matrix ? 3 : 2); ++d) {
                                const std::size_t from =
                                    c.matrix ? at(in, 0, k, 0, d) : at(in, 0, d, 0, s);
                                const std::int64_t w =
                                    kernels[c.matrix ? static_cast<std::size_t>(d) * 3 + kernel
                                                     : kernel * 2 + static_cast<std::size_t>(d)];
                                sum += static_cast<double>((x.elements[from] + 7) * w);
                              }
                              return std::max(sum * static_cast<double>(factors[kernel]) +
                                                  static_cast<double>(bias[kernel]),
                                              0.0);
                            }),
                       5e-3, {.cpu = CpuUse::kAll}),
              1)
        << c.matrix << c.quantized;
  }
}

TEST(Quantized, SumsOfInt32AloneAreRefused) {
  ModelMaker m;
  m.input("x", {1, 2, 1, 3}, ::onnx::TensorProto::INT8).output("y");
  m.integers("w", {3, 2, 1, 1}, {1, 2, 3, 4, 5, 6}, ::onnx::TensorProto::INT8);
  m.node("ConvInteger", {"x", "w"}, {"y"}).set_name("c");
  EXPECT_NE(m.refusal().find("node 'c' (ConvInteger): its results are int32, which have no scale; "
                             "put a Cast to float, a Mul with a constant scale and a "
                             "QuantizeLinear behind it"),
            std::string::npos)
      << m.refusal();
}

TEST(Quantized, ZeroPointsOfIntegerKernelsAreRefused) {
  ModelMaker m;
  m.input("x", {1, 2, 1, 3}, ::onnx::TensorProto::INT8).output("y");
  m.integers("w", {3, 2, 1, 1}, {1, 2, 3, 4, 5, 6}, ::onnx::TensorProto::INT8);
  m.integers("zx", {}, {0}, ::onnx::TensorProto::INT8);
  m.integers("zw", {3}, {0, 5, 0}, ::onnx::TensorProto::INT8);
  m.floats("f", {}, {0.01F});
  m.node("ConvInteger", {"x", "w", "zx", "zw"}, {"s"});
  set(m.node("Cast", {"s"}, {"r"}), "to", std::int64_t{1});
  m.node("QuantizeLinear", {"r", "f", "zx"}, {"y"});
  EXPECT_NE(m.refusal().find("its kernels have a zero point of 5, which the multipliers do not "
                             "have"),
            std::string::npos)
      << m.refusal();
}

// Nodes behind a convolution go into its scales.
TEST(Quantized, AffineOperatorsGoIntoTheConvolution) {
  QuantizedMaker q;
  const Sizes in = {1, 2, 2, 3}, w = {3, 2, 1, 1};
  const auto x = reals_of(q.input("x", in, kIn));
  const auto kernels = q.kernels("w", w, {0.01F, 0.02F, 0.015F}, 0);
  const std::vector<float> factors = {0.5F, -2, 1.25F}, shifts = {1, 0.25F, -1};
  q.maker.floats("f", {3, 1, 1}, factors).floats("s", {3, 1, 1}, shifts).floats("h", {}, {0.5F});
  q.maker.node("Conv", {"x.real", "w"}, {"c"});
  q.maker.node("Mul", {"c", "f"}, {"m"});
  q.maker.node("Add", {"s", "m"}, {"a"});
  q.maker.node("Relu", {"a"}, {"r"});
  q.maker.node("Mul", {"r", "h"}, {"t"});
  q.output("t", kOut);
  EXPECT_EQ(q.maker.import().network.layers(), 1U);
  const Sizes out = {1, 3, 2, 3};
  EXPECT_LE(q.expect(made(out,
                          [&](auto, auto k, auto y, auto s) {
                            double sum = 0;
                            for (std::int64_t c = 0; c < 2; ++c)
                              sum += x[at(in, 0, c, y, s)] *
                                     kernels[static_cast<std::size_t>(k * 2 + c)];
                            const auto kernel = static_cast<std::size_t>(k);
                            return std::max(sum * static_cast<double>(factors[kernel]) +
                                                static_cast<double>(shifts[kernel]),
                                            0.0) /
                                   2;
                          }),
                     5e-3),
            1);
}

// A single number is a table, unless numbers of channels follow.
TEST(Quantized, SingleNumbersJoinThoseOfChannels) {
  QuantizedMaker q;
  const Sizes in = {1, 3, 2, 4};
  const auto x = reals_of(q.input("x", in, kIn));
  const std::vector<float> list = {0.5F, -1.25F, 1.9F};
  q.maker.floats("c", {3, 1, 1}, list).floats("h", {}, {0.5F});
  q.maker.node("Mul", {"x.real", "h"}, {"m"});
  q.maker.node("Add", {"m", "c"}, {"a"});
  q.output("a", kOut);
  EXPECT_EQ(q.maker.import().network.layers(), 1U);
  EXPECT_LE(q.expect(made(in,
                          [&](auto, auto k, auto y, auto s) {
                            return x[at(in, 0, k, y, s)] / 2 +
                                   static_cast<double>(list[static_cast<std::size_t>(k)]);
                          }),
                     0.01),
            1);
}

TEST(Quantized, ValuesThatAreReadTwiceKeepTheirScale) {
  QuantizedMaker q;
  const Sizes in = {1, 16, 1, 2};
  const auto x = reals_of(q.input("x", in, kIn));
  const auto z = reals_of(q.input("z", in, kOther));
  q.maker.node("Concat", {"x.real", "z.real"}, {"c"});
  q.quantize("c", "cq", {0.4F, 0});
  q.maker.output("cq");
  q.maker.node("Neg", {"x.real"}, {"n"});
  q.output("n", kOut);
  EXPECT_EQ(
      q.expect(made(in, [&](auto n, auto c, auto y, auto s) { return -x[at(in, n, c, y, s)]; })),
      0);
}

// Operators one behind another, each rounded by its QuantizeLinear. Steps are rounded on their own,
// so that a result may be one beside what they give together.
TEST(Quantized, OperatorsInARow) {
  QuantizedMaker q;
  const Sizes in = {1, 4, 6, 6};
  const auto x = reals_of(q.input("x", in, {0.02F, 3}));
  const auto w = q.kernels("w", {4, 1, 3, 3}, {0.01F, 0.004F, 0.006F, 0.008F}, 0);
  const auto dense = q.kernels("g", {4, 3}, {0.01F, 0.02F, 0.015F}, 1);
  const auto rounded = [&](const std::string& from, const std::string& to,
                           const Quantization& quantization, std::vector<double>& values) {
    q.quantize(from, to + ".q", quantization);
    q.maker.node("DequantizeLinear", {to + ".q", to + ".q.scale", to + ".q.zero"}, {to});
    const auto scale = static_cast<double>(quantization.scale);
    for (double& v : values)
      v = (std::clamp(std::round(v / scale) + quantization.zero_point, -128.0, 127.0) -
           quantization.zero_point) *
          scale;
  };
  // A depthwise convolution.
  auto& conv = q.maker.node("Conv", {"x.real", "w"}, {"c"});
  set(conv, "group", std::int64_t{4});
  set(conv, "pads", Sizes{1, 1, 1, 1});
  auto values = made(in, [&](auto, auto c, auto y, auto s) {
    double sum = 0;
    for (std::int64_t r = -1; r <= 1; ++r)
      for (std::int64_t u = -1; u <= 1; ++u)
        if (y + r >= 0 && y + r < 6 && s + u >= 0 && s + u < 6)
          sum += x[at(in, 0, c, y + r, s + u)] *
                 w[static_cast<std::size_t>((c * 3 + r + 1) * 3 + u + 1)];
    return sum;
  });
  rounded("c", "c.real", {0.04F, 2}, values);
  // Slopes for each channel.
  const std::vector<float> slopes = {0.25F, 1.5F, -0.5F, 0};
  q.maker.floats("slopes", {4, 1, 1}, slopes);
  q.maker.node("PRelu", {"c.real", "slopes"}, {"p"});
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] < 0) values[i] *= static_cast<double>(slopes[i / 36]);
  rounded("p", "p.real", {0.04F, -20}, values);
  // A gate for each channel.
  auto& mean = q.maker.node("ReduceMean", {"p.real"}, {"m"});
  set(mean, "axes", Sizes{2, 3});
  std::vector<double> means(4, 0);
  for (std::size_t i = 0; i < values.size(); ++i) means[i / 36] += values[i] / 36;
  rounded("m", "m.real", {0.01F, -5}, means);
  q.maker.node("Sigmoid", {"m.real"}, {"s"});
  for (double& v : means) v = 1 / (1 + std::exp(-v));
  rounded("s", "s.real", {1.0F / 256, -128}, means);
  q.maker.node("Mul", {"p.real", "s.real"}, {"t"});
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= means[i / 36];
  rounded("t", "t.real", {0.03F, -30}, values);
  // The greatest of each channel, without its axes, and a product.
  auto& greatest = q.maker.node("ReduceMax", {"t.real"}, {"a"});
  set(greatest, "axes", Sizes{2, 3});
  set(greatest, "keepdims", std::int64_t{0});
  std::vector<double> most(4, -1e9);
  for (std::size_t i = 0; i < values.size(); ++i) most[i / 36] = std::max(most[i / 36], values[i]);
  rounded("a", "a.real", {0.03F, -30}, most);
  q.maker.node("MatMul", {"a.real", "g"}, {"o"});
  q.output("o", {0.02F, 0});
  EXPECT_LE(q.expect(made({1, 1, 1, 3},
                          [&](auto, auto, auto, auto k) {
                            double sum = 0;
                            for (std::int64_t d = 0; d < 4; ++d)
                              sum += most[static_cast<std::size_t>(d)] *
                                     dense[static_cast<std::size_t>(d * 3 + k)];
                            return sum;
                          }),
                     0.01, {}, {"nv_full", "nv_large"}),
            1);
}

}  // namespace
}  // namespace nvdla::import_test
