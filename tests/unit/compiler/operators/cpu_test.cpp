// SPDX-License-Identifier: MIT
//
// Layers that the CPU computes between two programs, each against its definition in long doubles,
// and how runs of such networks end.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/property.hpp"
#include "common/share.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/half.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {
namespace {

using Real = long double;

// A cube of elements as they are: integers, or bits of fp16.
struct Cube {
  Shape shape;
  Precision precision = Precision::kInt8;
  Quantization quantization;
  std::vector<std::int32_t> elements;  // NCHW

  std::size_t index(std::uint32_t n, std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
    return ((std::size_t{n} * shape.channels + c) * shape.height + y) * shape.width + x;
  }
  Real real(std::size_t i) const {
    if (precision == Precision::kFp16)
      return Real{from_half(static_cast<std::uint16_t>(elements[i]))} * quantization.scale;
    return Real(elements[i] - quantization.zero_point) * quantization.scale;
  }
};

// What integers an element may be: two where it is so near to halfway that doubles cannot tell.
struct Allowed {
  std::int32_t low = 0, high = 0;
};

Allowed element(Real real, Precision precision, const Quantization& q) {
  const Real steps = real / q.scale;
  const Real slack = std::max(fabsl(steps), Real{1}) * 1e-12L;
  const auto rounded = [&](Real value) -> std::int32_t {
    if (precision == Precision::kFp16) return to_half(static_cast<double>(value));
    const Real low = precision == Precision::kInt8 ? -128 : -32768;
    return static_cast<std::int32_t>(std::clamp(roundl(value) + q.zero_point, low, -low - 1));
  };
  return {rounded(steps - slack), rounded(steps + slack)};
}

class Rig {
 public:
  Rig(test::Random& random, Precision precision, bool small = false)
      : random_(random), precision_(precision), small_(small) {}

  Quantization quantization() {
    const auto scale = std::ldexp(static_cast<float>(random_.pick(100, 199)), -12);
    if (precision_ == Precision::kFp16) return {};
    return {scale, static_cast<std::int32_t>(random_.pick(-20, 20))};
  }

  Cube cube(const Shape& shape) {
    Cube cube{shape, precision_, quantization(), {}};
    test::Random random = random_.fork();
    for (std::size_t i = 0; i < shape.elements(); ++i) {
      std::int64_t value = random.pick(-127, 127);
      if (precision_ == Precision::kInt16) value *= small_ ? 1 : 41;
      if (precision_ == Precision::kFp16) value = to_half(std::ldexp(double(value), -6));
      cube.elements.push_back(static_cast<std::int32_t>(value));
    }
    return cube;
  }

  Shape shape() {
    return {.channels = size(70), .height = size(5), .width = size(6), .batch = size(2)};
  }
  std::uint32_t size(std::int64_t most) {
    return static_cast<std::uint32_t>(random_.pick(1, most));
  }

 private:
  test::Random& random_;
  Precision precision_;
  bool small_;
};

template <typename T>
void write_as(Request& request, const std::string& name, const Cube& cube) {
  const std::vector<T> data(cube.elements.begin(), cube.elements.end());
  request.write(name, Layout::kNchw, std::span(data));
}

void write(Request& request, const std::string& name, const Cube& cube) {
  if (cube.precision == Precision::kInt8) return write_as<std::int8_t>(request, name, cube);
  if (cube.precision == Precision::kInt16) return write_as<std::int16_t>(request, name, cube);
  write_as<std::uint16_t>(request, name, cube);
}

template <typename T>
std::vector<std::int32_t> read_as(const Request& request, std::size_t count) {
  std::vector<T> data(count);
  request.read("out", Layout::kNchw, std::span(data));
  return {data.begin(), data.end()};
}

std::vector<std::int32_t> read(const Request& request) {
  const TensorDesc& desc = request.network().desc("out");
  const std::size_t count = desc.shape.elements();
  if (desc.precision == Precision::kInt8) return read_as<std::int8_t>(request, count);
  if (desc.precision == Precision::kInt16) return read_as<std::int16_t>(request, count);
  return read_as<std::uint16_t>(request, count);
}

std::string compare(const std::vector<std::int32_t>& found, const std::vector<Allowed>& expected) {
  if (found.size() != expected.size()) return "sizes differ";
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != expected[i].low && found[i] != expected[i].high)
      return "element " + std::to_string(i) + ": " + std::to_string(found[i]) + ", expected " +
             std::to_string(expected[i].low);
  return {};
}

