// SPDX-License-Identifier: MIT
//
// Sums of products with constants, and what of the nodes behind them becomes part of them.
#ifndef NVDLA_IMPORT_OPERATORS_SUMS_HPP
#define NVDLA_IMPORT_OPERATORS_SUMS_HPP

#include <optional>
#include <vector>

#include "import/operators/epilogue.hpp"
#include "import/operators/lowering.hpp"

namespace nvdla::import {

// Sums of products before anything else, and what each kernel adds. Affine operators behind the
// sums go into both, as long as nothing else has come between.
struct Sums {
  std::vector<float> weights;  // kernel by kernel
  std::vector<double> bias;    // of each kernel
  bool has_bias = false;

  std::size_t kernels() const { return bias.size(); }
};

// Takes the nodes behind the sums into weights, bias and epilogue; returns the last value.
ValueId follow_sums(Lowering& l, ValueId out, const Dims& dims, const View& view, Sums& sums,
                    Epilogue& epilogue);
// Returns the operand of a step for each kernel, or nothing if it is not of kernels.
std::optional<std::vector<double>> kernel_operand(const Step& step, const Dims& dims,
                                                  const View& view, std::size_t kernels);
// Returns an input as one number for each kernel, zeros if the node leaves it out.
std::vector<double> bias_of(const Operation& op, std::size_t index, std::size_t kernels);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_SUMS_HPP
