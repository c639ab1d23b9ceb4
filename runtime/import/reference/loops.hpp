// SPDX-License-Identifier: MIT
//
// Sums of products in floats, in an order that depends on nothing but the sizes. Libraries choose
// the order by the processor; calibration has to give the same scales on each.
#ifndef NVDLA_IMPORT_REFERENCE_LOOPS_HPP
#define NVDLA_IMPORT_REFERENCE_LOOPS_HPP

#include <cstddef>
#include <functional>
#include <vector>

namespace nvdla::import {

// Columns of the second matrix that products() asks for at a time.
inline constexpr std::size_t kBlockColumns = 64;

// `Products` describes a product of matrices: `rows` x `depth` times `depth` x `columns`.
struct Products {
  std::size_t rows = 0, depth = 0, columns = 0;
  const float* left = nullptr;  // row by row
  // Writes `count` columns from `first` on, line d of them from block + d * kBlockColumns on.
  std::function<void(std::size_t first, std::size_t count, float* block)> right;
  const float* bias = nullptr;  // one for each row; may be nullptr
};

// Writes the product row by row. Each element is a sum over the depth in its order.
void multiply_matrices(const Products& products, float* out);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_REFERENCE_LOOPS_HPP