// A network of one layer of the CPU, from "in", "in2", ... to "out".
std::string wrong(const std::vector<Cube>& inputs,
                  const std::function<Tensor(Network&, const std::vector<Tensor>&)>& add,
                  const std::vector<Allowed>& expected, const std::string& device) {
  Network net;
  std::vector<Tensor> tensors;
  std::vector<std::string> names;
  for (const Cube& cube : inputs) {
    names.push_back(names.empty() ? "in" : "in" + std::to_string(names.size() + 1));
    tensors.push_back(net.input(names.back(), cube.shape, cube.precision, cube.quantization));
  }
  net.output(add(net, tensors), "out");
  Request request = net.build(Device::open(device));
  for (std::size_t i = 0; i < inputs.size(); ++i) write(request, names[i], inputs[i]);
  request.run();
  return compare(read(request), expected);
}

constexpr Precision kPrecisions[] = {Precision::kInt8, Precision::kInt16, Precision::kFp16};

Precision any_precision(test::Random& random) { return kPrecisions[random.pick(0, 2)]; }
std::string any_device(test::Random& random) {
  return random.pick(0, 1) == 0 ? "model:nv_full" : "model:nv_small";
}

// Calls with the channels of each position, and puts what they become.
std::vector<Allowed> by_column(const Cube& in, const Quantization& to,
                               const std::function<void(std::vector<Real>&)>& change) {
  std::vector<Allowed> all(in.elements.size());
  const Shape& s = in.shape;
  for (std::uint32_t n = 0; n < s.batch; ++n)
    for (std::uint32_t y = 0; y < s.height; ++y)
      for (std::uint32_t x = 0; x < s.width; ++x) {
        std::vector<Real> column;
        for (std::uint32_t c = 0; c < s.channels; ++c)
          column.push_back(in.real(in.index(n, c, y, x)));
        change(column);
        for (std::uint32_t c = 0; c < s.channels; ++c)
          all[in.index(n, c, y, x)] = element(column[c], in.precision, to);
      }
  return all;
}

TEST(CpuLayers, SoftmaxIsTheRoundedOne) {
  test::for_all(test::share(120), [](test::Random& random) {
    const Precision precision = any_precision(random);
    Rig rig(random, precision, true);
    const Cube in = rig.cube(rig.shape());
    const Quantization to = precision == Precision::kInt8    ? Quantization{1 / 256.0F, -128}
                            : precision == Precision::kInt16 ? Quantization{1 / 32768.0F, 0}
                                                             : Quantization{};
    const auto expected = by_column(in, to, [](std::vector<Real>& column) {
      const Real greatest = *std::max_element(column.begin(), column.end());
      Real sum = 0;
      for (Real& value : column) sum += value = expl(value - greatest);
      for (Real& value : column) value /= sum;
    });
    return wrong(
        {in}, [](Network& net, const auto& t) { return net.softmax(t[0], {.name = "softmax"}); },
        expected, any_device(random));
  });
}

