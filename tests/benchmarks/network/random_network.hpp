// SPDX-License-Identifier: MIT
//
// Networks of the library in int8 with random weights, as large as in well-known networks: a bias
// and a multiplier for each kernel, and results that use the range of int8.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nvdla/nvdla.hpp"

namespace nvdla::bench {

// Which operator adds the shortcut of a residual block.
enum class Shortcut {
  kX,  // X2, shifted left to the scale of the sums
  kY,  // Y, through the converter of its operand; there is no ReLU behind it
};

class RandomNetwork {
 public:
  const Network& network() const noexcept { return network_; }
  // [channel][line][column]
  std::vector<std::int8_t> image();

  // The input "image" and the output "classes" of each network.
  static constexpr Shape kInput{3, 224, 224};
  static constexpr std::uint32_t kClasses = 1000;

 protected:
  struct Layer {
    std::string name;
    std::uint32_t channels, kernels, size, stride;
    bool relu = true;
    std::uint32_t groups = 1;
  };

  Tensor begin() { return network_.input("image", kInput); }
  Tensor add(Tensor input, const Layer& layer, Tensor shortcut = {}, Shortcut by = Shortcut::kX);
  Tensor pool(Tensor input, const Pooling& pooling) { return network_.pooling(input, pooling); }
  // The average of 7 x 7 positions, and classes.
  void finish(Tensor input, std::uint32_t channels);

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  Network network_;
  std::mt19937 random_{1};
};

// The sums of the residual blocks are added where the results are at hand.
class ResNet50 : public RandomNetwork {
 public:
  explicit ResNet50(Shortcut shortcut);

 private:
  Tensor block(Tensor input, const std::string& name, std::uint32_t channels, std::uint32_t width,
               std::uint32_t stride);

  Shortcut shortcut_;
};

class MobileNetV1 : public RandomNetwork {
 public:
  MobileNetV1();
};

}  // namespace nvdla::bench
