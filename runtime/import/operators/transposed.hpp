// SPDX-License-Identifier: MIT
//
// Kernels and window of transposed convolutions, which the library has as deconvolutions.
#ifndef NVDLA_IMPORT_OPERATORS_TRANSPOSED_HPP
#define NVDLA_IMPORT_OPERATORS_TRANSPOSED_HPP

#include <cstdint>
#include <vector>

#include "import/nodes/window.hpp"
#include "nvdla/operators/deconvolution.hpp"

namespace nvdla::import {

// Elements of ONNX's kernels, C x K/groups x R x S, as they lie in those of the library, which have
// zeros between taps that are apart and between groups.
struct TransposedKernels {
  std::vector<std::size_t> places;  // of each element
  std::size_t size = 0;             // elements of the library's
};

// Returns the sizes of the axes of kernels behind the first two.
std::vector<std::int64_t> kernel_sizes(const Operation& op);
std::vector<Inferred> infer_transposed(const Operation& op);
// Throws Refusal for kernels that are too large.
TransposedKernels transposed_kernels(const Dims& kernels, std::int64_t groups,
                                     const Window& window);
// Sets kernels, their sizes, strides and paddings.
void set_transposed_window(Deconvolution& layer, const Dims& result, const Window& window);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_TRANSPOSED_HPP
