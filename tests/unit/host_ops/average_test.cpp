// SPDX-License-Identifier: MIT
//
// Averages of int8 with a scale of their own: each result is that of its sum alone.
#include "host_ops/average.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "host_ops/cube.hpp"

namespace nvdla::cpu {
namespace {

constexpr std::uint32_t kLanes = 32;

CubeLayout layout_of(const Shape& shape) {
  CubeLayout layout;
  layout.shape = shape;
  layout.lanes = kLanes;
  layout.line_stride = std::uint64_t{shape.width} * kLanes;
  layout.surface_stride = layout.line_stride * shape.height;
  return layout;
}

std::vector<std::byte> memory_of(const CubeLayout& layout) {
  return std::vector<std::byte>(layout.surface_stride * ((layout.shape.channels + 31) / 32));
}

struct Case {
  std::vector<std::byte> source, target;
  CubeLayout from, to;

  Case(const Shape& in, const AverageWindow& window) : from(layout_of(in)) {
    Shape out = in;
    out.height = (in.height + 2 * window.pad_top - window.height) / window.stride_height + 1;
    out.width = (in.width + 2 * window.pad_left - window.width) / window.stride_width + 1;
    to = layout_of(out);
    source = memory_of(from);
    target = memory_of(to);
    std::mt19937 random(7);
    // Ends of the range are frequent.
    for (std::byte& byte : source)
      byte = static_cast<std::byte>(random() % 4 == 0 ? (random() % 2 == 0 ? 127 : -128)
                                                      : random() % 256);
    average(Source(from, {}, source), Target(to, {}, target), window);
  }

  std::int8_t element(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
    return static_cast<std::int8_t>(target[to.at({0, c, y, x})]);
  }

  // One at a time.
  std::int8_t expected(const AverageWindow& window, std::uint32_t c, std::uint32_t y,
                       std::uint32_t x) const {
    std::int64_t sum = 0, count = 0;
    for (std::uint32_t i = 0; i < window.height; ++i)
      for (std::uint32_t k = 0; k < window.width; ++k) {
        const std::uint32_t line = y * window.stride_height + i - window.pad_top;
        const std::uint32_t column = x * window.stride_width + k - window.pad_left;
        if (line < from.shape.height && column < from.shape.width) {
          sum += static_cast<std::int8_t>(source[from.at({0, c, line, column})]);
          ++count;
        } else if (window.pad_value) {
          sum += *window.pad_value;
          ++count;
        }
      }
    return window.scale->element(sum, count);
  }
};

void expect_results_of_sums(const Shape& shape, const AverageWindow& window) {
  const Case one(shape, window);
  const Shape& out = one.to.shape;
  for (std::uint32_t c = 0; c < out.channels; ++c)
    for (std::uint32_t y = 0; y < out.height; ++y)
      for (std::uint32_t x = 0; x < out.width; ++x)
        ASSERT_EQ(one.element(c, y, x), one.expected(window, c, y, x))
            << c << ", " << y << ", " << x;
}

AverageWindow window_with(const AverageScale& scale) {
  AverageWindow window;
  window.height = window.width = 3;
  window.pad_top = window.pad_left = 1;
  window.scale = scale;
  return window;
}

AverageScale converted() {
  AverageScale scale;
  scale.input = {.scale = 0.031F, .zero_point = -17};
  scale.output = {.scale = 0.027F, .zero_point = 9};
  return scale;
}

AverageScale stepped() {
  AverageScale scale = converted();
  scale.steps = 2;
  scale.step[0] = {.addend = 153, .left_shift = 0, .factor = 8211, .right_shift = 9};
  scale.step[1] = {.addend = -3, .left_shift = 4, .factor = 9, .right_shift = 11};
  return scale;
}

// Few results are computed by themselves, many looked up by their sum.
TEST(AveragesWithAScale, AreThoseOfTheirSums) {
  for (const AverageScale& scale : {converted(), stepped()})
    for (const Shape& shape : {Shape{40, 5, 6}, Shape{70, 21, 35}})
      expect_results_of_sums(shape, window_with(scale));
}

TEST(AveragesWithAScale, CountPaddingAsItsValue) {
  // Sums with the larger ones are beyond those of elements.
  for (const int value : {-17, 127, 100000})
    for (const Shape& shape : {Shape{40, 5, 6}, Shape{70, 21, 35}}) {
      AverageWindow window = window_with(converted());
      window.pad_value = value;
      expect_results_of_sums(shape, window);
    }
}

TEST(AveragesWithAScale, MayHaveWindowsOfAnySize) {
  AverageWindow window = window_with(stepped());
  window.height = 7;
  window.width = 5;
  window.pad_top = 3;
  window.pad_left = 2;
  window.stride_height = 2;
  expect_results_of_sums({64, 40, 33}, window);
  window.height = window.width = 1;
  window.pad_top = window.pad_left = 0;
  expect_results_of_sums({64, 40, 33}, window);
}

}  // namespace
}  // namespace nvdla::cpu
