// SPDX-License-Identifier: MIT
//
// The window of convolutions and poolings, from ONNX's attributes.
#ifndef NVDLA_IMPORT_OPERATORS_WINDOW_HPP
#define NVDLA_IMPORT_OPERATORS_WINDOW_HPP

#include <cstdint>
#include <vector>

#include "import/operators/operation.hpp"

namespace nvdla::import {

// One axis of a window.
struct WindowAxis {
  std::int64_t input = 1;  // size of the input
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;  // padding
  std::int64_t after = 0;
  std::int64_t output = 1;  // size of the result
};

// Reads strides, dilations, pads and auto_pad for a window of `kernel`. `transposed`: of a
// transposed convolution, where `after` is negative if the result has more lines than the padding
// leaves.
std::vector<WindowAxis> read_window(const Operation& op, const std::vector<std::int64_t>& kernel,
                                    bool transposed = false);

// The same as a window of lines and columns: one axis has a line. Throws Refusal for three axes.
struct Window {
  WindowAxis y, x;
};
Window two_axes(const std::vector<WindowAxis>& axes);

// Returns the roles of a tensor with a window: batch, channels, then one or two axes.
const char* window_roles(std::size_t axes);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_WINDOW_HPP