TEST(CpuLayers, LayerNormalizationIsTheRoundedOne) {
  test::for_all(test::share(120), [](test::Random& random) {
    Rig rig(random, any_precision(random));
    const Cube in = rig.cube(rig.shape());
    const Quantization to = rig.quantization();
    std::vector<float> gamma, beta;
    if (random.pick(0, 2) != 0) {
      for (std::uint32_t c = 0; c < in.shape.channels; ++c) {
        gamma.push_back(static_cast<float>(random.pick(-50, 50)) / 32);
        beta.push_back(static_cast<float>(random.pick(-50, 50)) / 64);
      }
    }
    const double epsilon = random.pick(0, 1) == 0 ? 1e-5 : 0.01;
    const auto expected = by_column(in, to, [&](std::vector<Real>& column) {
      Real mean = 0, squares = 0;
      for (const Real value : column) mean += value / static_cast<Real>(column.size());
      for (const Real value : column)
        squares += (value - mean) * (value - mean) / static_cast<Real>(column.size());
      for (std::size_t c = 0; c < column.size(); ++c) {
        column[c] = (column[c] - mean) / sqrtl(squares + epsilon);
        if (!gamma.empty()) column[c] = column[c] * gamma[c] + beta[c];
      }
    });
    return wrong(
        {in},
        [&](Network& net, const auto& t) {
          return net.layer_normalization(
              t[0],
              {.name = "norm", .output = to, .gamma = gamma, .beta = beta, .epsilon = epsilon});
        },
        expected, any_device(random));
  });
}

TEST(CpuLayers, InstanceNormalizationIsTheRoundedOne) {
  test::for_all(test::share(120), [](test::Random& random) {
    Rig rig(random, any_precision(random));
    const Cube in = rig.cube(rig.shape());
    const Shape& s = in.shape;
    const Quantization to = rig.quantization();
    std::vector<float> gamma, beta;
    const bool has_operands = random.pick(0, 2) != 0;
    for (std::uint32_t c = 0; has_operands && c < s.channels; ++c) {
      gamma.push_back(static_cast<float>(random.pick(-50, 50)) / 32);
      beta.push_back(static_cast<float>(random.pick(-50, 50)) / 64);
    }
    const double epsilon = random.pick(0, 1) == 0 ? 1e-5 : 0.01;
    std::vector<Allowed> expected(in.elements.size());
    for (std::uint32_t n = 0; n < s.batch; ++n)
      for (std::uint32_t c = 0; c < s.channels; ++c) {
        const std::size_t first = in.index(n, c, 0, 0);
        const std::size_t count = std::size_t{s.height} * s.width;
        Real mean = 0, squares = 0;
        for (std::size_t i = first; i < first + count; ++i)
          mean += in.real(i) / static_cast<Real>(count);
        for (std::size_t i = first; i < first + count; ++i)
          squares += (in.real(i) - mean) * (in.real(i) - mean) / static_cast<Real>(count);
        for (std::size_t i = first; i < first + count; ++i) {
          Real value = (in.real(i) - mean) / sqrtl(squares + epsilon);
          if (!gamma.empty()) value = value * gamma[c] + beta[c];
          expected[i] = element(value, in.precision, to);
        }
      }
    return wrong(
        {in},
        [&](Network& net, const auto& t) {
          return net.instance_normalization(
              t[0],
              {.name = "norm", .output = to, .gamma = gamma, .beta = beta, .epsilon = epsilon});
        },
        expected, any_device(random));
  });
}

TEST(CpuLayers, FunctionsOfElementsAreTheRoundedOnes) {
  test::for_all(test::share(60), [](test::Random& random) {
    Rig rig(random, any_precision(random));
    const Cube in = rig.cube(rig.shape());
    const Quantization to = rig.quantization();
    std::vector<Allowed> expected;
    for (std::size_t i = 0; i < in.elements.size(); ++i) {
      const Real x = in.real(i);
      expected.push_back(element(x * erfcl(-x / sqrtl(2)) / 2, in.precision, to));
    }
    return wrong(
        {in},
        [&](Network& net, const auto& t) {
          return net.apply(t[0], {.name = "gelu", .output = to, .function = gelu});
        },
        expected, any_device(random));
  });
}

