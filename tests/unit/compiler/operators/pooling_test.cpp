// SPDX-License-Identifier: MIT
//
// Poolings in networks, alone and behind SDP and convolutions, against one window at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/values.hpp"
#include "common/share.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Values;

// The window of one output element. No window is padded on both sides of a direction.
struct Window {
  const Values& in;
  const Pooling& p;
  std::size_t plane;  // of the input
  std::int64_t y, x;  // of the first element, in the padding or not

  bool inside(std::int64_t r, std::int64_t s) const {
    return r >= 0 && r < in.shape.height && s >= 0 && s < in.shape.width;
  }
  std::int32_t at(std::int64_t r, std::int64_t s) const {
    return in.data[(plane * in.shape.height + static_cast<std::size_t>(r)) * in.shape.width +
                   static_cast<std::size_t>(s)];
  }
};

std::int32_t extreme(const Window& w) {
  const bool largest = w.p.method == NVDLA_POOL_MAX;
  bool first = true;
  std::int32_t best = 0;
  for (std::int64_t r = w.y; r < w.y + w.p.kernel_height; ++r) {
    for (std::int64_t s = w.x; s < w.x + w.p.kernel_width; ++s) {
      if (!w.inside(r, s)) continue;
      const std::int32_t v = w.at(r, s);
      if (first) {
        best = v;
      } else if (w.in.precision == Precision::kFp16) {
        const auto a = static_cast<std::uint32_t>(best), b = static_cast<std::uint32_t>(v);
        best = static_cast<std::int32_t>(largest ? test::float_max(test::kHalf, a, b)
                                                 : test::float_min(test::kHalf, a, b));
      } else {
        best = largest ? std::max(best, v) : std::min(best, v);
      }
      first = false;
    }
  }
  return best;
}

std::int32_t integer_average(const Window& w) {
  std::int64_t sum = 0;
  for (std::int64_t r = w.y; r < w.y + w.p.kernel_height; ++r) {
    for (std::int64_t s = w.x; s < w.x + w.p.kernel_width; ++s) {
      sum += w.inside(r, s) ? w.at(r, s) : static_cast<std::int32_t>(w.p.pad_value);
    }
  }
  const auto reciprocal = [](std::uint32_t n) { return 65536 / n; };
  const __int128 a = test::round_shift(sum * reciprocal(w.p.kernel_width), 16);
  return static_cast<std::int32_t>(
      test::saturate(test::round_shift(a * reciprocal(w.p.kernel_height), 16),
                     w.in.precision == Precision::kInt8 ? 8 : 16));
}

// Rows from the left, their padding after them; then rows from above, and theirs.
std::int32_t half_average(const Window& w) {
  const auto fp17 = [](double v) {
    return test::float_bits(test::kFp17, std::signbit(v), std::fabs(v));
  };
  std::uint32_t sum = 0;
  bool first_row = true;
  std::int64_t missing_rows = 0;
  for (std::int64_t r = w.y; r < w.y + w.p.kernel_height; ++r) {
    if (r < 0 || r >= w.in.shape.height) {
      ++missing_rows;
      continue;
    }
    std::uint32_t row = 0;
    bool first = true;
    int missing = 0;
    for (std::int64_t s = w.x; s < w.x + w.p.kernel_width; ++s) {
      if (!w.inside(r, s)) {
        ++missing;
        continue;
      }
      const std::uint32_t v =
          test::float_convert(test::kHalf, test::kFp17, static_cast<std::uint32_t>(w.at(r, s)));
      row = first ? v : test::float_add(test::kFp17, row, v);
      first = false;
    }
    if (missing != 0) row = test::float_add(test::kFp17, row, fp17(missing * w.p.pad_value));
    sum = first_row ? row : test::float_add(test::kFp17, row, sum);
    first_row = false;
  }
  if (missing_rows != 0) {
    const std::uint32_t pad =
        test::float_mul(test::kFp17, fp17(static_cast<double>(missing_rows) * w.p.pad_value),
                        fp17(w.p.kernel_width));
    sum = test::float_add(test::kFp17, sum, pad);
  }
  sum = test::float_mul(test::kFp17, sum, fp17(1.0 / w.p.kernel_width));
  sum = test::float_mul(test::kFp17, sum, fp17(1.0 / w.p.kernel_height));
  return static_cast<std::int32_t>(test::float_convert(test::kFp17, test::kHalf, sum));
}

