// SPDX-License-Identifier: MIT
//
/// @file
/// Look-up tables, fitted to a function. SDP's operator Y (activations) and CDP (normalisation)
/// each have two tables of 16-bit entries: LE with 65, evenly spaced or at powers of two, and LO
/// with 257, evenly spaced by a power of two. Between entries a unit interpolates, beyond both ends
/// it follows a line. A Lut is both tables with the converters that go with them, and says how far
/// from the function the hardware's results are.
///
/// @code
///   // int8: accumulators of 0.0004 each go in, steps of 1/128 come out.
///   nvdla::Lut lut = nvdla::lut::sigmoid({.input = {0.0004F}, .output = {1 / 128.0F}});
///   lut.report().error;                         // at most 1/128
///   lut.apply(convolution);                     // of a Network: operator Y, output converter
///   lut.apply(layer, 0);                        // the same for a layer of a program,
///   program.luts = {&lut.table(), 1};           // which has the table
///
///   // fp16: numbers are what they are.
///   nvdla::Lut erf = nvdla::Lut::fit([](double x) { return std::erf(x); }, {-4, 4},
///                                    nvdla::Precision::kFp16);
/// @endcode
#ifndef NVDLA_LOWLEVEL_LUT_HPP
#define NVDLA_LOWLEVEL_LUT_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla {

struct Convolution;
struct Normalization;
struct Pointwise;

/// A range of a function's argument. Without an end it goes as far as inputs do.
struct Range {
  double lo = -std::numeric_limits<double>::infinity();  ///< least argument
  double hi = std::numeric_limits<double>::infinity();   ///< greatest argument
};

/// Formats of the numbers that go in and come out.
struct LutFormat {
  /// Precision of the layer's result. int8 and int16 are computed in integers, fp16 in fp16.
  Precision precision = Precision::kInt8;
  /// Integers only. What a unit of the input is worth: of SDP the int32 that reaches operator Y
  /// (for a convolution scale of the input * scale of the weights * 2^accumulator shift, unless
  /// X1 or X2 scale too), of CDP the element in memory.
  Quantization input = {};
  /// Integers only. Of the element in memory that comes out.
  Quantization output = {};
  /// SDP in integers: bits of the numbers that go in, 2..32. 32 for accumulators and whatever X1
  /// and X2 have worked on; 8 or 16 for elements that come from memory as they are.
  std::uint32_t input_bits = 32;
};

/// The error of a table, over the range that it was made for.
struct LutReport {
  /// Greatest |result - function|, in the unit of real numbers; in fp16 divided by |function| where
  /// that is above 1. Integer results have the output's steps, so half a step is the least that can
  /// be asked for. Where the function goes beyond what the output can hold, the nearest that it can
  /// hold is right.
  double error = 0;
  /// An argument with that error.
  double input = 0;
  /// Normalisation in int8: the real sum of squares with it, `input` is the element. Otherwise 0.
  double sum_of_squares = 0;
  /// Every input was tried: always in fp16 (each fp16 number; from a convolution come numbers
  /// between them), in integers up to 2^20 of them. With more the function was compared at both
  /// ends of each run of inputs that give the same result, which finds the greatest error if it
  /// rises or falls throughout a run. For lrn() see there.
  bool every_input = true;
};

namespace detail {
struct Handles;

/// An object that is called as double(double), by reference, for the time of a call.
class FunctionRef {
 public:
  template <typename F>
  requires(std::is_invocable_r_v<double, const F&, double> &&
           !std::is_same_v<F, FunctionRef>) explicit FunctionRef(const F& function) noexcept
      : object_(&function), call_([](const void* object, double x) -> double {
          return (*static_cast<const F*>(object))(x);
        }) {}
  double operator()(double x) const { return call_(object_, x); }

 private:
  const void* object_;
  double (*call_)(const void*, double);
};
}  // namespace detail

/// Immutable, a handle: copies share it.
class NVDLA_API Lut {
 public:
  struct State;  ///< the library's own

  /// A table for SDP. `function` takes and gives real numbers; it is called in `range` only (and
  /// where inputs go that far), from one thread. Steps and places of both tables, exponential or
  /// linear, priorities and slopes are chosen by trying them in the unit's own arithmetic. Inputs
  /// beyond the range get what the ends of the tables lead to: the last value, or a line from it.
  /// In fp16, where the function has one sign and comes to 0 at an end of all numbers, as a sigmoid
  /// does, small results are within some percent of themselves.
  /// Where no end is given, infinite fp16 inputs count as 3.4e38, as the hardware reads them.
  /// Throws kInvalidArgument, naming the argument: a range that is empty or has no input in it, a
  /// scale that is no positive number, a function that gives NaN or throws (the exception is
  /// nested in the Error). An infinite result is the greatest number of its sign.
  template <typename F>
  requires std::is_invocable_r_v<double, const F&, double>
  static Lut fit(const F& function, const Range& range, const LutFormat& format) {
    /// An object, also where `function` is a plain function.
    const auto call = [&function](double x) -> double { return function(x); };
    return fit_function(detail::FunctionRef(call), range, format);
  }
  /// The same where the precision is all that is to be said, as of fp16.
  template <typename F>
  requires std::is_invocable_r_v<double, const F&, double>
  static Lut fit(const F& function, const Range& range, Precision precision) {
    LutFormat format;
    format.precision = precision;
    return fit(function, range, format);
  }

