// SPDX-License-Identifier: MIT
//
// Layers of int8 or int16 tensors up to the QuantizeLinear behind them.
#ifndef NVDLA_IMPORT_OPERATORS_QUANTIZED_HPP
#define NVDLA_IMPORT_OPERATORS_QUANTIZED_HPP

#include <cmath>
#include <optional>
#include <vector>

#include "import/operators/lowering.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::import {

// `QuantizedEnd` describes the nodes behind a layer up to its QuantizeLinear.
struct QuantizedEnd {
  ValueId last = kNoValue;
  Quantization output;
  Bounds bounds;      // of the results, behind all else
  Function function;  // of each result; nothing but bounds where it is empty
  // Results are multiplied with the factor of their kernel, then its addend is added. Both lists
  // are empty, or have one number for each kernel.
  std::vector<double> factors, addends;

  bool has_bounds() const { return std::isfinite(bounds.low) || std::isfinite(bounds.high); }
};

// The channels of results, to which factors and addends belong.
struct Kernels {
  Dims dims;  // of the results
  View view;
  std::size_t count = 0;
};

// Follow a value to its QuantizeLinear; throw Refusal if there is none. The first one takes bounds
// alone, the second one any functions of each element, the third one factors and addends of
// kernels, then bounds.
QuantizedEnd follow_bounds(Lowering& l, ValueId out);
QuantizedEnd follow_functions(Lowering& l, ValueId out);
QuantizedEnd follow_kernels(Lowering& l, ValueId out, const Kernels& kernels);
// Takes a QuantizeLinear that alone reads `id`, which becomes its result. Returns nothing if there
// is none.
std::optional<Quantization> take_quantization(Lowering& l, ValueId& id);

// Takes steps into factors and addends of kernels; returns false for others, and for operands that
// are not of kernels.
bool take_affine(QuantizedEnd& end, const std::vector<Step>& steps, const Kernels& kernels);
// Returns the steps of a BatchNormalization or of a node of elements whose tensor is `input`, or
// nothing.
std::optional<Steps> quantized_steps(const Operation& op, ValueId input = kNoValue);

// Returns scale and zero point of an input; throws Refusal for one that is in fp16.
Quantization quantization_of(Lowering& l, const Operation& op, std::size_t index);
// Returns a tensor with the scale and zero point `to`, after another layer if it has others.
Tensor requantized(Lowering& l, Tensor x, const Quantization& to);
// Returns the tensor held to the bounds of an end, if that has some.
Tensor held_to(Lowering& l, Tensor x, const QuantizedEnd& end);
// Adds the function of each element of `x`.
Tensor add_function(Lowering& l, Tensor x, const Quantization& to, const Function& function);
// Multiplies each channel with a factor and adds a number, both of the end.
Tensor add_channelwise(Lowering& l, Tensor x, const QuantizedEnd& end);

// Lower operators of tensors with a scale.
void quantized_affine(Lowering& l, const Operation& op);
void quantized_average(Lowering& l, const Operation& op);
void quantized_conv(Lowering& l, const Operation& op);
void quantized_extreme(Lowering& l, const Operation& op);
void quantized_lrn(Lowering& l, const Operation& op);
void quantized_pair(Lowering& l, const Operation& op);
void quantized_prelu(Lowering& l, const Operation& op);
void quantized_product(Lowering& l, const Operation& op);
void quantized_reduce(Lowering& l, const Operation& op);
void quantized_sum(Lowering& l, const Operation& op);
void quantized_transposed(Lowering& l, const Operation& op);

// Returns scale and zero point of a tensor, as the network has them. Throws Refusal for several
// scales, and for other integers than the network's; those of int8 may be uint8.
Quantization tensor_quantization(const Lowering& l, const Operation& op, Type type);
// Returns the integers of a DequantizeLinear whose input is a constant.
QuantizedConstant quantized_constant(const Operation& op);
// Returns the type of the integers that a QuantizeLinear makes.
Type quantized_type(const Operation& op);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_QUANTIZED_HPP
