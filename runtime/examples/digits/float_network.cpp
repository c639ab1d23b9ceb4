// SPDX-License-Identifier: MIT
#include "float_network.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace digits {
namespace {

std::vector<float> padded(const Layer& layer, const std::vector<float>& input) {
  const int height = layer.pad_top + layer.input.height + layer.pad_bottom;
  const int width = layer.pad_left + layer.input.width + layer.pad_right;
  const auto value = static_cast<float>(layer.pad_value * layer.input_scale);
  std::vector<float> result(Shape{layer.input.channels, height, width}.elements(), value);
  auto source = input.begin();
  for (int c = 0; c < layer.input.channels; ++c) {
    for (int y = 0; y < layer.input.height; ++y, source += layer.input.width) {
      std::copy_n(source, layer.input.width,
                  result.begin() + (c * height + layer.pad_top + y) * width + layer.pad_left);
    }
  }
  return result;
}

std::vector<float> convolve(const Layer& layer, const std::vector<float>& input) {
  const std::vector<float> x = padded(layer, input);
  const int height = layer.pad_top + layer.input.height + layer.pad_bottom;
  const int width = layer.pad_left + layer.input.width + layer.pad_right;
  std::vector<float> output;
  output.reserve(layer.output.elements());
  const int kernel_size = layer.input.channels * layer.kernel_height * layer.kernel_width;
  for (int k = 0; k < layer.output.channels; ++k) {
    const float* const kernel = layer.float_weights.data() + k * kernel_size;
    for (int y = 0; y < layer.output.height; ++y) {
      for (int q = 0; q < layer.output.width; ++q) {
        const float* weight = kernel;
        float sum = layer.float_bias[static_cast<std::size_t>(k)];
        for (int c = 0; c < layer.input.channels; ++c) {
          for (int r = 0; r < layer.kernel_height; ++r) {
            const float* const line = x.data() +
                                      (c * height + y * layer.stride_height + r) * width +
                                      q * layer.stride_width;
            for (int s = 0; s < layer.kernel_width; ++s) {
              sum += line[s] * *weight++;
            }
          }
        }
        output.push_back(layer.relu ? std::max(sum, 0.0F) : sum);
      }
    }
  }
  return output;
}

}  // namespace

std::vector<float> float_scores(const Weights& weights, std::span<const std::uint8_t> pixels) {
  if (pixels.size() != weights.input.elements()) {
    throw std::invalid_argument("picture has " + std::to_string(pixels.size()) +
                                " pixels, the network takes " +
                                std::to_string(weights.input.elements()));
  }
  std::vector<float> values;
  values.reserve(pixels.size());
  for (const std::uint8_t pixel : pixels) {
    values.push_back(static_cast<float>((pixel - weights.input_offset) * weights.input_scale));
  }
  for (const Layer& layer : weights.layers) {
    values = convolve(layer, values);
  }
  return values;
}

}  // namespace digits