Values pool(const Values& in, const Pooling& p) {
  Shape out = in.shape;
  out.height = (p.pad_top + out.height + p.pad_bottom - p.kernel_height) / p.stride_height + 1;
  out.width = (p.pad_left + out.width + p.pad_right - p.kernel_width) / p.stride_width + 1;
  Values result(out, in.precision);
  std::size_t i = 0;
  for (std::size_t plane = 0; plane < std::size_t{out.batch} * out.channels; ++plane) {
    for (std::uint32_t y = 0; y < out.height; ++y) {
      for (std::uint32_t x = 0; x < out.width; ++x) {
        const Window w{in, p, plane, std::int64_t{y} * p.stride_height - p.pad_top,
                       std::int64_t{x} * p.stride_width - p.pad_left};
        if (p.method != NVDLA_POOL_AVERAGE) {
          result.data[i++] = extreme(w);
        } else {
          result.data[i++] =
              in.precision == Precision::kFp16 ? half_average(w) : integer_average(w);
        }
      }
    }
  }
  return result;
}

Pooling random_pooling(const Shape& shape, Precision precision, test::Random& random) {
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(random.pick(low, high));
  };
  Pooling p{.name = "pool", .method = static_cast<nvdla_pool>(random() % 3)};
  p.kernel_height = pick(1, std::min(shape.height, 8U));
  p.kernel_width = pick(1, std::min(shape.width, 8U));
  p.stride_height = test::one_in(random, 2) ? pick(1, 16) : 1;
  p.stride_width = test::one_in(random, 2) ? pick(1, 16) : 1;
  p.pad_top = pick(0, p.kernel_height - 1);
  p.pad_bottom = pick(0, p.kernel_height - 1);
  p.pad_left = pick(0, p.kernel_width - 1);
  p.pad_right = pick(0, p.kernel_width - 1);
  if (p.method == NVDLA_POOL_AVERAGE) {
    p.pad_value = static_cast<int>(pick(0, 255)) - 128;
    if (precision == Precision::kFp16) p.pad_value /= 3;
  }
  return p;
}

void check_pooling(const Device& device, Precision precision, test::Random& random) {
  const auto any = [&](int most) { return static_cast<std::uint32_t>(random.pick(1, most)); };
  const Shape shape{any(40), any(20), any(test::one_in(random, 4) ? 200 : 20),
                    test::one_in(random, 4) ? 2U : 1U};
  const Values in = test::random_tensor(shape, precision, random);
  const Pooling p = random_pooling(shape, precision, random);
  SCOPED_TRACE(testing::Message() << "method " << p.method << " of " << shape.channels << "x"
                                  << shape.height << "x" << shape.width << " kernel "
                                  << p.kernel_height << "x" << p.kernel_width << " stride "
                                  << p.stride_height << "x" << p.stride_width << " pad "
                                  << p.pad_top << " " << p.pad_bottom << " " << p.pad_left << " "
                                  << p.pad_right);
  Network net;
  net.output(net.pooling(net.input("in", shape, precision), p), "out");
  ASSERT_EQ(test::run_one(net, device, in), pool(in, p));
}

class Poolings : public ::testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(All, Poolings,
                         ::testing::Values(Precision::kInt8, Precision::kInt16, Precision::kFp16),
                         test::name_of_precision);

TEST_P(Poolings, RandomFromMemory) {
  const Device device = Device::open("model:nv_full");
  test::expect_for_all(test::share(80),
                       [&](test::Random& random) { check_pooling(device, GetParam(), random); });
}

// The same result, and one layer fewer where SDP can hand on what it makes.
TEST_P(Poolings, BehindSdp) {
  const Device device = Device::open("model:nv_full");
  unsigned fused = 0;
  const unsigned drawn = test::expect_for_all(40, [&](test::Random& random) {
    const auto any = [&](int most) { return static_cast<std::uint32_t>(random.pick(1, most)); };
    const Shape shape{any(40), any(12), any(30), test::one_in(random, 4) ? 2U : 1U};
    const Values in = test::random_tensor(shape, GetParam(), random);
    const Pooling p = random_pooling(shape, GetParam(), random);
    Network net;
    const Tensor positive =
        net.pointwise(net.input("in", shape, GetParam()), {.name = "relu", .x1 = relu()});
    net.output(net.pooling(positive, p), "out");
    Values middle = in;
    for (std::int32_t& v : middle.data) {
      if (GetParam() == Precision::kFp16 ? (v & 0x8000) != 0 : v < 0) v = 0;
    }
    std::uint32_t layers = 0;
    ASSERT_EQ(test::run_one(net, device, in, &layers), pool(middle, p));
    if (layers == shape.batch) ++fused;
  });
  EXPECT_GT(fused, drawn / 8);
  EXPECT_LT(fused, drawn);
}

