// SPDX-License-Identifier: MIT
//
// A graph with its numbers as a network of the library.
#ifndef NVDLA_EXAMPLES_NETWORKS_DESCRIBE_HPP
#define NVDLA_EXAMPLES_NETWORKS_DESCRIBE_HPP

#include <nvdla/nvdla.hpp>
#include <span>
#include <vector>

#include "graph.hpp"
#include "numbers.hpp"

namespace networks {

// The input is called "image", outputs are the results of layers `shown`, called as the layers.
// It takes `batch` images at once. fp16 computes what int8 does without its roundings: elements are
// numbers in place of steps.
nvdla::Network describe(const Network& network, nvdla::Precision precision,
                        std::span<const Value> shown, std::uint32_t batch = 1);

// What a layer of fp16 adds and multiplies by, each an fp16 number.
struct Reals {
  std::vector<float> bias, factors;
};
Reals reals_of(const Network& network, std::span<const double> steps, Value layer);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_DESCRIBE_HPP