// What is exactly halfway, just beside it, beyond all steps, or no number.
TEST(CpuLayers, HalvesGoAwayFromZeroAndTheRestSaturates) {
  constexpr std::int32_t kFar = 1 << 20;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double below = std::nextafter(0.5, 0.0), above = std::nextafter(0.5, 1.0);
  const std::vector<std::pair<double, std::int32_t>> rows = {
      {0.5, 1},         {below, 0},         {above, 1},         {1.5, 2},
      {-0.5, -1},       {-below, 0},        {-above, -1},       {-1.5, -2},
      {126.5, 127},     {127.5, 128},       {-127.5, -128},     {-128.5, -129},
      {32766.5, 32767}, {32767.5, 32768},   {-32767.5, -32768}, {-32768.5, -32769},
      {1e300, kFar},    {kInfinity, kFar},  {kFar, kFar},       {std::nan(""), 0},
      {-1e300, -kFar},  {-kInfinity, -kFar}};
  const auto value = [&](double x) {
    return x >= 0 && x < static_cast<double>(rows.size()) ? rows[static_cast<std::size_t>(x)].first
                                                          : 0;
  };
  for (const Precision precision : {Precision::kInt8, Precision::kInt16}) {
    for (const std::int32_t zero_point : {0, 5, -7}) {
      Cube in{{static_cast<std::uint32_t>(rows.size()), 1, 1}, precision, {}, {}};
      std::vector<Allowed> expected;
      const std::int32_t low = precision == Precision::kInt8 ? -128 : -32768;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        in.elements.push_back(static_cast<std::int32_t>(i));
        const std::int32_t element = std::clamp(rows[i].second + zero_point, low, -low - 1);
        expected.push_back({element, element});
      }
      const auto add = [&](Network& net, const auto& t) {
        return net.apply(t[0], {.name = "f", .output = {1, zero_point}, .function = value});
      };
      EXPECT_EQ(wrong({in}, add, expected, "model:nv_full"), "")
          << static_cast<int>(precision) << " " << zero_point;
    }
  }
}

TEST(CpuLayers, PowersAreTheRoundedOnes) {
  test::for_all(test::share(60), [](test::Random& random) {
    Rig rig(random, any_precision(random));
    const Cube in = rig.cube(rig.shape());
    const Quantization to = rig.quantization();
    const float power = random.pick(0, 1) == 0 ? 2.0F : 1.0F;
    const std::vector<Allowed> expected = by_column(in, to, [&](std::vector<Real>& column) {
      for (Real& value : column) {
        const Real base = 0.25L + 1.5L * value;
        value = power == 2 ? base * base : base;
      }
    });
    return wrong(
        {in},
        [&](Network& net, const auto& t) {
          return net.power(
              t[0], {.name = "power", .output = to, .power = power, .scale = 1.5F, .shift = 0.25F});
        },
        expected, any_device(random));
  });
}

TEST(CpuLayers, ProductsOfTensorsAreTheRoundedOnes) {
  test::for_all(test::share(120), [](test::Random& random) {
    Rig rig(random, any_precision(random), true);
    const bool transposed = random.pick(0, 1) == 1;
    const Shape a = rig.shape();
    Shape b = {
        .channels = rig.size(40), .height = rig.size(4), .width = rig.size(4), .batch = a.batch};
    if (transposed) {
      b.channels = a.channels;
    } else {
      b.height = 1;
      b.width = a.channels;
    }
    const Cube first = rig.cube(a), second = rig.cube(b);
    const Quantization to = rig.quantization();
    const std::uint32_t positions = b.height * b.width;
    const std::uint32_t columns = transposed ? positions : b.channels;
    Cube out{{columns, a.height, a.width, a.batch}, first.precision, to, {}};
    std::vector<Allowed> expected(out.shape.elements());
    for (std::uint32_t n = 0; n < a.batch; ++n)
      for (std::uint32_t j = 0; j < columns; ++j)
        for (std::uint32_t y = 0; y < a.height; ++y)
          for (std::uint32_t x = 0; x < a.width; ++x) {
            Real sum = 0;
            for (std::uint32_t i = 0; i < a.channels; ++i) {
              const std::uint32_t c = transposed ? i : j, p = transposed ? j : i;
              sum += first.real(first.index(n, i, y, x)) *
                     second.real(second.index(n, c, p / b.width, p % b.width));
            }
            expected[out.index(n, j, y, x)] = element(sum * 0.125L, first.precision, to);
          }
    return wrong(
        {first, second},
        [&](Network& net, const auto& t) {
          return net.product(
              t[0], t[1],
              {.name = "product", .output = to, .transposed = transposed, .factor = 0.125});
        },
        expected, any_device(random));
  });
}

