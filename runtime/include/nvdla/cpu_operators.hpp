// SPDX-License-Identifier: MIT
//
// Layers of a network that the device has no unit for: the CPU computes them, between two programs
// of the device, as it does what loadables leave to it. All before such a layer has ended when it
// starts, and nothing behind it starts before it has ended; it runs on the thread of
// Fence::on_end(). CompiledNetwork::layer_on_cpu() tells which layers these are: those below, and
// some of Average and Reshape.
//
// Tensors are feature cubes of int8, int16 or fp16, of any shape and batch; a result has the
// precision of the input unless said otherwise. Elements stand for real numbers as Quantization
// says. What is computed of them, in doubles, is rounded once: integers to the nearest, halves away
// from zero, and saturated; fp16 to the nearest, halves to even, at most 65504.
//
//   auto scores = net.product(queries, keys, {.name = "qk", .output = {0.1F}, .transposed = true});
//   auto weights = net.softmax(scores, {.name = "softmax"});
//   auto best = net.argmax(weights, {.name = "class"});
#ifndef NVDLA_CPU_OPERATORS_HPP
#define NVDLA_CPU_OPERATORS_HPP

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/concatenation.hpp"
#include "nvdla/export.hpp"
#include "nvdla/functions.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla {

// What elements of an input stand for may be left out where the network knows it (see
// Network::quantization()), and of fp16, whose numbers then stand for themselves.

// e^x / sum of e^x over the channels of a position. From the greatest x of the position on nothing
// overflows.
struct Softmax {
  std::string_view name = {};
  std::optional<Quantization> input = {};
  // Left out: 0 to 255/256 in int8 {1/256, -128}, 0 to 32767/32768 in int16 {1/32768, 0}; fp16 {1}.
  std::optional<Quantization> output = {};
  // As NVIDIA's runtime computes it, and so do loadables, which have no other: in fp32, and int8 is
  // rounded towards zero. int8 has no zero points then, int16 is refused.
  bool as_loadables = false;
};

// (shift + scale * x) to the power.
struct Power {
  std::string_view name = {};
  std::optional<Quantization> input = {};
  Quantization output = {};
  float power = 1;
  float scale = 1;
  float shift = 0;
  bool as_loadables = false;  // as above; what is too large for fp16 becomes infinity
};

// Any function of one element, where a look-up table does not fit it well enough or there is none
// (DeviceInfo::has_lut). It is called for every element that the precision has when the layer is
// added, and never again. What is no number becomes the zero point.
struct ElementFunction {
  std::string_view name = {};
  std::optional<Quantization> input = {};
  Quantization output = {};
  std::function<double(double)> function = {};
};

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, over the channels of a position. The
// variance is the mean of the squares of (x - mean).
struct LayerNormalization {
  std::string_view name = {};
  std::optional<Quantization> input = {};
  Quantization output = {};
  std::span<const float> gamma = {};  // one for each channel, or none: 1
  std::span<const float> beta = {};   // likewise: 0
  double epsilon = 1e-5;              // 0 up
};

// A tensor is a matrix whose rows are positions, line by line, and whose columns are channels. The
// product of two has the positions of the first one, and for each position of it as many channels
// as the second one has columns, or where that is transposed as it has rows:
//   sum of (a - a.zero_point) * (b - b.zero_point) * factor * a.scale * b.scale / output.scale
// The sum is exact in integers, and that of doubles in fp16; its product with all the rest, which
// is a double, is rounded. The matrices of a batch are multiplied one by one. (A convolution takes
// constants only: its weights lie in another order than the elements of a tensor do.)
struct TensorProduct {
  std::string_view name = {};
  std::optional<Quantization> a = {}, b = {};
  Quantization output = {};
  bool transposed = false;
  double factor = 1;
};

// The channel of the greatest element of a position, the first one of several. The result has one
// channel and stands for itself; NaN is less than all others.
struct Argmax {
  std::string_view name = {};
  Precision precision = Precision::kInt16;  // or kInt8, of at most 128 channels
};

// The same elements with axes in another order: axis i of the result is axis order[i] of the input.
// {kHeight, kChannels, kWidth} exchanges channels and lines.
struct Transpose {
  std::string_view name = {};
  std::array<Axis, 3> order = {Axis::kChannels, Axis::kHeight, Axis::kWidth};
};

}  // namespace nvdla

#endif  // NVDLA_CPU_OPERATORS_HPP
