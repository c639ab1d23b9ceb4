// SPDX-License-Identifier: MIT
//
// Computes each layer in int8 with plain loops, independently of the device.
#ifndef NVDLA_EXAMPLES_NETWORKS_INTEGER_REFERENCE_HPP
#define NVDLA_EXAMPLES_NETWORKS_INTEGER_REFERENCE_HPP

#include <cstdint>
#include <span>
#include <vector>

#include "graph.hpp"
#include "numbers.hpp"

namespace networks {

// The results of a layer's inputs, in order.
using Inputs = std::vector<const Integers*>;

// Returns the sums of a convolution or deconvolution in the order position, kernel.
std::vector<std::int32_t> sums_of(const Graph& graph, const Layer& layer, const Numbers& numbers,
                                  const Integers& input);
// Applies SDP up to the output converter to sums, or to the elements that a Norm reads. The results
// are in units of 2^-kFraction of a step.
std::vector<std::int32_t> fine_results(const Layer& layer, const Numbers& numbers,
                                       std::span<const std::int32_t> sums,
                                       const Integers* shortcut);
Integers converted(std::span<const std::int32_t> fine, const nvdla::Converter& output);

Integers pooled(const Graph& graph, const Layer& layer, const Integers& input);
Integers normalised(const Layer& layer, const nvdla::Lut& lut, const Integers& input);
Integers scaled(const Layer& layer, const Integers& input, const Integers& factors);
Integers concatenated(const Graph& graph, const Layer& layer, const Inputs& inputs);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_INTEGER_REFERENCE_HPP
