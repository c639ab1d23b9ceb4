// SPDX-License-Identifier: MIT
//
// Products of two tensors.
#ifndef NVDLA_HOST_OPS_PRODUCT_HPP
#define NVDLA_HOST_OPS_PRODUCT_HPP

#include "host_ops/cube.hpp"

namespace nvdla::cpu {

// Positions are rows, channels columns: from.row(i) times b.row(j), or b.column(j), for element j
// of row i. `factor` is what a product of elements without their zero points is worth in steps of
// the target.
void multiply(const Source& a, const Source& b, const Target& to, bool transposed, double factor);

}  // namespace nvdla::cpu

#endif  // NVDLA_HOST_OPS_PRODUCT_HPP
