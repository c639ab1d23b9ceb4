// SPDX-License-Identifier: MIT
//
// Poolings and interpolations in floats.
#include <algorithm>
#include <limits>

#include "import/nodes/window.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
#include "import/reference/float_operators.hpp"

namespace nvdla::import {
namespace {

// The part of an axis that a window of a pooling sees.
struct Taps {
  std::int64_t begin = 0, count = 0, step = 1;
  std::int64_t with_padding = 0;  // count, and what of it lies in the padding
};

Taps taps_of(const WindowAxis& a, std::int64_t output) {
  Taps taps;
  taps.step = a.dilation;
  const std::int64_t from = output * a.stride - a.before;
  taps.begin = from;
  for (std::int64_t k = 0; k < a.kernel; ++k) {
    const std::int64_t at = from + k * a.dilation;
    if (at < a.input + a.after) ++taps.with_padding;
    if (at < 0) taps.begin = at + a.dilation;
    if (at >= 0 && at < a.input) ++taps.count;
  }
  return taps;
}

// Calls `visit` with the position of the result, the plane and both axes' taps.
template <typename Visit>
void for_each_window(const Window& w, std::size_t planes, const Visit& visit) {
  std::size_t to = 0;
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (std::int64_t y = 0; y < w.y.output; ++y) {
      const Taps lines = taps_of(w.y, y);
      for (std::int64_t x = 0; x < w.x.output; ++x)
        visit(to++, plane * static_cast<std::size_t>(w.y.input * w.x.input), lines,
              taps_of(w.x, x));
    }
}

Window pool_window(const Operation& op) {
  return two_axes(read_window(op, op.integers("kernel_shape")));
}

std::size_t planes_of(const Dims& dims) { return static_cast<std::size_t>(dims[0] * dims[1]); }

// Calls `visit` with each element that a window sees.
template <typename Visit>
void for_each_tap(const float* plane, std::int64_t width, const Taps& lines, const Taps& columns,
                  const Visit& visit) {
  for (std::int64_t i = 0; i < lines.count; ++i) {
    const float* const line = plane + (lines.begin + i * lines.step) * width;
    for (std::int64_t k = 0; k < columns.count; ++k) visit(line[columns.begin + k * columns.step]);
  }
}

std::vector<float> float_max_pool(const Operation& op, const Inputs& inputs, const Dims& dims) {
  const Window w = pool_window(op);
  std::vector<float> out(static_cast<std::size_t>(elements(dims)));
  for_each_window(w, planes_of(dims),
                  [&](std::size_t to, std::size_t plane, const Taps& lines, const Taps& columns) {
                    float most = -std::numeric_limits<float>::infinity();
                    for_each_tap(inputs[0].data() + plane, w.x.input, lines, columns,
                                 [&](float v) { most = std::max(most, v); });
                    out[to] = most;
                  });
  return out;
}

std::vector<float> float_average_pool(const Operation& op, const Inputs& inputs, const Dims& dims) {
  const Window w = pool_window(op);
  const bool with_padding = op.attribute("count_include_pad", std::int64_t{0}) != 0;
  std::vector<float> out(static_cast<std::size_t>(elements(dims)));
  for_each_window(w, planes_of(dims),
                  [&](std::size_t to, std::size_t plane, const Taps& lines, const Taps& columns) {
                    float sum = 0;
                    for_each_tap(inputs[0].data() + plane, w.x.input, lines, columns,
                                 [&](float v) { sum += v; });
                    const std::int64_t count = with_padding
                                                   ? lines.with_padding * columns.with_padding
                                                   : lines.count * columns.count;
                    out[to] = sum / static_cast<float>(count);
                  });
  return out;
}

template <bool average>
std::vector<float> float_global_pool(const Operation&, const Inputs& inputs, const Dims& dims) {
  const std::size_t planes = planes_of(dims), each = inputs[0].size() / planes;
  std::vector<float> out(planes);
  for (std::size_t i = 0; i < planes; ++i) {
    const auto plane = inputs[0].subspan(i * each, each);
    float sum = 0;
    for (const float v : plane) sum += v;
    out[i] =
        average ? sum / static_cast<float>(each) : *std::max_element(plane.begin(), plane.end());
  }
  return out;
}

std::vector<float> float_resize(const Operation& op, const Inputs& inputs, const Dims& dims) {
  const auto weights = resize_weights(op);
  std::vector<float> now(inputs[0].begin(), inputs[0].end());
  Dims sizes = op.dims(0);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    std::int64_t inner = 1, outer = 1;
    for (std::size_t i = 0; i < axis; ++i) outer *= sizes[i];
    for (std::size_t i = axis + 1; i < sizes.size(); ++i) inner *= sizes[i];
    std::vector<float> next(static_cast<std::size_t>(outer * dims[axis] * inner));
    float* to = next.data();
    for (std::int64_t o = 0; o < outer; ++o)
      for (const AxisWeights& taps : weights[axis])
        for (std::int64_t i = 0; i < inner; ++i, ++to)
          for (const auto& [from, weight] : taps)
            *to += static_cast<float>(weight) *
                   now[static_cast<std::size_t>((o * sizes[axis] + from) * inner + i)];
    sizes[axis] = dims[axis];
    now = std::move(next);
  }
  return now;
}

constexpr FloatOperator kFloatPools[] = {
    {"AveragePool", float_average_pool},
    {"GlobalAveragePool", float_global_pool<true>},
    {"GlobalMaxPool", float_global_pool<false>},
    {"MaxPool", float_max_pool},
    {"Resize", float_resize},
    {"Upsample", float_resize},
};

}  // namespace

std::span<const FloatOperator> float_pool_operators() noexcept { return kFloatPools; }

}  // namespace nvdla::import
