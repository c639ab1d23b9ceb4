// SPDX-License-Identifier: MIT
//
// The window of convolutions and poolings, from ONNX's attributes.
#ifndef NVDLA_IMPORT_NODES_WINDOW_HPP
#define NVDLA_IMPORT_NODES_WINDOW_HPP

#include <cstdint>
#include <vector>

#include "import/nodes/operation.hpp"

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

// Throws Refusal for a window with gaps, for layers that have no dilation.
void check_no_dilation(const Window& window);

// Sets kernel, strides, padding and, where it has that, dilation of a layer of the network. Throws
// Refusal for a dilation that the layer does not have.
template <typename Layer>
void set_window(Layer& layer, const Window& window) {
  layer.kernel_height = u32(window.y.kernel);
  layer.kernel_width = u32(window.x.kernel);
  layer.stride_height = u32(window.y.stride);
  layer.stride_width = u32(window.x.stride);
  layer.pad_top = u32(window.y.before);
  layer.pad_bottom = u32(window.y.after);
  layer.pad_left = u32(window.x.before);
  layer.pad_right = u32(window.x.after);
  if constexpr (requires { layer.dilation_height; }) {
    layer.dilation_height = u32(window.y.dilation);
    layer.dilation_width = u32(window.x.dilation);
  } else {
    check_no_dilation(window);
  }
}

// Returns the roles of a tensor with a window: batch, channels, then one or two axes.
const char* window_roles(std::size_t axes);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_NODES_WINDOW_HPP
