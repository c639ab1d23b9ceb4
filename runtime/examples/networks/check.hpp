// SPDX-License-Identifier: MIT
//
// A network on a device, every result compared with the reference.
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

// Of a tensor: lines, columns, channels side by side. int8 is exact.
using Elements = std::vector<float>;

// What comparisons found.
struct Verdict {
  std::uint64_t tensors = 0, elements = 0, different = 0;
  std::string first;    // the first difference, in words
  double greatest = 0;  // fp16: the greatest error, as a part of what it may be
};

// Runs networks whose outputs are the results of all layers, some at a time, and compares them:
// int8 with the integer reference, fp16 with doubles. Returns what the device gave.
std::vector<Elements> check_every_tensor(const nvdla::Device& device, const Network& network,
                                         nvdla::Precision precision, Verdict& verdict,
                                         const Say& say = silent);

// A request as an application has it, whose output is the last layer's result.
void write_image(nvdla::Request& request, const Network& network, nvdla::Precision precision);
void check_result(const nvdla::Request& request, const Network& network, nvdla::Precision precision,
                  const Elements& expected, Verdict& verdict);

// How a result is spread.
struct Use {
  double zero = 0, saturated = 0;  // parts of 1

  // Whether a comparison of it shows anything.
  bool good() const { return zero < 0.95 && saturated < 0.05; }
};
Use use_of(const Integers& result);

// Runs layer by layer and compares what each one wrote with the same part of its result. Results
// that a pooling takes on the fly, and concatenations, whose parts are seen, are not counted.
void check_in_memory(const nvdla::Request& request, const Graph& graph,
                     std::span<const Elements> results, Verdict& verdict);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_CHECK_HPP
