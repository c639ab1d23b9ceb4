// SPDX-License-Identifier: MIT
//
// Winograd convolutions of networks against plain numbers: in the arithmetic of Winograd for any
// data, and as direct convolutions where they are exact.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/property.hpp"
#include "common/runtime/conv_reference.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/share.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::KernelHolder;
using test::RefConv;
using test::Values;

class Winograds {
 public:
  explicit Winograds(test::Random& random) : random_(random) {}

  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(random_.pick(low, high));
  }

  // A kernel that folds to 3x3, sizes that are mostly no whole tiles.
  void make(Precision processing) {
    conv_ = {};
    conv_.processing = processing;
    conv_.kernels = pick(1, 36);
    conv_.channels = pick(1, 40);
    test::Geometry& g = conv_.geometry;
    const bool strided = random_() % 2 == 0;
    g.stride_width = static_cast<int>(strided ? pick(1, 3) : 1);
    g.stride_height = static_cast<int>(strided ? pick(1, 3) : 1);
    const auto sx = static_cast<std::uint32_t>(g.stride_width),
               sy = static_cast<std::uint32_t>(g.stride_height);
    conv_.kernel_width = pick(2 * sx + 1, 3 * sx);
    conv_.kernel_height = pick(2 * sy + 1, 3 * sy);
    g.left = static_cast<int>(pick(0, sx == 1 ? 1 : 2 * sx));
    g.top = static_cast<int>(pick(0, sy == 1 ? 1 : 2 * sy));
    g.right = static_cast<int>(pick(0, 2));
    g.bottom = static_cast<int>(pick(0, 2));
    shape_ = {conv_.channels, pick(conv_.kernel_height, 20), pick(conv_.kernel_width, 20)};
    out_ = {
        conv_.kernels,
        (static_cast<std::uint32_t>(g.top + g.bottom) + shape_.height - conv_.kernel_height) / sy +
            1,
        (static_cast<std::uint32_t>(g.left + g.right) + shape_.width - conv_.kernel_width) / sx +
            1};
    in_ = test::random_tensor(shape_, processing, random_);
    g.pad_value = test::random_tensor({}, processing, random_).data[0];
    conv_.weights = test::random_kernels(
        std::size_t{conv_.kernels} * conv_.channels * conv_.kernel_height * conv_.kernel_width,
        processing, random_);
  }

  // Makes integers small.
  void limit(std::int32_t data, std::int32_t weight) {
    for (std::int32_t& v : in_.data) v %= data + 1;
    for (std::int32_t& v : conv_.weights) v %= weight + 1;
    conv_.geometry.pad_value %= data + 1;
  }

  Values run(const Converter& converter, std::uint32_t shift, std::uint32_t truncate) {
    KernelHolder holder;
    Convolution c = test::layer_of(conv_, holder.hold(conv_.weights, conv_.processing));
    c.output = converter;
    c.arithmetic.accumulator_shift = shift;
    c.tuning.winograd = Rewrite::kAlways;
    c.arithmetic.winograd_truncate = truncate;
    Network net;
    const Tensor y = net.convolution(net.input("in", shape_, conv_.processing), c);
    net.output(y, "out");
    // A further layer reads what lies with gaps.
    net.output(net.pointwise(y, {.name = "copy"}), "copy");
    Request request = net.build(Device::open("model:nv_full"));
    test::write(request, "in", in_);
    request.run();
    const Values found = test::read(request, "out");
    EXPECT_EQ(test::read(request, "copy"), found);
    return found;
  }

  Values converted(const std::vector<std::int64_t>& sums, const Converter& converter) const {
    Values values(out_, conv_.processing);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      values.data[i] = test::convert_to(sums[i], converter, conv_.processing, conv_.processing);
    }
    return values;
  }

  RefConv conv_;
  Shape shape_, out_;
  Values in_;

 private:
  test::Random& random_;
};

// The shift of transformed weights that the packing chooses: the largest with which all fit.
int weight_shift(const RefConv& c, int bits) {
  double most = 0, least = 0;
  const auto sx = static_cast<std::uint32_t>(c.geometry.stride_width);
  const auto sy = static_cast<std::uint32_t>(c.geometry.stride_height);
  for (std::uint32_t k = 0; k < c.kernels; ++k) {
    for (std::uint32_t ch = 0; ch < c.channels; ++ch) {
      for (std::uint32_t fold = 0; fold < sx * sy; ++fold) {
        double taps[9] = {};
        for (std::uint32_t i = 0; i < 9; ++i) {
          const std::uint32_t r = i / 3 * sy + fold / sx, s = i % 3 * sx + fold % sx;
          if (r < c.kernel_height && s < c.kernel_width) taps[i] = c.weight(k, ch, r, s);
        }
        for (const double value : test::winograd_weights(taps)) {
          most = std::max(most, value);
          least = std::min(least, value);
        }
      }
    }
  }
  int shift = 2;
  const auto fits = [&](int s) {
    return std::round(std::ldexp(most, s)) <= std::ldexp(1, bits - 1) - 1 &&
           std::round(std::ldexp(least, s)) >= -std::ldexp(1, bits - 1);
  };
  while (shift > -2 && !fits(shift)) --shift;
  return shift;
}