TEST(Pooling, SecondGeneration) {
  for (const char* name : {"nv_small", "nv_medium_512", "nv_large"}) {
    SCOPED_TRACE(name);
    const Device device = Device::open(std::string("model:") + name);
    test::expect_for_all(test::share(20), [&](test::Random& random) {
      check_pooling(device, Precision::kInt8, random);
    });
  }
}

TEST(Pooling, BehindAConvolution) {
  for (const char* name : {"nv_small", "nv_full"}) {
    SCOPED_TRACE(name);
    const test::Int8 in = test::random_cube(12, 9, 10, 121);
    const auto weights = test::random_values<std::int8_t>(20 * 12 * 9, 122, -128, 127);
    Network net;
    Convolution c{.name = "conv", .kernels = 20, .kernel_height = 3, .kernel_width = 3};
    c.weights = weights;
    c.output = {.scale = 1, .shift = 9};
    const Pooling p{.name = "pool",
                    .method = NVDLA_POOL_AVERAGE,
                    .kernel_height = 3,
                    .kernel_width = 2,
                    .stride_height = 2,
                    .stride_width = 2,
                    .pad_top = 1,
                    .pad_bottom = 1,
                    .pad_value = -5};
    net.output(net.pooling(net.convolution(net.input("in", {12, 9, 10}), c), p), "out");
    const test::Int8 conv = test::convert(test::convolve(in, weights, 20, 3, 3, {}), 0, 1, 9);
    Values middle({20, 7, 8}, Precision::kInt8), data({12, 9, 10}, Precision::kInt8);
    middle.data.assign(conv.data.begin(), conv.data.end());
    data.data.assign(in.data.begin(), in.data.end());
    Request request = net.build(Device::open(std::string("model:") + name));
    EXPECT_EQ(request.network().layers(), 1U);
    EXPECT_EQ(request.network().layer_name(0), "conv+pool");
    test::write(request, "in", data);
    request.run();
    EXPECT_EQ(test::read(request, "out"), pool(middle, p));
  }
}

// Both what SDP makes and its pooling are read: there is nothing to fuse.
TEST(Pooling, OfATensorThatIsReadElsewhere) {
  Network net;
  const Tensor positive = net.pointwise(net.input("in", {4, 4, 4}), {.name = "relu", .x1 = relu()});
  net.output(net.pooling(positive, {.name = "pool", .kernel_height = 2, .kernel_width = 2}), "out");
  net.output(positive, "positive");
  test::Random random(123);
  const Values in = test::random_tensor({4, 4, 4}, Precision::kInt8, random);
  std::uint32_t layers = 0;
  Values middle = in;
  for (std::int32_t& v : middle.data) v = std::max(v, 0);
  EXPECT_EQ(test::run_one(net, Device::open("model:nv_small"), in, &layers),
            pool(middle, {.kernel_height = 2, .kernel_width = 2}));
  EXPECT_EQ(layers, 2U);
}

// More columns than one layer has bands for.
TEST(Pooling, Wide) {
  test::Random random(124);
  const Device device = Device::open("model:nv_full");
  for (const std::uint32_t stride : {1U, 3U}) {
    const Shape shape{3, 8, 3 * 1100};
    const Values in = test::random_tensor(shape, Precision::kInt8, random);
    Pooling p{.name = "wide", .kernel_height = 8, .kernel_width = 2};
    p.stride_width = stride;
    p.pad_left = 1;
    Network net;
    net.output(net.pooling(net.input("in", shape), p), "out");
    std::uint32_t layers = 0;
    EXPECT_EQ(test::run_one(net, device, in, &layers), pool(in, p));
    EXPECT_GT(layers, 1U);
  }
}