  /// An empty handle: table() throws kInvalidArgument.
  Lut() noexcept;
  Lut(const Lut&) noexcept;             ///< Copies the handle.
  Lut(Lut&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Lut& operator=(const Lut&) noexcept;  ///< Copies the handle.
  Lut& operator=(Lut&&) noexcept;       ///< Moves; the source is empty afterwards.
  ~Lut();                               ///< Releases what it refers to.

  /// True unless the handle is empty.
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Returns the table for ProgramDesc::luts; its member `unit` names the unit. It lives as long as
  /// a handle.
  const nvdla_lut& table() const;
  /// Returns how far the table is from its function. Throws kInvalidArgument on an empty handle.
  const LutReport& report() const;
  /// Returns the formats that the table was fitted for. Throws kInvalidArgument on an empty handle.
  const LutFormat& format() const;

  /// Returns what the hardware computes for an argument: the input nearest to `x` through the table
  /// and the output converter, as a real number. Throws kInvalidArgument for a table of CDP.
  double result(double x) const;

  /// Makes `layer` use the table, which is number `index` of its program's. SDP: operator Y looks
  /// up (what else it does is left alone), result's precision and output converter are set. CDP:
  /// precision, window and both converters are set. Throws kInvalidArgument if the layer's kind
  /// has no such unit.
  void apply(nvdla_layer& layer, std::uint32_t index) const;
  /// The same for a layer of a network. The Lut must live until the layer is added. A table in fp16
  /// is for layers that work in fp16, others are for those that work in integers. Throws
  /// kInvalidArgument for a table of the other unit.
  void apply(Convolution& layer) const;
  void apply(Pointwise& layer) const;  ///< The same for SDP alone.
  /// The same for a normalisation, which takes a table of CDP; it says what the results stand for.
  void apply(Normalization& layer) const;

 private:
  friend struct detail::Handles;
  explicit Lut(std::shared_ptr<const State> state) noexcept;
  static Lut fit_function(detail::FunctionRef function, const Range& range,
                          const LutFormat& format);
  std::shared_ptr<const State> state_;
};

/// Functions that networks ask for. Without a range: for every input.
///
/// Greatest errors over every input: sigmoid and tanh one step of the output in int8 (whatever the
/// scale of the input; scale of the output 1/128 or coarser, for sigmoid with zero point -128 also
/// 1/256) and 2^-9 in fp16. So are exp, softplus and swish in int8. report() has what a table of
/// given formats achieves.
namespace lut {
NVDLA_API Lut sigmoid(const LutFormat& format, const Range& range = {});  ///< 1 / (1 + e^-x)
NVDLA_API Lut tanh(const LutFormat& format, const Range& range = {});     ///< hyperbolic tangent
/// e^x. Results rise steeply: give the range that is needed, such as {-inf, 0} for softmax.
NVDLA_API Lut exp(const LutFormat& format, const Range& range = {});
NVDLA_API Lut softplus(const LutFormat& format, const Range& range = {});  ///< ln(1 + e^x)
NVDLA_API Lut swish(const LutFormat& format, const Range& range = {});     ///< x / (1 + e^-x)

/// Local response normalisation across channels, for CDP:
/// @code{.unparsed}
///   y[c] = x[c] * (k + alpha / size * sum of x[i]^2, i = c - size/2 .. c + size/2)^-beta
/// @endcode
/// with zeros outside of the tensor. size is 3, 5, 7 or 9; k > 0, alpha >= 0. No |x| is above
/// `greatest`: the less the formats leave open the better a table can be, above all in fp16.
/// input_bits has no meaning. int8 and int16 stand for x = (q - zero point) * scale, exactly.
///
/// The report is about y. int8: exact, over every element with every sum of squares that elements
/// around it can make. int16 and fp16: over every element alone, and in a window of elements like
/// it; `every_input` is false.
NVDLA_API Lut lrn(double alpha, double beta, double k, std::uint32_t size, const LutFormat& format,
                  double greatest = std::numeric_limits<double>::infinity());
}  // namespace lut

}  // namespace nvdla

#endif  // NVDLA_LOWLEVEL_LUT_HPP
