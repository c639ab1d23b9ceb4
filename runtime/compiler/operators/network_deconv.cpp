// SPDX-License-Identifier: MIT
//
// Adding deconvolutions to a network.
#include <limits>
#include <utility>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/conv_parts.hpp"

namespace nvdla {
namespace {

using detail::DeconvNode;
using detail::precision_name;
using detail::SdpNode;
using detail::TensorNode;
using detail::throw_invalid_argument;

void check_zero_point(const Deconvolution& d, Precision processing) {
  if (d.zero_point == 0) return;
  if (processing == Precision::kFp16) {
    throw_invalid_argument("fp16 has no zero point, found {}", d.zero_point);
  }
  const std::int32_t low = processing == Precision::kInt8 ? -128 : -32768;
  detail::check_range("zero_point", d.zero_point, low, -low - 1);
  if (d.arithmetic.accumulator_shift != 0) {
    throw_invalid_argument(
        "an accumulator_shift of {} comes before what a zero point of {} adds: one of "
        "them must be 0",
        d.arithmetic.accumulator_shift, d.zero_point);
  }
}

// Returns the bias, less the zero point times all taps of a phase: outside of the input there is
// the zero point, too. Returns nothing where both are nothing.
std::vector<std::int32_t> phase_bias(const Deconvolution& d, const DeconvNode& node,
                                     std::uint32_t y, std::uint32_t x) {
  std::vector<std::int32_t> bias(d.bias.begin(), d.bias.end());
  if (d.zero_point == 0) return bias;
  detail::check_bias(d.bias.size(), d.bias_reals.size(), d.kernels, node.desc.weights.precision);
  bias.resize(d.kernels);
  bool any = !d.bias.empty();
  std::visit(
      [&](const auto& kernels) {
        const auto taps = deconvolution_weights(node.desc, y, x, kernels);
        const std::size_t each = taps.size() / d.kernels;
        for (std::size_t k = 0; k < d.kernels; ++k) {
          std::int64_t sum = bias[k];
          for (std::size_t i = 0; i < each; ++i) {
            sum -= std::int64_t{d.zero_point} * taps[k * each + i];
          }
          using Limits = std::numeric_limits<std::int32_t>;
          detail::check_range("bias with what the zero point adds", sum,
                              std::int64_t{Limits::min()}, std::int64_t{Limits::max()});
          bias[k] = static_cast<std::int32_t>(sum);
          any = any || sum != 0;
        }
      },
      *node.weights);
  if (!any) bias.clear();
  return bias;
}

// Refuses operands for each element: positions of the output lie apart in the cubes of its phases.
void check_operands_of_phases(const SdpNode& sdp) {
  for (const detail::OperatorNode* op :
       {&sdp.operators.x1, &sdp.operators.x2, static_cast<const detail::OperatorNode*>(&sdp.y)}) {
    if (op->tensor || op->mode == NVDLA_OPERAND_ELEMENT) {
      throw_invalid_argument(
          "operands of a deconvolution are of the layer or per channel: let a pointwise layer "
          "apply tensors and those of elements");
    }
  }
}

// Returns SDP behind the sums of phase (y, x), as the layer describes it or as `fitted` does.
SdpNode phase_sdp(const Network::Impl& net, const Deconvolution& d, const DeconvNode& node,
                  const detail::OperatorYNode& operator_y, const QuantizedOperators* fitted,
                  std::uint32_t y, std::uint32_t x) {
  const Shape out = deconvolution_output(node.desc);
  const Precision processing = node.desc.weights.precision;
  Deconvolution phase = d;
  if (fitted != nullptr) {
    const QuantizedOperators operators = fitted->phase(y * d.stride_width + x);
    Convolution alike;
    operators.apply(alike);
    phase.bias = alike.bias;
    phase.bias_reals = alike.bias_reals;
    phase.relu = alike.relu;
    phase.x1 = alike.x1;
    phase.x2 = alike.x2;
    phase.output = alike.output;
    phase.bounds = alike.bounds;
    return detail::conv_sdp(net, phase, operator_y, out, processing);
  }
  const std::vector<std::int32_t> bias = phase_bias(d, node, y, x);
  if (d.zero_point != 0) phase.bias = bias;
  return detail::conv_sdp(net, phase, operator_y, out, processing);
}

}  // namespace

Tensor detail::add_deconvolution(Network::Impl& net, Tensor input, const Deconvolution& d,
                                 const QuantizedOperators* fitted) {
  const TensorNode& tensor = net.cube("input", input);
  const Precision processing = kernel_precision(d.weights);
  if (tensor.precision != processing) {
    throw_invalid_argument("the input is {}, the kernels are {}: let a pointwise layer convert it",
                           precision_name(tensor.precision), precision_name(processing));
  }
  DeconvNode node;
  node.desc.input = tensor.shape;
  node.desc.weights = {d.kernels, tensor.shape.channels, d.kernel_height, d.kernel_width,
                       processing};
  node.desc.stride_width = d.stride_width;
  node.desc.stride_height = d.stride_height;
  node.desc.pad_top = d.pad_top;
  node.desc.pad_bottom = d.pad_bottom;
  node.desc.pad_left = d.pad_left;
  node.desc.pad_right = d.pad_right;
  node.desc.extra_bottom = d.extra_bottom;
  node.desc.extra_right = d.extra_right;
  node.accumulator_shift =
      fitted != nullptr ? fitted->accumulator_shift() : d.arithmetic.accumulator_shift;
  const Shape out = deconvolution_output(node.desc);
  Kernels kernels = copy_kernels(d.weights, node.desc.weights);
  node.nan_to_zero = nan_to_zero(d.arithmetic, processing, kernels);
  node.weights = std::make_shared<const Kernels>(std::move(kernels));
  const Precision result = conv_result(processing, d.precision);
  check_zero_point(d, processing);
  node.zero_point = d.zero_point;
  const OperatorYNode operator_y = net.make_operator_y(d.y, false, out, processing);
  for (std::uint32_t y = 0; y < d.stride_height; ++y) {
    for (std::uint32_t x = 0; x < d.stride_width; ++x) {
      SdpNode sdp = phase_sdp(net, d, node, operator_y, fitted, y, x);
      check_operands_of_phases(sdp);
      node.sdp.push_back(std::move(sdp));
    }
  }
  LayerNode layer;
  layer.name = d.name;
  layer.input = net.index("input", input);
  layer.macs =
      node.desc.weights.elements() * tensor.shape.height * tensor.shape.width * tensor.shape.batch;
  layer.part = std::move(node);
  return net.commit(std::move(layer), out, result);
}

Tensor Network::deconvolution(Tensor input, const Deconvolution& d) {
  return detail::add_layer(impl(), d.name,
                           [&] { return detail::add_deconvolution(impl(), input, d); });
}

}  // namespace nvdla
