// SPDX-License-Identifier: MIT
//
// Describes a graph with its numbers as a network of the library.
#ifndef NVDLA_EXAMPLES_NETWORKS_DESCRIBE_HPP
#define NVDLA_EXAMPLES_NETWORKS_DESCRIBE_HPP

#include <nvdla/nvdla.hpp>
#include <span>
#include <vector>

#include "graph.hpp"
#include "numbers.hpp"

namespace networks {

// The input is "image", the outputs are the results of the layers `shown` under the layers' names.
// The network takes `batch` images at once. fp16 computes what int8 does, without its roundings:
// elements are numbers instead of steps.
nvdla::Network describe(const Network& network, nvdla::Precision precision,
                        std::span<const Value> shown, std::uint32_t batch = 1);

// The biases and factors of a layer in fp16; all are fp16 numbers.
struct Reals {
  std::vector<float> bias, factors;
};
Reals reals_of(const Network& network, std::span<const double> steps, Value layer);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_DESCRIBE_HPP
