// SPDX-License-Identifier: MIT
//
// What adding layers that the CPU computes to a network has in common.
#ifndef NVDLA_COMPILER_GRAPH_CPU_LAYER_HPP
#define NVDLA_COMPILER_GRAPH_CPU_LAYER_HPP

#include <optional>
#include <span>
#include <string_view>

#include "compiler/graph/network_impl.hpp"

namespace nvdla::detail {

// Refuses what elements of `precision` cannot stand for.
void check_stands_for(std::string_view what, Precision precision, const Quantization& q);

// What is said of an input, or else known.
Quantization quantization_of(std::string_view what, const TensorNode& tensor,
                             const std::optional<Quantization>& said);

struct CpuResult {
  Shape shape;
  Precision precision = Precision::kInt8;
  std::optional<Quantization> quantization;
};

// The layer with its output.
Tensor commit_cpu(Network::Impl& net, std::string_view name, std::span<const Tensor> inputs,
                  CpuNode node, const CpuResult& result);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_CPU_LAYER_HPP
