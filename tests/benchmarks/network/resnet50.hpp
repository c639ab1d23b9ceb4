// SPDX-License-Identifier: MIT
//
// ResNet-50 in int8 with random weights, as a network of the library: a bias and a multiplier for
// each kernel, the sums of the residual blocks added where the results are at hand.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nvdla/nvdla.hpp"

namespace nvdla::bench {

// Which operator adds the shortcut of a block.
enum class Shortcut {
  kX,  // X2, shifted left to the scale of the sums
  kY,  // Y, through the converter of its operand; there is no ReLU behind it
};

class ResNet50 {
 public:
  explicit ResNet50(Shortcut shortcut) : shortcut_(shortcut) { add_all(); }

  const Network& network() const noexcept { return network_; }
  // [channel][line][column]
  std::vector<std::int8_t> image();

  static constexpr Shape kInput{3, 224, 224};
  static constexpr std::uint32_t kClasses = 1000;

 private:
  struct Layer {
    std::string name;
    std::uint32_t channels, kernels, size, stride;
    bool relu = true;
  };

  void add_all();
  Tensor block(Tensor input, const std::string& name, std::uint32_t channels, std::uint32_t width,
               std::uint32_t stride);
  Tensor add(Tensor input, const Layer& layer, Tensor shortcut = {});
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  Shortcut shortcut_;
  Network network_;
  std::mt19937 random_{1};
};

}  // namespace nvdla::bench
