// SPDX-License-Identifier: MIT
#include "import/calibration/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "import/graph/refusal.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

// `KernelLimits` says what integers of a precision hold.
struct KernelLimits {
  Type type = Type::kInt8;
  double element = 127;
  // Steps of input * weight that a bias may have; sums of 32 bits have room beside it, and so have
  // those of 48 bits in int16.
  double bias = 0x1p29;
};

KernelLimits limits_of(Precision precision) {
  return precision == Precision::kInt16 ? KernelLimits{Type::kInt16, 32767, 0x1p40}
                                        : KernelLimits{};
}

}  // namespace

RealKernels::RealKernels(const Operation& op)
    : dims_(op.dims(1)), weights_(op.constant(1)->doubles()) {
  const bool gemm = op.op() == "Gemm";
  const bool transposed = op.op() == "ConvTranspose";
  convolves_ = transposed || op.op() == "Conv";
  if (transposed) {
    axis_ = 1;
    groups_ = static_cast<std::size_t>(op.attribute("group", std::int64_t{1}));
  } else if (!convolves_) {
    axis_ = gemm && op.attribute("transB", std::int64_t{0}) != 0 ? 0 : dims_.size() - 1;
  }
  bias_.resize(groups_ * static_cast<std::size_t>(dims_[axis_]));
  const double alpha = gemm ? op.attribute("alpha", 1.0) : 1;
  const double beta = gemm ? op.attribute("beta", 1.0) : 1;
  for (double& w : weights_) w *= alpha;
  if (!op.has(2)) return;
  has_bias_ = true;
  const Constant& bias = *op.constant(2);
  if (bias.size() != 1 && bias.size() != static_cast<std::int64_t>(kernels()))
    refuse_node("it adds {}; expected one number for each of {} kernels", dims_text(bias.dims()),
                kernels());
  for (std::size_t k = 0; k < kernels(); ++k)
    bias_[k] = beta * bias.real(bias.size() == 1 ? 0 : static_cast<std::int64_t>(k));
}

RealKernels read_kernels(const Graph& graph, const Node& node) {
  try {
    return RealKernels(Operation(graph, node));
  } catch (const Refusal& refusal) {
    throw_invalid_model("{}: {}: {}", detail::printable(graph.file), node_text(node),
                        refusal.what());
  }
}

std::size_t RealKernels::kernel_of(std::size_t element) const {
  std::size_t inner = 1;
  for (std::size_t i = axis_ + 1; i < dims_.size(); ++i)
    inner *= static_cast<std::size_t>(dims_[i]);
  const auto size = static_cast<std::size_t>(dims_[axis_]);
  const std::size_t group = groups_ == 1 ? 0 : element / (weights_.size() / groups_);
  return group * size + element / inner % size;
}

void RealKernels::apply(bool multiply, const std::vector<double>& operand) {
  for (std::size_t k = 0; k < kernels(); ++k) {
    if (multiply)
      bias_[k] *= operand[k];
    else
      bias_[k] += operand[k];
  }
  has_bias_ = has_bias_ || !multiply;
  if (!multiply) return;
  for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] *= operand[kernel_of(i)];
}

void RealKernels::write_bias(Graph& graph, Node& node) const {
  node.inputs.resize(has_bias_ ? 3 : 2);
  if (node.op == "Gemm") {
    node.attributes.erase("alpha");
    node.attributes.erase("beta");
  }
  if (!has_bias_) return;
  const Dims dims = {static_cast<std::int64_t>(kernels())};
  node.inputs[2] = graph.add({.name = node.name + " bias",
                              .type = Type::kFloat,
                              .dims = dims,
                              .constant = Constant::of_doubles(Type::kFloat, dims, bias_)});
}

void RealKernels::write(Graph& graph, Node& node) const {
  write_bias(graph, node);
  node.inputs[1] = graph.add({.name = node.name + " kernels",
                              .type = Type::kFloat,
                              .dims = dims_,
                              .constant = Constant::of_doubles(Type::kFloat, dims_, weights_)});
}

void RealKernels::write_integers(Graph& graph, Node& node, Precision precision,
                                 const Quantization& input, const Quantization& output) const {
  const KernelLimits limits = limits_of(precision);
  std::vector<double> most(kernels());
  for (std::size_t i = 0; i < weights_.size(); ++i)
    most[kernel_of(i)] = std::max(most[kernel_of(i)], std::fabs(weights_[i]));
  const auto input_scale = static_cast<double>(input.scale);
  QuantizedConstant q;
  for (std::size_t k = 0; k < kernels(); ++k) {
    // The results of a kernel without weights are its bias, whatever the scale.
    const double least = std::fabs(bias_[k]) / (input_scale * limits.bias);
    double scale = std::max(most[k] / limits.element, least);
    if (!(scale >= 0x1p-126)) scale = static_cast<double>(output.scale) / input_scale;
    q.scales.push_back(static_cast<float>(scale));
  }
  q.zero_points.assign(kernels(), 0);
  q.axis = axis_;
  std::vector<std::int64_t> integers(weights_.size());
  std::vector<double> floats(weights_.size());
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const auto scale = static_cast<double>(q.scales[kernel_of(i)]);
    const double v =
        std::clamp(std::nearbyint(weights_[i] / scale), -limits.element, limits.element);
    integers[i] = static_cast<std::int64_t>(v);
    floats[i] = v * scale;
  }
  q.elements = Constant::of_integers(limits.type, dims_, integers);
  write_bias(graph, node);
  node.inputs[1] = graph.add({.name = node.name + " kernels",
                              .type = Type::kFloat,
                              .dims = dims_,
                              .constant = Constant::of_doubles(Type::kFloat, dims_, floats),
                              .quantized = std::move(q)});
}

}  // namespace nvdla::import
