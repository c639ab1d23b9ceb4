// SPDX-License-Identifier: MIT
//
// Width folding: the folded convolution of the folded tensor, worked out plainly, is the
// convolution itself.
#include "nvdla/lowlevel/folding.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/reference.hpp"
#include "common/share.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Geometry;
using test::Int8;

nvdla_conv make(const Int8& in, std::uint32_t kernels, std::uint32_t kh, std::uint32_t kw) {
  TensorDesc desc;
  desc.shape = {static_cast<std::uint32_t>(in.c), static_cast<std::uint32_t>(in.h),
                static_cast<std::uint32_t>(in.w)};
  return make_conv(desc, {kernels, static_cast<std::uint32_t>(in.c), kh, kw});
}

Geometry geometry(const nvdla_conv& c) {
  Geometry g;
  g.stride_width = static_cast<int>(c.stride_width);
  g.stride_height = static_cast<int>(c.stride_height);
  g.dilation_width = static_cast<int>(c.dilation_width);
  g.dilation_height = static_cast<int>(c.dilation_height);
  g.left = static_cast<int>(c.pad_left);
  g.right = static_cast<int>(c.pad_right);
  g.top = static_cast<int>(c.pad_top);
  g.bottom = static_cast<int>(c.pad_bottom);
  g.pad_value = c.pad_value;
  return g;
}

// Empty if folding changed nothing.
std::string check(const nvdla_conv& conv, const Int8& in, const std::vector<std::int8_t>& weights) {
  const auto run = [](const Int8& cube, const nvdla_conv& c, const std::vector<std::int8_t>& w) {
    return test::convolve(cube, w, static_cast<int>(c.kernels), static_cast<int>(c.kernel_height),
                          static_cast<int>(c.kernel_width), geometry(c));
  };
  const Folding f = fold_width(conv);
  if (f.shape.channels != conv.channels * conv.stride_width || f.shape.height != conv.height ||
      f.shape.width != f.conv.width) {
    return "the shape is not the convolution's";
  }
  Int8 folded(static_cast<int>(f.shape.channels), static_cast<int>(f.shape.height),
              static_cast<int>(f.shape.width));
  folded.data = fold_tensor(conv, Layout::kNchw, in.data);
  if (folded.data.size() != f.shape.elements()) return "the folded tensor has another size";

  std::vector<std::int8_t> nhwc(in.data.size());
  for (int y = 0, i = 0; y < in.h; ++y) {
    for (int x = 0; x < in.w; ++x) {
      for (int c = 0; c < in.c; ++c, ++i) nhwc[static_cast<std::size_t>(i)] = in.at(c, y, x);
    }
  }
  if (fold_tensor(conv, Layout::kNhwc, nhwc) != folded.data) return "layouts differ";

  const auto expected = run(in, conv, weights);
  const auto found = run(folded, f.conv, fold_weights(conv, weights));
  if (expected.h != found.h || expected.w != found.w) return "another size";
  return expected.data == found.data ? "" : "another result";
}

TEST(Folding, ChangesNoResult) {
  test::for_all(test::share(400), [](test::Random& random) {
    const auto pick = [&](int low, int high) { return static_cast<int>(random.pick(low, high)); };
    const int kh = pick(1, 3), kw = pick(1, 9);
    const Int8 in = test::random_cube(pick(1, 5), pick(3, 5), pick(1, 24), random());
    nvdla_conv c = make(in, static_cast<std::uint32_t>(pick(1, 3)), static_cast<std::uint32_t>(kh),
                        static_cast<std::uint32_t>(kw));
    c.stride_width = static_cast<std::uint32_t>(pick(2, 8));
    c.pad_left = static_cast<std::uint32_t>(pick(0, kw + 1));
    c.pad_right = static_cast<std::uint32_t>(pick(0, kw + 1));
    c.pad_top = static_cast<std::uint32_t>(pick(0, kh - 1));
    c.pad_value = pick(-128, 127);
    const int padded = static_cast<int>(c.pad_left + c.width + c.pad_right);
    if (padded < kw || cannot_fold(c) != nullptr) test::discard();
    const auto weights = test::random_values<std::int8_t>(
        static_cast<std::size_t>(c.kernels) * c.channels * c.kernel_height * c.kernel_width,
        random(), -128, 127);
    return test::with_name("width " + std::to_string(c.width) + " kernel " + std::to_string(kw) +
                               " stride " + std::to_string(c.stride_width) + " left " +
                               std::to_string(c.pad_left) + " right " + std::to_string(c.pad_right),
                           check(c, in, weights));
  });
}

