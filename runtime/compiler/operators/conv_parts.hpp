// SPDX-License-Identifier: MIT
//
// Convolutions and deconvolutions have these parts and checks in common.
#ifndef NVDLA_COMPILER_OPERATORS_CONV_PARTS_HPP
#define NVDLA_COMPILER_OPERATORS_CONV_PARTS_HPP

#include <utility>

#include "compiler/graph/bounds.hpp"
#include "compiler/operators/network_impl.hpp"
#include "packing/precision.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

// A kernel has at most so many lines and columns, and so has what becomes a convolution of all
// positions.
inline constexpr std::uint32_t kMostPositions = 32;

// Returns the precision in which a layer with these kernels works, which is theirs.
Precision kernel_precision(const KernelSpan& weights) noexcept;
std::size_t kernel_count(const KernelSpan& weights) noexcept;
// Copies kernels; reals become fp16. Throws kInvalidArgument unless there are `desc.elements()`.
Kernels copy_kernels(const KernelSpan& weights, const WeightsDesc& desc);

// Returns the precision of the result of a convolution in `processing`. Throws kInvalidArgument
// for one that no convolution makes, with the layer that does.
Precision conv_result(Precision processing, const std::optional<Precision>& wanted);

// Returns whether NaN of the input reads as zero, and makes NaN of kernels zeros then. Throws
// kInvalidArgument where NaN is to be zero and `processing` has none.
bool nan_to_zero(const Arithmetic& arithmetic, Precision processing, Kernels& kernels);

// Returns which wish only a convolution of one group can have, or nullptr.
const char* wish_of_one_group(const Convolution::Tuning& tuning) noexcept;
// Throws kInvalidArgument for a value that is none, for a wish that `conv` cannot have, and for
// wishes that exclude each other.
void check_tuning(const Convolution::Tuning& tuning, const nvdla_conv& conv);

void check_bias(std::size_t integers, std::size_t reals, std::uint32_t kernels,
                Precision processing);

// Returns a convolution with operator Y, which compares or not, without its output.
LayerNode make_convolution(Network::Impl& net, Tensor input, const Convolution& convolution,
                           const OperatorY& y, bool compares);

// Returns SDP of a Convolution or a Deconvolution, with operator Y, which compares or not.
template <typename Layer>
SdpNode conv_sdp(const Network::Impl& net, const Layer& c, const OperatorYNode& y, const Shape& out,
                 Precision processing) {
  check_bias(c.bias.size(), c.bias_reals.size(), c.kernels, processing);
  const Arithmetic& arithmetic = c.arithmetic;
  if (processing == Precision::kFp16 && arithmetic.accumulator_shift != 0) {
    throw_invalid_argument("fp16 has no shifts, found an accumulator_shift of {}",
                           arithmetic.accumulator_shift);
  }
  SdpNode sdp;
  sdp.processing = processing;
  sdp.nan_to_zero = arithmetic.nan_sums_to_zero;
  OperatorNode x1 = net.make_operator("x1", c.x1, out, processing);
  OperatorNode x2 = net.make_operator("x2", c.x2, out, processing);
  if (!c.bias_reals.empty()) {
    Operator bias;
    bias.alu = NVDLA_ALU_SUM;
    bias.alu_reals = c.bias_reals;
    if (x1.active() && x2.active()) {
      throw_invalid_argument(
          "the bias takes an operator, which leaves no place for x1 and x2: two are "
          "there");
    }
    if (x1.active()) x2 = std::move(x1);
    x1 = net.make_operator("bias", bias, out, processing);
  }
  sdp.y = y;
  // A comparison makes no results: what it compares has passed ReLU.
  const bool behind_y = c.relu && y.active() && !sdp.silent();
  sdp.operators = place_operators(c.bias, std::move(x1), std::move(x2), c.relu && !behind_y, out);
  sdp.converter = check_converter(c.output, processing);
  const Precision result = c.precision.value_or(processing);
  sdp.bounds = check_bounds(c.bounds, result);
  if (behind_y) add_relu_behind_y(sdp, result, out);
  return sdp;
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_OPERATORS_CONV_PARTS_HPP