// A rewrite is never the reason for which a layer does not compile, on any configuration: layers of
// the sizes that networks have, up to those that fill the convolution buffer.
TEST(NetworkWinograd, WhenItPaysLeavesOutWhatDoesNotFit) {
  test::expect_for_all(test::share(60), [](test::Random& random) {
    const auto any = [&](std::uint32_t low, std::uint32_t high) {
      return static_cast<std::uint32_t>(random.pick(low, high));
    };
    const std::string configuration(
        configuration_name(any(0, static_cast<std::uint32_t>(configuration_count() - 1))));
    if (!configuration_info(configuration).has_winograd) test::discard();
    const auto processing = static_cast<Precision>(any(0, 2));
    const Shape shape{1U << any(4, 11), any(8, 64), any(8, 64)};
    Convolution c{.name = "conv", .kernels = any(1, 2) * 16};
    c.kernel_width = c.kernel_height = 3;
    c.pad_left = c.pad_right = c.pad_top = c.pad_bottom = any(0, 1);
    const std::size_t count = std::size_t{c.kernels} * shape.channels * 9;
    // Large fp16 weights are beyond fp16 once they are transformed.
    const auto high = processing == Precision::kFp16 && random() % 3 == 0 ? 0x7bff : 100;
    const std::vector<std::int8_t> bytes(count, 1);
    const std::vector<std::int16_t> words(count, 1000);
    const std::vector<std::uint16_t> halves(count, static_cast<std::uint16_t>(high));
    if (processing == Precision::kInt8) c.weights = std::span(bytes);
    if (processing == Precision::kInt16) c.weights = std::span(words);
    if (processing == Precision::kFp16) c.weights = std::span(halves);
    if (processing != Precision::kFp16) c.arithmetic.accumulator_shift = any(0, 16);
    c.arithmetic.winograd_truncate = any(0, 2);
    const auto compiles = [&](Rewrite winograd) -> std::string {
      c.tuning.winograd = winograd;
      Network net;
      net.output(net.convolution(net.input("in", shape, processing), c), "out");
      try {
        (void)net.compile(Device::open("model:" + configuration));
      } catch (const Error& error) {
        return error.what();
      }
      return {};
    };
    if (!compiles(Rewrite::kNever).empty()) test::discard();
    EXPECT_EQ(compiles(Rewrite::kAuto), "")
        << configuration << ' ' << static_cast<int>(processing) << ' ' << shape.channels << 'x'
        << shape.height << 'x' << shape.width << " to " << c.kernels << ", shift "
        << c.arithmetic.accumulator_shift << ", truncate " << c.arithmetic.winograd_truncate;
  });
}

TEST(NetworkWinograd, EqualsTheReference) {
  test::expect_for_all(test::share(36), [](test::Random& random) {
    Winograds w(random);
    const auto processing = static_cast<Precision>(random.pick(0, 2));
    w.make(processing);
    if (processing == Precision::kFp16) {
      ASSERT_EQ(w.run({}, 0, 0),
                w.converted(test::accumulate_winograd(w.conv_, w.in_, w.out_, 0, 0), {}));
      return;
    }
    const int bits = processing == Precision::kInt8 ? 8 : 16;
    const int shift = weight_shift(w.conv_, bits);
    const std::uint32_t truncate = w.pick(0, 2), before = w.pick(4, 8);
    const Converter converter = {.offset = 3, .scale = 1, .shift = bits == 8 ? 3U : 14U};
    RefConv scaled = w.conv_;
    scaled.geometry.clip =
        static_cast<unsigned>(static_cast<int>(before) + shift - static_cast<int>(truncate));
    ASSERT_EQ(
        w.run(converter, before, truncate),
        w.converted(test::accumulate_winograd(scaled, w.in_, w.out_, shift, truncate), converter))
        << " shift " << shift;
  });
}

// Sums of four inputs fit, and so do four times the transformed weights.
TEST(NetworkWinograd, SmallIntegersAreExact) {
  test::expect_for_all(test::share(20), [](test::Random& random) {
    Winograds w(random);
    const auto processing = static_cast<Precision>(random.pick(0, 1));
    w.make(processing);
    if (processing == Precision::kInt8) {
      w.limit(31, 14);
    } else {
      w.limit(8191, 3640);
    }
    const std::uint32_t shift = w.pick(0, 5);
    w.conv_.geometry.clip = shift;
    const Converter converter = {.scale = 1, .shift = processing == Precision::kInt8 ? 5U : 16U};
    Shape shape;
    const auto sums = test::accumulate(w.conv_, w.in_, shape);
    ASSERT_EQ(shape, w.out_);
    ASSERT_EQ(w.run(converter, shift, 0), w.converted(sums, converter));
  });
}