// Windows larger than the hardware's are taken in steps; so are all of a plane, which get smaller
// from step to step.
TEST(Pooling, LargeWindowsEqualTheReference) {
  test::for_all(test::share(60), [](test::Random& random) {
    const auto any = [&](std::uint32_t low, std::uint32_t high) {
      return static_cast<std::uint32_t>(test::pick(random, low, high));
    };
    const auto precision = static_cast<Precision>(any(0, 2));
    const std::string device =
        precision == Precision::kInt8 && any(0, 1) == 0 ? "nv_small" : "nv_full";
    Pooling p{.name = "large", .method = any(0, 1) == 0 ? NVDLA_POOL_MAX : NVDLA_POOL_MIN};
    Shape shape{any(1, 40), any(1, 40), any(1, 40)};
    if (any(0, 3) == 0) {
      p.kernel_height = shape.height;
      p.kernel_width = shape.width;
    } else {
      p.kernel_height = any(1, 30);
      p.kernel_width = any(1, 30);
      p.stride_height = any(1, 5);
      p.stride_width = any(1, 5);
      p.pad_top = any(0, p.kernel_height - 1);
      p.pad_bottom = any(0, p.kernel_height - 1);
      p.pad_left = any(0, p.kernel_width - 1);
      p.pad_right = any(0, p.kernel_width - 1);
    }
    if (p.pad_top + shape.height + p.pad_bottom < p.kernel_height ||
        p.pad_left + shape.width + p.pad_right < p.kernel_width) {
      test::discard();
    }
    Values in = test::random_tensor(shape, precision, random);
    Network net;
    net.output(net.pooling(net.input("in", shape, precision), p), "out");
    const Values out = pool(in, p), found = test::run_one(net, Device::open("model:" + device), in);
    return test::with_name(
        device + test::numbers({shape.height, shape.width, p.kernel_height, p.kernel_width,
                                p.stride_height, p.stride_width, p.pad_top, p.pad_left}),
        found == out ? "" : "differs");
  });
}

TEST(Pooling, OfAWholePlaneTakesFewSteps) {
  Network net;
  const Pooling p{.name = "all", .kernel_height = 112, .kernel_width = 112};
  net.output(net.pooling(net.input("in", {32, 112, 112}), p), "out");
  const Request request = net.build(Device::open("model:nv_full"));
  ASSERT_EQ(request.network().layers(), 3u);
  EXPECT_EQ(request.network().layer_name(0), "all step 1/3");
}

TEST(BadPooling, Refused) {
  Network net;
  const Tensor in = net.input("in", {4, 4, 4});
  expect_error(ErrorCode::kInvalidArgument, "layer 0 'p': kernel_height 9 is not in 1..8", [&] {
    net.pooling(in, {.name = "p", .method = NVDLA_POOL_AVERAGE, .kernel_height = 9});
  });
  expect_error(ErrorCode::kInvalidArgument, "layer 0 'p': kernel_width 8193 is not in 1..8192",
               [&] { net.pooling(in, {.name = "p", .kernel_width = 8193}); });
  expect_error(ErrorCode::kInvalidArgument, "padded height 4 is smaller than the kernel, 9",
               [&] { net.pooling(in, {.name = "p", .kernel_height = 9}); });
  expect_error(ErrorCode::kInvalidArgument, "padding before the width 2 is not in 0..1",
               [&] { net.pooling(in, {.kernel_width = 2, .pad_left = 2}); });
  expect_error(ErrorCode::kInvalidArgument, "padded height 4 is smaller than the kernel, 5",
               [&] { net.pooling(in, {.kernel_height = 5}); });
  expect_error(ErrorCode::kInvalidArgument, "only an average has one",
               [&] { net.pooling(in, {.pad_value = 1}); });
  expect_error(ErrorCode::kInvalidArgument, "pad_value 0.5 is no integer, the input is int8",
               [&] { net.pooling(in, {.method = NVDLA_POOL_AVERAGE, .pad_value = 0.5}); });
  for (const int value : {-129, 128}) {
    expect_error(ErrorCode::kInvalidArgument,
                 "'p': pad_value " + std::to_string(value) + " is not in -128..127", [&] {
                   net.pooling(in, {.name = "p",
                                    .method = NVDLA_POOL_AVERAGE,
                                    .pad_value = static_cast<double>(value)});
                 });
  }
  expect_error(ErrorCode::kInvalidArgument, "nan_to_zero with an input in int8",
               [&] { net.pooling(in, {.nan_to_zero = true}); });
}

}  // namespace
}  // namespace nvdla
