// SPDX-License-Identifier: MIT
//
// Layers that the CPU computes have these checks in common, and are added by commit_cpu().
#ifndef NVDLA_COMPILER_OPERATORS_CPU_LAYER_HPP
#define NVDLA_COMPILER_OPERATORS_CPU_LAYER_HPP

#include <optional>
#include <span>
#include <string_view>

#include "compiler/operators/network_impl.hpp"

namespace nvdla::detail {

// Refuses scales and zero points that elements of `precision` cannot have.
void check_stands_for(std::string_view what, Precision precision, const Quantization& q);

// Returns `said`, or else the quantisation that the network knows; refuses to have neither.
Quantization quantization_of(std::string_view what, const TensorNode& tensor,
                             const std::optional<Quantization>& said);

struct CpuResult {
  Shape shape;
  Precision precision = Precision::kInt8;
  std::optional<Quantization> quantization;
};

// Adds the layer and its output, which it returns.
Tensor commit_cpu(Network::Impl& net, std::string_view name, std::span<const Tensor> inputs,
                  CpuNode node, const CpuResult& result);

// Adds the layers of the device that compute the same as `layer`, an average with
// CpuNode::sums_on_device; returns their output, which has a tensor of its own.
Tensor add_sums_on_device(Network::Impl& net, const LayerNode& layer);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_OPERATORS_CPU_LAYER_HPP
