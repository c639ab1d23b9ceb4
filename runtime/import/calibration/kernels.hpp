// SPDX-License-Identifier: MIT
//
// Kernels of sums of products: convolutions, and matrices, whose columns are the kernels.
#ifndef NVDLA_IMPORT_CALIBRATION_KERNELS_HPP
#define NVDLA_IMPORT_CALIBRATION_KERNELS_HPP

#include <vector>

#include "import/nodes/operation.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::import {

// The weights and the bias of a node, which has constants for both.
class RealKernels {
 public:
  explicit RealKernels(const Operation& op);

  std::size_t kernels() const noexcept { return bias_.size(); }
  // Returns the axis of the result along which the kernels are.
  std::size_t axis_of_result(std::size_t rank) const noexcept { return convolves_ ? 1 : rank - 1; }
  // Multiplies the results of each kernel, or adds to them.
  void apply(bool multiply, const std::vector<double>& operand);
  // Gives a node these weights and this bias.
  void write(Graph& graph, Node& node) const;
  // Gives a node the weights as integers of a precision with a scale for each kernel.
  void write_integers(Graph& graph, Node& node, Precision precision, const Quantization& input,
                      const Quantization& output) const;

 private:
  std::size_t kernel_of(std::size_t element) const;
  void write_bias(Graph& graph, Node& node) const;

  Dims dims_;
  bool convolves_ = false;
  std::size_t axis_ = 0;    // of the weights, along which the kernels are
  std::size_t groups_ = 1;  // of a transposed convolution, which has the kernels of one along it
  std::vector<double> weights_;
  std::vector<double> bias_;
  bool has_bias_ = false;
};

// Returns those of a node of a graph; throws Error naming it where they are not of its sizes.
RealKernels read_kernels(const Graph& graph, const Node& node);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_CALIBRATION_KERNELS_HPP
