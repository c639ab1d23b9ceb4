// SPDX-License-Identifier: MIT
//
/// @file
/// Quantised layers as frameworks have them: real scales for each tensor and each kernel, zero
/// points, biases of 32 bits. From these follow the operators of SDP and the output converter; they
/// are chosen so that results are rounded correctly, and say by how much that may be missed.
///
/// @code
///   auto x = net.input("image", {.channels = 3, ...}, {.scale = 0.02F, .zero_point = -7});
///   nvdla::Convolution layer = {.name = "conv1", ..., .weights = w, .bias = b, .relu = true};
///   auto y = net.convolution(x, layer, {.weights = scales, .output = {0.05F, -128}});
/// @endcode
///
/// All tensors of a layer are int8, or all are int16 (DeviceInfo::has_int16): the kernels say
/// which. Elements of 8 bits without a sign are those of signed_bytes(), with the quantisation of
/// signed_quantization().
#ifndef NVDLA_OPERATORS_QUANTIZED_HPP
#define NVDLA_OPERATORS_QUANTIZED_HPP

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "nvdla/operators/convolution.hpp"
#include "nvdla/operators/deconvolution.hpp"
#include "nvdla/operators/fully_connected.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla {

/// The same reals in elements with a sign: each is 128 less, and so is the zero point.
NVDLA_API std::vector<std::int8_t> signed_bytes(std::span<const std::uint8_t> elements);
/// Returns the quantisation of elements that signed_bytes() made.
constexpr Quantization signed_quantization(const Quantization& without_sign) noexcept {
  return {without_sign.scale, without_sign.zero_point - 128};
}

/// Real numbers that results are held to: those beyond become the end, saturation apart. ReLU6 is
/// {0, 6}. An output whose elements stand for no others, {6 / 255.0F, -128}, needs nothing for
/// that; see ElementBounds for what is done otherwise.
struct Bounds {
  float low = -std::numeric_limits<float>::infinity();  ///< least result
  float high = std::numeric_limits<float>::infinity();  ///< greatest result
};

/// The same as elements of int8 or int16: zero_point + bound / scale, rounded to the nearest with
/// halves away from the zero point, saturated. Results that are rounded alike may be held to these
/// instead of being held to the bounds first. Throws kInvalidArgument for NaN, and a `low` above
/// `high`.
NVDLA_API ElementBounds element_bounds(const Bounds& bounds, const Quantization& quantization,
                                       Precision precision = Precision::kInt8);

/// Scales and zero points of a convolution, or of a fully connected layer, a product with a
/// constant matrix or a deconvolution: kernels are then the outputs, the columns of the matrix. A
/// bias stands for multiples of input scale * weight scale, or is real numbers (bias_reals);
/// weights have no zero point.
struct ConvolutionScales {
  /// Scale and zero point of what the arithmetic sees: of an image behind the input converter.
  /// Known to the network of inputs, of quantised layers, and of layers that move or choose
  /// elements of these.
  std::optional<Quantization> input = {};
  std::span<const float> weights = {};  ///< 1, or one for each kernel
  Quantization output = {};             ///< Scale and zero point of the result.
  Bounds bounds = {};                   ///< Real numbers that the results are held to.
  /// Error that is acceptable, in steps of the output. Fewer operators are used where error() is at
  /// most this: a layer with one is computed faster than one with two.
  double tolerance = 0;
};