// More than the convolution buffer holds.
TEST(NetworkWinograd, BandsEqualTheReference) {
  test::Random random(3);
  Winograds w(random);
  w.make(Precision::kInt8);
  w.conv_.kernels = 3;
  w.conv_.channels = 64;
  w.conv_.kernel_height = w.conv_.kernel_width = 3;
  w.conv_.geometry = {};
  w.conv_.geometry.top = 1;
  w.shape_ = {64, 150, 65};
  w.out_ = {3, 149, 63};
  w.in_ = Values(w.shape_, Precision::kInt8);
  for (std::size_t i = 0; i < w.in_.data.size(); ++i) {
    w.in_.data[i] = static_cast<std::int32_t>(i * 7919 % 63) - 31;
  }
  w.conv_.weights.resize(3 * 64 * 9);
  for (std::size_t i = 0; i < w.conv_.weights.size(); ++i) {
    w.conv_.weights[i] = static_cast<std::int32_t>(i * 104729 % 29) - 14;
  }
  Shape shape;
  const auto sums = test::accumulate(w.conv_, w.in_, shape);
  ASSERT_EQ(shape, w.out_);
  const Converter converter = {.scale = 1, .shift = 7};
  EXPECT_EQ(w.run(converter, 0, 0), w.converted(sums, converter));
}

class BadWinograd : public ::testing::Test {
 protected:
  void refused(const std::string& text, ErrorCode code = ErrorCode::kInvalidArgument) {
    expect_error(code, text, [&] { build(); });
  }
  Request build() {
    Network net;
    net.output(net.convolution(net.input("in", {4, 12, 12}, precision_), conv_), "out");
    return net.build(Device::open("model:" + configuration_));
  }
  void SetUp() override {
    conv_.weights = weights_;
    conv_.tuning.winograd = Rewrite::kAlways;
  }
  std::string configuration_ = "nv_full";
  Precision precision_ = Precision::kInt8;
  std::vector<std::int8_t> weights_ = std::vector<std::int8_t>(2 * 4 * 9, 100);
  Convolution conv_{.name = "w",
                    .kernels = 2,
                    .kernel_height = 3,
                    .kernel_width = 3,
                    .arithmetic = {.accumulator_shift = 4}};
};

TEST_F(BadWinograd, DeviceWithout) {
  configuration_ = "nv_small";
  refused("layer 0 'w': nv_small has no Winograd convolutions", ErrorCode::kNotAvailable);
}

TEST_F(BadWinograd, OtherKernel) {
  conv_.kernel_height = 1;
  conv_.kernel_width = 9;
  refused("the kernel of 1x9 is not 3x3 after folding strides of 1x1");
}

TEST_F(BadWinograd, OtherResult) {
  conv_.precision = Precision::kInt16;
  refused("the result has another precision than the layer works in");
}

TEST_F(BadWinograd, TooMuchPadding) {
  conv_.pad_left = 2;
  refused("padding of 2 on the left and 0 on the top is more than a tile takes");
}

TEST_F(BadWinograd, WeightsThatDoNotFit) {
  conv_.arithmetic.accumulator_shift = 0;
  refused(
      "transformed weights fit times 2^-1 only and data are shifted by 0, so "
      "accumulator_shift must be 1 or more, found 0");
}

TEST_F(BadWinograd, WeightsThatAreNotFinite) {
  constexpr std::uint16_t kInfinity = 0x7c00;
  std::vector<std::uint16_t> halves(2 * 4 * 9, 0x3c00);
  halves.back() = kInfinity;
  conv_.weights = halves;
  conv_.arithmetic.accumulator_shift = 0;
  precision_ = Precision::kFp16;
  refused("no Winograd convolution: kernels hold NaN or infinity");
  conv_.tuning.winograd = Rewrite::kAuto;
  EXPECT_EQ(build().network().desc("out").line_stride, 10U * 32);
  halves.back() = 0;
  EXPECT_EQ(build().network().desc("out").line_stride, 12U * 32);
}

TEST_F(BadWinograd, Folded) {
  conv_.tuning.folding = Rewrite::kAuto;
  refused("folding and winograd are two ways to rewrite a layer: choose one");
}

// Where it does not pay, or cannot be, the layer is as ever.
TEST_F(BadWinograd, WhenItPays) {
  conv_.tuning.winograd = Rewrite::kAuto;
  const Shape direct = {2, 10, 10};
  const auto stride = [&] { return build().network().desc("out").line_stride; };
  configuration_ = "nv_small";
  EXPECT_EQ(stride(), 10U * 8);
  configuration_ = "nv_full";
  // Whole tiles of output, of which 10 columns are the tensor's.
  EXPECT_EQ(build().network().desc("out").shape, direct);
  EXPECT_EQ(stride(), 12U * 32);
  conv_.dilation_width = 2;
  EXPECT_EQ(stride(), 8U * 32);
}

}  // namespace
}  // namespace nvdla
