// SPDX-License-Identifier: MIT
//
// Layers that move or weigh elements by constant weights, in fp16 and in integers. In int8 they are
// exact: weights are integers times one scale, and each result is rounded once. In int16 weights
// are exact where int8 has them, too, else of 16 bits.
#ifndef NVDLA_IMPORT_OPERATORS_EXACT_HPP
#define NVDLA_IMPORT_OPERATORS_EXACT_HPP

#include <optional>
#include <span>
#include <vector>

#include "import/operators/lowering.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::import {

// Reals as integers times a scale.
struct ExactWeights {
  std::vector<std::int16_t> elements;
  float scale = 1;
};

// Throws Refusal if the weights are no multiples of a number that int8 has all factors for.
ExactWeights exact_weights(std::span<const float> weights, Precision precision);

// `KernelIntegers` owns the weights of a layer that works in int8 or int16, which hold them.
class KernelIntegers {
 public:
  KernelIntegers() = default;
  KernelIntegers(std::span<const std::int16_t> elements, Precision precision);
  KernelSpan span() const;

 private:
  std::vector<std::int8_t> bytes_;
  std::vector<std::int16_t> words_;
};

// Returns the greatest weight, which has an opposite.
constexpr int greatest_weight(Precision precision) {
  return precision == Precision::kInt16 ? 32767 : 127;
}

// Returns the element that stands for a real number, saturated.
std::int32_t element_of(double real, const Quantization& quantization, Precision precision);
// Returns scale and zero point of a tensor of integers; throws Refusal if they are not known.
Quantization known_quantization(Lowering& lowering, Tensor x);

// Returns a tensor of the elements of a constant, of the precision and quantisation of `like`. Its
// sizes in `view` are those of `like` but along `axis`. Throws Refusal for a constant of which
// integers have several numbers for a channel.
Tensor constant_tensor(Lowering& lowering, const Constant& constant, const View& view, Tensor like,
                       Axis axis);

// Add a layer with the weights. Of integers the result has scale and zero point `output`, or those
// of the input. `bias` is one real number for each kernel, or none.
Tensor add_exact(Lowering& lowering, Tensor x, Convolution layer, std::span<const float> weights,
                 std::span<const float> bias = {}, std::optional<Quantization> output = {});
Tensor add_exact(Lowering& lowering, Tensor x, FullyConnected layer, std::span<const float> weights,
                 std::optional<Quantization> output = {});
Tensor add_exact(Lowering& lowering, Tensor x, Deconvolution layer, std::span<const float> weights,
                 std::optional<Quantization> output = {});

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_EXACT_HPP
