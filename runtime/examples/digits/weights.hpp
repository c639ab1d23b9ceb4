// SPDX-License-Identifier: MIT
//
// The digit network as weights.json describes it: geometry, float numbers and int8 numbers.
// Reads and checks the file; knows nothing of devices.
#ifndef NVDLA_EXAMPLES_DIGITS_WEIGHTS_HPP
#define NVDLA_EXAMPLES_DIGITS_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace digits {

struct Shape {
  int channels = 0;
  int height = 0;
  int width = 0;

  bool operator==(const Shape&) const = default;
  std::size_t elements() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
};

// One convolution with what follows it in SDP. Weights are in K, C, R, S order.
struct Layer {
  std::string name;
  Shape input;
  Shape output;
  int kernel_height = 0;
  int kernel_width = 0;
  int stride_width = 1;
  int stride_height = 1;
  int pad_left = 0;
  int pad_top = 0;
  int pad_right = 0;
  int pad_bottom = 0;
  int pad_value = 0;  // in int8 input units
  bool relu = false;

  // Real value of one int8 step.
  double input_scale = 0.0;
  double output_scale = 0.0;

  std::vector<float> float_weights;
  std::vector<float> float_bias;

  std::vector<std::int8_t> weights;
  std::vector<std::int16_t> bias;  // accumulator units, shifted left by bias_shift
  int bias_shift = 0;
  std::int32_t out_offset = 0;
  std::int16_t out_scale = 1;
  int out_shift = 0;
};

struct Weights {
  Shape input;
  int input_offset = 0;  // int8 input = pixel - input_offset
  double input_scale = 0.0;
  std::vector<std::string> classes;
  std::vector<Layer> layers;
};

// Throws std::runtime_error that names the file, the layer and the field.
Weights load_weights(const std::filesystem::path& path);

}  // namespace digits

#endif  // NVDLA_EXAMPLES_DIGITS_WEIGHTS_HPP