TEST(Folding, WidensTheKernelInFrontOfPaddings) {
  const Int8 in = test::random_cube(3, 4, 11, 2);
  nvdla_conv c = make(in, 2, 1, 5);
  c.stride_width = 2;
  c.pad_left = 3;
  c.pad_right = 1;
  const Folding f = fold_width(c);
  EXPECT_EQ(f.columns, 2U);
  EXPECT_EQ(f.lead, 1U);
  EXPECT_EQ(f.conv.kernel_width, 3U);
  EXPECT_EQ(f.conv.pad_left, 2U);
  EXPECT_EQ(f.conv.width, 6U);
  EXPECT_EQ(f.conv.channels, 6U);
  EXPECT_EQ(conv_output(f.conv), conv_output(c));
}

class NotFolded : public ::testing::Test {
 protected:
  void refused(const std::string& text) {
    ASSERT_NE(cannot_fold(conv_), nullptr);
    EXPECT_FALSE(folding_pays(configuration_info("nv_full"), conv_));
    expect_error(ErrorCode::kInvalidArgument, text, [&] { fold_width(conv_); });
  }
  void SetUp() override { conv_.stride_width = 2; }
  nvdla_conv conv_ = make(test::random_cube(4, 8, 9, 3), 4, 1, 3);
};

TEST_F(NotFolded, Images) {
  conv_.mode = NVDLA_CONV_IMAGE;
  refused("only direct convolutions are folded");
}

TEST_F(NotFolded, Fp16) {
  conv_.in_precision = conv_.proc_precision = NVDLA_PRECISION_FP16;
  refused("fp16 sums depend on their order");
}

TEST_F(NotFolded, WithoutStride) {
  conv_.stride_width = 1;
  refused("a stride_width of 1 leaves nothing to fold");
}

TEST_F(NotFolded, Dilated) {
  conv_.dilation_width = 2;
  refused("kernels with a dilation_width have gaps");
}

TEST_F(NotFolded, TooManyChannels) {
  conv_.channels = 4097;
  refused("more than 8192 channels");
}

TEST_F(NotFolded, PaddingOnly) {
  // One window; the next one would see it.
  conv_.width = 1;
  conv_.pad_left = 3;
  refused("its windows see padding only");
}

TEST_F(NotFolded, WrongNumbers) {
  expect_error(ErrorCode::kInvalidArgument, "47 weights given, 4x4x1x3 (KCRS) are 48",
               [&] { fold_weights(conv_, std::vector<std::int8_t>(47)); });
  expect_error(ErrorCode::kInvalidArgument,
               "287 elements given, a tensor of 1x4x8x9 (NCHW) has 288",
               [&] { fold_tensor(conv_, Layout::kNchw, std::vector<std::int8_t>(287)); });
}

TEST(FoldingPays, WhereItFillsMoreLanes) {
  const DeviceInfo info = configuration_info("nv_full");
  nvdla_conv c = make(test::random_cube(3, 64, 65, 4), 32, 7, 7);
  c.stride_width = c.stride_height = 2;
  c.pad_top = c.pad_bottom = 3;
  c.pad_left = c.pad_right = 3;
  c.height = 65;
  // 3 of 64 lanes, 7 columns of taps; folded 6 lanes, 4 columns.
  EXPECT_DOUBLE_EQ(mac_utilisation(info, c) * 64 / 3, 33.0 * 33 / 1104);
  EXPECT_TRUE(folding_pays(info, c));
  // All lanes are in use, and a column of zeros comes on top.
  c.channels = 64;
  EXPECT_FALSE(folding_pays(info, c));
}

}  // namespace
}  // namespace nvdla