/// The operators of a quantised convolution. With sum = sum of input * weight over the elements as
/// they are, what lies outside of the input being input.zero_point, >> accumulator_shift() in
/// int16, result() is
/// @code{.unparsed}
///   v = (sum + (a1[k] << s)) * m1[k] >> t
///   v = (v + (a2[k] << u)) * m2[k] >> w        where there are two operators
///   v = max(v, 0)                              with ReLU
///   output = saturate(v + output.zero_point), held to element_bounds()
/// @endcode
/// with halves of >> away from zero, for the real number
/// @code{.unparsed}
///   r = (sum + bias[k] - input.zero_point * sum of the weights of k)
///       * input.scale * weight scale[k] / output.scale.
/// @endcode
/// v is r rounded to the nearest integer wherever r is further than error() from halfway between
/// two; elsewhere it is one of the two. Factors of a few bits, powers of two among them, have no
/// error. In int16 error() may be several of its 65536 steps, and counts what the shift rounds.
///
/// However many weights a kernel has, its sum is exact and what is above happens to it once. A
/// deconvolution has addends of its own in each phase (deconvolution_phases.hpp), as each sees
/// other weights; factors and shifts are the same in all of them.
class NVDLA_API QuantizedOperators {
 public:
  /// Reads kernels, weights (int8 or int16), bias or bias_reals, and relu of `layer`. Throws
  /// kInvalidArgument, naming the kernel, for scales that are no positive numbers, zero points that
  /// the precision does not have (of int16 -32768 neither), numbers of scales or biases that do not
  /// fit, sums beyond 32 bits (int16: 48), factors beyond 2^14 or below 2^-64, biases beyond 2^22
  /// steps of the output, kernels that lie so far apart that their error() would be beyond 1/4
  /// (int16: 64), and a layer that has operators already.
  ///
  /// A kernel whose products, input.zero_point included, cannot reach half a step of the output is
  /// dead: it is refused for none of these numbers, and where they would limit the others its
  /// results are its bias alone, which counts in error() as what its products reach.
  static QuantizedOperators fit(const Convolution& layer, const ConvolutionScales& scales);
  /// The same for a fully connected layer, whose kernels are its outputs.
  static QuantizedOperators fit(const FullyConnected& layer, const ConvolutionScales& scales);
  /// The same for a product, whose kernels are its columns.
  static QuantizedOperators fit(const MatrixProduct& product, const ConvolutionScales& scales);
  /// Its zero_point is chosen by the scales, too.
  static QuantizedOperators fit(const Deconvolution& layer, const ConvolutionScales& scales);

  /// Fits the operators of an average: the sum of `count` elements, times input.scale / (count *
  /// output.scale).
  static QuantizedOperators average(std::uint64_t count, const Quantization& input,
                                    const Quantization& output,
                                    Precision precision = Precision::kInt8);

  /// Makes `layer` use them, in place of its bias; what pads becomes the zero point. They must live
  /// until the layer is added. Those of a deconvolution only Network::deconvolution() can use:
  /// throws kInvalidArgument where there are several phases.
  void apply(Convolution& layer) const;
  void apply(FullyConnected& layer) const;   ///< The same for a fully connected layer.
  void apply(MatrixProduct& product) const;  ///< The same for a product with a matrix.

  /// Returns the greatest error in steps of the output, of all kernels and all sums whose results
  /// do not saturate.
  double error() const noexcept { return error_; }
  /// Returns the number of operators: 1 or 2.
  std::uint32_t operators() const noexcept { return two_ ? 2 : 1; }
  /// Returns the right shift of sums before all else, Arithmetic::accumulator_shift: 0 in int8.
  std::uint32_t accumulator_shift() const noexcept { return accumulator_shift_; }
  /// Exactly what the hardware computes from a sum of 32 bits, in int16 of 48. Throws
  /// kInvalidArgument for a kernel or a phase that there is not.
  std::int16_t result(std::uint32_t kernel, std::int64_t sum, std::uint32_t phase = 0) const;
  /// Returns the number of phases, 1 of all layers but deconvolutions. Of a deconvolution it is
  /// stride_width * stride_height, and the element at (y, x) is of phase y % stride_height *
  /// stride_width + x % stride_width.
  std::uint32_t phases() const noexcept { return phases_; }
  /// The operators of one of them, as those of a convolution.
  QuantizedOperators phase(std::uint32_t phase) const;

  /// (v + (addend[k] << left_shift)) * factor[k] >> right_shift, phase by phase
  struct Step {
    std::vector<std::int16_t> addends;  ///< one for each kernel, or for each phase and kernel
    std::vector<std::int16_t> factors;  ///< likewise
    std::uint32_t left_shift = 0;       ///< of the addends
    std::uint32_t right_shift = 0;      ///< of the products
  };
  /// Returns the first operator.
  const Step& first() const noexcept { return first_; }
  /// Returns the second operator, or nullptr where one is enough.
  const Step* second() const noexcept { return two_ ? &second_ : nullptr; }

 private:
  struct Fit;
  template <typename Layer>
  void set(Layer& layer) const;

  Step first_, second_;
  Precision precision_ = Precision::kInt8;
  std::uint32_t accumulator_shift_ = 0;
  std::uint32_t phases_ = 1;
  bool two_ = false;
  bool relu_ = false;
  std::int32_t input_zero_point_ = 0, output_zero_point_ = 0;
  ElementBounds bounds_;
  double error_ = 0;
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_QUANTIZED_HPP