TEST(CpuLayers, ArgmaxIsTheFirstOfTheGreatest) {
  test::for_all(test::share(60), [](test::Random& random) {
    const Precision precision = any_precision(random);
    Rig rig(random, precision);
    Cube in = rig.cube(rig.shape());
    // Many that are equal.
    if (precision != Precision::kFp16)
      for (std::int32_t& value : in.elements) value /= 40;
    const Precision result = random.pick(0, 1) == 0 ? Precision::kInt8 : Precision::kInt16;
    Cube out{in.shape, result, {}, {}};
    out.shape.channels = 1;
    std::vector<Allowed> expected(out.shape.elements());
    for (std::uint32_t n = 0; n < in.shape.batch; ++n)
      for (std::uint32_t y = 0; y < in.shape.height; ++y)
        for (std::uint32_t x = 0; x < in.shape.width; ++x) {
          std::int32_t best = 0;
          for (std::uint32_t c = 1; c < in.shape.channels; ++c)
            if (in.real(in.index(n, c, y, x)) >
                in.real(in.index(n, static_cast<std::uint32_t>(best), y, x)))
              best = static_cast<std::int32_t>(c);
          expected[out.index(n, 0, y, x)] = {best, best};
        }
    return wrong(
        {in},
        [&](Network& net, const auto& t) {
          return net.argmax(t[0], {.name = "class", .precision = result});
        },
        expected, any_device(random));
  });
}

TEST(CpuLayers, NansAreLeast) {
  const std::uint16_t nan = 0x7e00, low = to_half(-3), high = to_half(2);
  const Cube in{{4, 1, 4},
                Precision::kFp16,
                {},
                {nan, nan, low, nan,     //
                 low, nan, high, high,   //
                 nan, nan, nan, 0xfe00,  //
                 low, nan, nan, high}};
  EXPECT_EQ(
      wrong(
          {in}, [](Network& net, const auto& t) { return net.argmax(t[0], {.name = "class"}); },
          {{1, 1}, {0, 0}, {1, 1}, {1, 1}}, "model:nv_full"),
      "");
}

TEST(CpuLayers, TransposesMoveElementsAsTheyAre) {
  test::for_all(test::share(60), [](test::Random& random) {
    Rig rig(random, any_precision(random));
    const Cube in = rig.cube(rig.shape());
    std::array<Axis, 3> order = {Axis::kChannels, Axis::kHeight, Axis::kWidth};
    for (std::int64_t i = random.pick(0, 5); i > 0; --i)
      std::next_permutation(order.begin(), order.end());
    const auto side = [](const Shape& s, Axis axis) {
      return axis == Axis::kChannels ? s.channels : axis == Axis::kHeight ? s.height : s.width;
    };
    Cube out = in;
    out.shape = {side(in.shape, order[0]), side(in.shape, order[1]), side(in.shape, order[2]),
                 in.shape.batch};
    std::vector<Allowed> expected(out.elements.size());
    for (std::uint32_t n = 0; n < in.shape.batch; ++n)
      for (std::uint32_t c = 0; c < in.shape.channels; ++c)
        for (std::uint32_t y = 0; y < in.shape.height; ++y)
          for (std::uint32_t x = 0; x < in.shape.width; ++x) {
            const auto at = [&](Axis axis) {
              return axis == Axis::kChannels ? c : axis == Axis::kHeight ? y : x;
            };
            const std::int32_t value = in.elements[in.index(n, c, y, x)];
            expected[out.index(n, at(order[0]), at(order[1]), at(order[2]))] = {value, value};
          }
    return wrong(
        {in},
        [&](Network& net, const auto& t) {
          return net.transpose(t[0], {.name = "turned", .order = order});
        },
        expected, any_device(random));
  });
}

}  // namespace
}  // namespace nvdla
