// SPDX-License-Identifier: MIT
//
// Runs a network on a device and compares every result with the reference.
#ifndef NVDLA_EXAMPLES_NETWORKS_CHECK_HPP
#define NVDLA_EXAMPLES_NETWORKS_CHECK_HPP

#include <cstdint>
#include <nvdla/nvdla.hpp>
#include <span>
#include <string>
#include <vector>

#include "graph.hpp"
#include "numbers.hpp"

namespace networks {

// The elements of a tensor in the order line, column, channel. Floats represent int8 exactly.
using Elements = std::vector<float>;

// The result of comparisons.
struct Verdict {
  std::uint64_t tensors = 0, elements = 0, different = 0;
  std::string first;    // the first difference, in words
  double greatest = 0;  // fp16: the greatest error, as a part of the allowed one
};

// Runs networks whose outputs are the results of all layers, some at a time, and compares them:
// int8 with the integer reference, fp16 with doubles. Returns the device's results.
std::vector<Elements> check_every_tensor(const nvdla::Device& device, const Network& network,
                                         nvdla::Precision precision, Verdict& verdict,
                                         const Say& say = silent);

// These serve a request as an application makes it, whose output is the last layer's result.
void write_image(nvdla::Request& request, const Network& network, nvdla::Precision precision);
void check_result(const nvdla::Request& request, const Network& network, nvdla::Precision precision,
                  const Elements& expected, Verdict& verdict);

// The distribution of a result's elements.
struct Use {
  double zero = 0, saturated = 0;  // fractions

  // Returns true if the result varies enough for a comparison to reveal errors.
  bool good() const { return zero < 0.95 && saturated < 0.05; }
};
Use use_of(const Integers& result);

// Runs layer by layer and compares what each layer wrote with the same part of its result. Does not
// count results that a pooling takes on the fly, nor concatenations, whose parts are compared.
void check_in_memory(const nvdla::Request& request, const Graph& graph,
                     std::span<const Elements> results, Verdict& verdict);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_CHECK_HPP
