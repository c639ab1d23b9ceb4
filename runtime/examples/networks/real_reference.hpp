// SPDX-License-Identifier: MIT
//
// Computes each layer of an fp16 network in doubles, with bounds on the hardware's deviation.
#ifndef NVDLA_EXAMPLES_NETWORKS_REAL_REFERENCE_HPP
#define NVDLA_EXAMPLES_NETWORKS_REAL_REFERENCE_HPP

#include <span>
#include <vector>

#include "graph.hpp"
#include "numbers.hpp"

namespace networks {

// A result before it is rounded to fp16, with a bound on the error up to there: sums of 64 products
// are aligned to the greatest product with at least 20 bits, which loses at most 2^-13 of |kernel|
// * |window|; SDP computes in fp32; averages and tables add up with 11 bits.
struct Expected {
  double value = 0;
  double error = 0;

  // Returns the bound that includes the rounding of the result.
  double bound() const;
};

// Returns the expected elements of a layer's result, given the results that earlier layers had on
// the device.
std::vector<Expected> expect_reals(const Network& network, std::span<const double> steps,
                                   Value layer, std::span<const std::vector<float>> results);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_REAL_REFERENCE_HPP
