// SPDX-License-Identifier: MIT
//
// Convolutions and products in floats.
#include <algorithm>

#include "import/nodes/window.hpp"
#include "import/operators/elements.hpp"
#include "import/operators/operator.hpp"
#include "import/reference/float_operators.hpp"
#include "import/reference/loops.hpp"

namespace nvdla::import {
namespace {

std::size_t size_at(const Dims& dims, std::size_t axis) {
  return static_cast<std::size_t>(dims[axis]);
}

Window window_of(const Operation& op, bool transposed) {
  const Dims& w = op.dims(1);
  return two_axes(read_window(op, {w.begin() + 2, w.end()}, transposed));
}

// Writes what one tap sees along a line: `count` columns of the result from `first` on.
void copy_columns(const float* line, const WindowAxis& x, std::int64_t tap, std::int64_t first,
                  std::int64_t count, float* out) {
  const std::int64_t start = first * x.stride - x.before + tap * x.dilation;
  // Columns of the result before `low` and from `high` on see what pads.
  const auto columns_before = [&](std::int64_t place) {
    return std::clamp<std::int64_t>((place - start + x.stride - 1) / x.stride, 0, count);
  };
  const std::int64_t low = start >= 0 ? 0 : columns_before(0);
  const std::int64_t high = start >= x.input ? low : columns_before(x.input);
  std::fill(out, out + low, 0.0F);
  if (x.stride == 1)
    std::copy(line + start + low, line + start + high, out + low);
  else
    for (std::int64_t i = low; i < high; ++i) out[i] = line[start + i * x.stride];
  std::fill(out + high, out + count, 0.0F);
}

// Writes what one tap of the kernel sees: `count` positions of the result from `first` on.
void copy_tap(const float* channel, const Window& w, std::int64_t tap_y, std::int64_t tap_x,
              std::size_t first, std::size_t count, float* block) {
  auto at = static_cast<std::int64_t>(first);
  for (auto left = static_cast<std::int64_t>(count); left != 0;) {
    const std::int64_t line = at / w.x.output, column = at % w.x.output;
    const std::int64_t y = line * w.y.stride - w.y.before + tap_y * w.y.dilation;
    const std::int64_t columns = std::min(left, w.x.output - column);
    if (y < 0 || y >= w.y.input)
      std::fill(block, block + columns, 0.0F);
    else
      copy_columns(channel + y * w.x.input, w.x, tap_x, column, columns, block);
    block += columns;
    at += columns;
    left -= columns;
  }
}

std::vector<float> float_conv(const Operation& op, const Inputs& inputs, const Dims& dims) {
  const Window w = window_of(op, false);
  const Dims& kernels = op.dims(1);
  const std::size_t groups = static_cast<std::size_t>(op.attribute("group", std::int64_t{1}));
  const std::size_t channels = size_at(kernels, 1), rows = size_at(kernels, 0) / groups;
  const auto taps = static_cast<std::size_t>(w.y.kernel * w.x.kernel);
  const auto plane = static_cast<std::size_t>(w.y.input * w.x.input);
  const auto positions = static_cast<std::size_t>(w.y.output * w.x.output);
  std::vector<float> out(static_cast<std::size_t>(elements(dims)));
  for (std::size_t n = 0; n < size_at(dims, 0); ++n)
    for (std::size_t g = 0; g < groups; ++g) {
      const float* const in = inputs[0].data() + (n * groups + g) * channels * plane;
      Products p;
      p.rows = rows;
      p.depth = channels * taps;
      p.columns = positions;
      p.left = inputs[1].data() + g * rows * p.depth;
      p.bias = op.has(2) ? inputs[2].data() + g * rows : nullptr;
      p.right = [&](std::size_t first, std::size_t count, float* block) {
        for (std::size_t c = 0; c < channels; ++c)
          for (std::int64_t y = 0; y < w.y.kernel; ++y)
            for (std::int64_t x = 0; x < w.x.kernel; ++x, block += kBlockColumns)
              copy_tap(in + c * plane, w, y, x, first, count, block);
      };
      multiply_matrices(p, out.data() + (n * groups + g) * rows * positions);
    }
  return out;
}

std::vector<float> float_transposed(const Operation& op, const Inputs& inputs, const Dims& dims) {
  const Window w = window_of(op, true);
  const Dims& kernels = op.dims(1);
  const std::size_t groups = static_cast<std::size_t>(op.attribute("group", std::int64_t{1}));
  const std::size_t channels = size_at(kernels, 0) / groups, each = size_at(kernels, 1);
  const auto taps = static_cast<std::size_t>(w.y.kernel * w.x.kernel);
  const auto plane = static_cast<std::size_t>(w.y.input * w.x.input);
  const auto positions = static_cast<std::size_t>(w.y.output * w.x.output);
  std::vector<float> out(static_cast<std::size_t>(elements(dims)));
  std::vector<float> left(each * taps * channels), spread(each * taps * plane);
  for (std::size_t n = 0; n < size_at(dims, 0); ++n)
    for (std::size_t g = 0; g < groups; ++g) {
      const float* const weights = inputs[1].data() + g * channels * each * taps;
      for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t i = 0; i < each * taps; ++i)
          left[i * channels + c] = weights[c * each * taps + i];
      const float* const in = inputs[0].data() + (n * groups + g) * channels * plane;
      Products p;
      p.rows = each * taps;
      p.depth = channels;
      p.columns = plane;
      p.left = left.data();
      p.right = [&](std::size_t first, std::size_t count, float* block) {
        for (std::size_t c = 0; c < channels; ++c, block += kBlockColumns)
          std::copy_n(in + c * plane + first, count, block);
      };
      multiply_matrices(p, spread.data());
      for (std::size_t k = 0; k < each; ++k) {
        const std::size_t kernel = g * each + k;
        float* const result = out.data() + (n * groups * each + kernel) * positions;
        std::fill_n(result, positions, op.has(2) ? inputs[2][kernel] : 0.0F);
        for (std::size_t i = 0; i < taps * plane; ++i) {
          const auto tap = static_cast<std::int64_t>(i / plane);
          const auto at = static_cast<std::int64_t>(i % plane);
          const std::int64_t y =
              at / w.x.input * w.y.stride + tap / w.x.kernel * w.y.dilation - w.y.before;
          const std::int64_t x =
              at % w.x.input * w.x.stride + tap % w.x.kernel * w.x.dilation - w.x.before;
          if (y >= 0 && y < w.y.output && x >= 0 && x < w.x.output)
            result[y * w.x.output + x] += spread[k * taps * plane + i];
        }
      }
    }
  return out;
}

// Multiplies a matrix of `rows` x `depth` with one of `depth` x `columns`, or with a transposed
// one.
void multiply_plain(const float* left, const float* right, bool transposed, std::size_t rows,
                    std::size_t depth, std::size_t columns, float* out) {
  Products p;
  p.rows = rows;
  p.depth = depth;
  p.columns = columns;
  p.left = left;
  p.right = [&](std::size_t first, std::size_t count, float* block) {
    for (std::size_t d = 0; d < depth; ++d, block += kBlockColumns)
      for (std::size_t c = 0; c < count; ++c)
        block[c] = transposed ? right[(first + c) * depth + d] : right[d * columns + first + c];
  };
  multiply_matrices(p, out);
}

std::vector<float> float_gemm(const Operation& op, const Inputs& inputs, const Dims& dims) {
  const bool turned = op.attribute("transA", std::int64_t{0}) != 0;
  const std::size_t rows = size_at(dims, 0), columns = size_at(dims, 1);
  const std::size_t depth = size_at(op.dims(0), turned ? 0 : 1);
  std::vector<float> left(inputs[0].begin(), inputs[0].end());
  if (turned)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t d = 0; d < depth; ++d) left[r * depth + d] = inputs[0][d * rows + r];
  std::vector<float> out(rows * columns);
  multiply_plain(left.data(), inputs[1].data(), op.attribute("transB", std::int64_t{0}) != 0, rows,
                 depth, columns, out.data());
  const auto alpha = static_cast<float>(op.attribute("alpha", 1.0));
  const auto beta = static_cast<float>(op.attribute("beta", 1.0));
  for (float& v : out) v *= alpha;
  if (op.has(2))
    for_each_broadcast(dims, op.dims(2), [&](std::int64_t to, std::int64_t from) {
      out[static_cast<std::size_t>(to)] += beta * inputs[2][static_cast<std::size_t>(from)];
    });
  return out;
}

