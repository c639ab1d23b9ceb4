// SPDX-License-Identifier: MIT
//
// The phases of a deconvolution, each a plain convolution, against its definition.
#include "nvdla/lowlevel/deconvolution_phases.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/deconvolution_reference.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/reference.hpp"
#include "common/share.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Int32;
using test::Int8;

// Empty if phases, put side by side, are the deconvolution.
std::string check(const DeconvolutionDesc& d, const Int8& in,
                  const std::vector<std::int8_t>& weights) {
  const Int32 expected = test::deconvolve(in, weights, d);
  const Shape shape = deconvolution_output(d);
  if (shape.channels != static_cast<std::uint32_t>(expected.c) ||
      shape.height != static_cast<std::uint32_t>(expected.h) ||
      shape.width != static_cast<std::uint32_t>(expected.w)) {
    return "another size";
  }
  const Shape each = deconvolution_phase_output(d);
  for (std::uint32_t y = 0; y < d.stride_height; ++y) {
    for (std::uint32_t x = 0; x < d.stride_width; ++x) {
      const DeconvolutionPhase p = deconvolution_phase(d, y, x);
      if (p.pad_top >= p.kernel_height || p.pad_bottom >= p.kernel_height ||
          p.pad_left >= p.kernel_width || p.pad_right >= p.kernel_width) {
        return "paddings are not less than the kernel";
      }
      if (p.kernel_height > 32 || p.kernel_width > 32) return "the kernel is too large";
      Int8 part(in.c, static_cast<int>(p.height), static_cast<int>(p.width));
      if (part.h > in.h || part.w > in.w || part.h < 1 || part.w < 1) return "no such input";
      for (int c = 0; c < in.c; ++c) {
        for (int r = 0; r < part.h; ++r) {
          for (int s = 0; s < part.w; ++s) part.at(c, r, s) = in.at(c, r, s);
        }
      }
      test::Geometry g;
      g.top = static_cast<int>(p.pad_top);
      g.bottom = static_cast<int>(p.pad_bottom);
      g.left = static_cast<int>(p.pad_left);
      g.right = static_cast<int>(p.pad_right);
      const Int32 out =
          test::convolve(part, deconvolution_weights(d, y, x, weights), expected.c,
                         static_cast<int>(p.kernel_height), static_cast<int>(p.kernel_width), g);
      if (out.h != static_cast<int>(each.height) || out.w != static_cast<int>(each.width)) {
        return "a phase of another size";
      }
      for (int k = 0; k < out.c; ++k) {
        for (int q = 0; q < out.h; ++q) {
          for (int r = 0; r < out.w; ++r) {
            const int oy = q * static_cast<int>(d.stride_height) + static_cast<int>(y);
            const int ox = r * static_cast<int>(d.stride_width) + static_cast<int>(x);
            if (oy >= expected.h || ox >= expected.w) continue;
            if (out.at(k, q, r) != expected.at(k, oy, ox)) return "another result";
          }
        }
      }
    }
  }
  return {};
}

TEST(DeconvolutionPhases, AreTheDeconvolution) {
  test::for_all(test::share(600), [](test::Random& random) {
    const auto d = test::random_deconvolution(random);
    if (!d) test::discard();
    const Int8 in =
        test::random_cube(static_cast<int>(d->input.channels), static_cast<int>(d->input.height),
                          static_cast<int>(d->input.width), random());
    const auto weights =
        test::random_values<std::int8_t>(d->weights.elements(), random(), -128, 127);
    return test::with_name(test::describe(*d), check(*d, in, weights));
  });
}

class BadDeconvolution : public ::testing::Test {
 protected:
  void refused(const std::string& text) {
    expect_error(ErrorCode::kInvalidArgument, text, [&] { deconvolution_phase(desc_, 0, 0); });
  }
  DeconvolutionDesc desc_{
      .input = {2, 4, 5}, .weights = {3, 2, 4, 3}, .stride_width = 2, .stride_height = 2};
};

TEST_F(BadDeconvolution, OtherChannels) {
  desc_.weights.channels = 3;
  refused("kernels of 3 channels for an input of 2");
}

TEST_F(BadDeconvolution, PaddingOfAKernel) {
  desc_.pad_left = 3;
  refused("padding 3 is not in 0..2");
}

TEST_F(BadDeconvolution, ExtraOfAStride) {
  desc_.extra_bottom = 2;
  refused("extra lines or columns 2 is not in 0..1");
}

TEST_F(BadDeconvolution, NothingLeft) {
  desc_.input.width = 1;
  desc_.pad_left = 2;
  desc_.pad_right = 1;
  refused("the output's width would be 0");
}

TEST_F(BadDeconvolution, NoSuchPhase) {
  expect_error(ErrorCode::kInvalidArgument, "phase 2 of a stride of 2",
               [&] { deconvolution_phase(desc_, 2, 0); });
}

}  // namespace
}  // namespace nvdla
