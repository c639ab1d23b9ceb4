// SPDX-License-Identifier: MIT
//
// What each layer computes in fp16, in doubles, and how far from that the hardware may be.
#ifndef NVDLA_EXAMPLES_NETWORKS_REAL_REFERENCE_HPP
#define NVDLA_EXAMPLES_NETWORKS_REAL_REFERENCE_HPP

#include <span>
#include <vector>

#include "graph.hpp"
#include "numbers.hpp"

namespace networks {

// A result before it is rounded to fp16, and the greatest error of all that comes before: sums of
// 64 products are aligned to the greatest of them with 20 bits at least, which loses at most 2^-13
// of |kernel| * |window|; SDP computes in fp32; averages and table are added up with 11 bits.
struct Expected {
  double value = 0;
  double error = 0;

  // With the rounding of the result.
  double bound() const;
};

// Each element of a layer's result, from what the layers before left on the device.
std::vector<Expected> expect_reals(const Network& network, std::span<const double> steps,
                                   Value layer, std::span<const std::vector<float>> results);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_REAL_REFERENCE_HPP