std::vector<float> float_matmul(const Operation& op, const Inputs& inputs, const Dims& dims) {
  Dims a = op.dims(0), b = op.dims(1), all = dims;
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    all.insert(b.size() == 1 ? all.end() : all.end() - 1, 1);
  }
  if (b.size() == 1) {
    b.push_back(1);
    all.push_back(1);
  }
  const std::size_t rows = size_at(a, a.size() - 2), depth = size_at(a, a.size() - 1);
  const std::size_t columns = size_at(b, b.size() - 1);
  const Dims outer(all.begin(), all.end() - 2);
  std::vector<float> out(static_cast<std::size_t>(elements(dims)));
  std::vector<std::int64_t> lefts, rights;
  for_each_broadcast(outer, Dims(a.begin(), a.end() - 2),
                     [&](std::int64_t, std::int64_t from) { lefts.push_back(from); });
  for_each_broadcast(outer, Dims(b.begin(), b.end() - 2),
                     [&](std::int64_t, std::int64_t from) { rights.push_back(from); });
  for (std::size_t i = 0; i < lefts.size(); ++i)
    multiply_plain(inputs[0].data() + static_cast<std::size_t>(lefts[i]) * rows * depth,
                   inputs[1].data() + static_cast<std::size_t>(rights[i]) * depth * columns, false,
                   rows, depth, columns, out.data() + i * rows * columns);
  // A bias that a pass has put there.
  if (op.has(2))
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += inputs[2][i % columns];
  return out;
}

constexpr FloatOperator kFloatSums[] = {
    {"Conv", float_conv},
    {"ConvTranspose", float_transposed},
    {"Gemm", float_gemm},
    {"MatMul", float_matmul},
};

}  // namespace

std::span<const FloatOperator> float_sum_operators() noexcept { return kFloatSums; }

}  // namespace nvdla::import
