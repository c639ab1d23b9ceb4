// SPDX-License-Identifier: MIT
//
// Poolings that several families of operators share.
#ifndef NVDLA_IMPORT_OPERATORS_POOLS_HPP
#define NVDLA_IMPORT_OPERATORS_POOLS_HPP

#include <vector>

#include "import/operators/lowering.hpp"

namespace nvdla::import {

// Returns the average of all lines, all columns or both of a tensor; the axes that are averaged
// have size 1 afterwards.
Tensor average_positions(Lowering& lowering, Tensor x, Shape& shape, bool lines, bool columns);
// The same for the largest or smallest element.
Tensor extreme_positions(Lowering& lowering, Tensor x, Shape& shape, bool lines, bool columns,
                         nvdla_pool method);
// Returns true for each axis that a reduction reduces.
std::vector<bool> reduced_axes(const Operation& op);
// Lowers a node that computes x - log(sum(exp(x))) over the axes from `first` to `last`.
void subtract_log_sum(Lowering& lowering, const Operation& op, std::size_t first, std::size_t last);
// Returns the sum over channels, times `factor`.
Tensor sum_channels(Lowering& lowering, Tensor x, Shape& shape, double factor);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_POOLS_HPP
