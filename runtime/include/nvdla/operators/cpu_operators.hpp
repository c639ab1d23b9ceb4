// SPDX-License-Identifier: MIT
//
/// @file
/// Layers of a network that the device has no unit for: the CPU computes them, between two programs
/// of the device, as it does what loadables leave to it. All before such a layer has ended when it
/// starts, and nothing behind it starts before it has ended; it runs on the thread of
/// Fence::on_end(). CompiledNetwork::layer_on_cpu() tells which layers these are: those below, and
/// some of Average and Reshape.
///
/// Tensors are feature cubes of int8, int16 or fp16, of any shape and batch; a result has the
/// precision of the input unless said otherwise. Elements stand for real numbers as Quantization
/// says. What is computed of them, in doubles, is rounded once: integers to the nearest, halves
/// away from zero, and saturated; fp16 to the nearest, halves to even, at most 65504.
///
/// @code
///   auto scores = net.product(queries, keys, {.output = {0.1F}, .transposed = true});
///   auto weights = net.softmax(scores, {.name = "softmax"});
///   auto best = net.argmax(weights, {.name = "class"});
/// @endcode
#ifndef NVDLA_OPERATORS_CPU_OPERATORS_HPP
#define NVDLA_OPERATORS_CPU_OPERATORS_HPP

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/operators/concatenation.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla {

// A layer may leave the scale and zero point of an input out where the network knows them (see
// Network::quantization()), and for fp16, whose numbers then stand for themselves.

/// e^x / sum of e^x over the channels of a position. From the greatest x of the position on nothing
/// overflows.
struct Softmax {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  /// Scale and zero point of the input; absent: those that the network knows.
  std::optional<Quantization> input = {};
  /// Left out: 0 to 255/256 in int8 {1/256, -128}, 0 to 32767/32768 in int16 {1/32768, 0}; fp16
  /// {1}.
  std::optional<Quantization> output = {};
  /// True: as NVIDIA's runtime computes it, in fp32, and int8 is rounded towards zero, so that a
  /// loadable has it in NVIDIA's form. Left out, the output is then {1/127, 0} in int8. The zero
  /// point of the input means nothing to a softmax; that of the output is 0, and int16 is refused.
  bool as_loadables = false;
};

/// (shift + scale * x) to the power.
struct Power {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  /// Scale and zero point of the input; absent: those that the network knows.
  std::optional<Quantization> input = {};
  Quantization output = {};  ///< Scale and zero point of the result.
  float power = 1;           ///< Exponent.
  float scale = 1;           ///< Factor of the element.
  float shift = 0;           ///< Addend.
  /// True: likewise, without any zero point; what is too large for fp16 becomes infinity.
  bool as_loadables = false;
};

/// A function of one element in any precision; of int8 Network::activation() has the device do the
/// same. It is called for every element that the precision has when the layer is
/// added, and never again. What is no number becomes the zero point.
struct ElementFunction {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  /// Scale and zero point of the input; absent: those that the network knows.
  std::optional<Quantization> input = {};
  Quantization output = {};  ///< Scale and zero point of the result.
  /// The function, from the real number of an element to that of the result.
  std::function<double(double)> function = {};
};

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, over the channels of a position. The
/// variance is the mean of the squares of (x - mean).
struct LayerNormalization {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  /// Scale and zero point of the input; absent: those that the network knows.
  std::optional<Quantization> input = {};
  Quantization output = {};           ///< Scale and zero point of the result.
  std::span<const float> gamma = {};  ///< one for each channel, or none: 1
  std::span<const float> beta = {};   ///< likewise: 0
  double epsilon = 1e-5;              ///< 0 up
};

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, over the positions of a channel, in each
/// cube of a batch by itself. The variance is the mean of the squares of (x - mean).
struct InstanceNormalization {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  /// Scale and zero point of the input; absent: those that the network knows.
  std::optional<Quantization> input = {};
  Quantization output = {};           ///< Scale and zero point of the result.
  std::span<const float> gamma = {};  ///< one for each channel, or none: 1
  std::span<const float> beta = {};   ///< likewise: 0
  double epsilon = 1e-5;              ///< 0 up
};

/// A tensor is a matrix whose rows are positions, line by line, and whose columns are channels. The
/// product of two has the positions of the first one, and for each position of it as many channels
/// as the second one has columns, or where that is transposed as it has rows:
/// @code{.unparsed}
///   sum of (a - a.zero_point) * (b - b.zero_point) * factor * a.scale * b.scale / output.scale
/// @endcode
/// The sum is exact in integers, and that of doubles in fp16; its product with all the rest, which
/// is a double, is rounded. The matrices of a batch are multiplied one by one. (A convolution takes
/// constants only: its weights lie in another order than the elements of a tensor do.)
struct TensorProduct {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::optional<Quantization> a = {};  ///< the first operand
  std::optional<Quantization> b = {};  ///< the second one
  Quantization output = {};            ///< Scale and zero point of the result.
  /// True if `b` is transposed: its positions are the columns of the matrix.
  bool transposed = false;
  double factor = 1;  ///< Factor of each sum, such as 1 / sqrt(channels) of an attention.
};

/// The channel of the greatest element of a position, the first one of several. The result has one
/// channel and stands for itself; NaN is less than all others.
struct Argmax {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  Precision precision = Precision::kInt16;  ///< or kInt8, of at most 128 channels
};

/// The same elements with axes in another order: axis i of the result is axis order[i] of the
/// input. {kHeight, kChannels, kWidth} exchanges channels and lines.
struct Transpose {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  /// Axes of the input in the order of the result.
  std::array<Axis, 3> order = {Axis::kChannels, Axis::kHeight, Axis::kWidth};
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_CPU_OPERATORS_HPP
