// SPDX-License-Identifier: MIT
//
// Layers of int8 tensors up to the QuantizeLinear behind them.
#ifndef NVDLA_IMPORT_OPERATORS_QUANTIZED_HPP
#define NVDLA_IMPORT_OPERATORS_QUANTIZED_HPP

#include "import/operators/lowering.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::import {

// `QuantizedEnd` describes the nodes behind a layer up to its QuantizeLinear.
struct QuantizedEnd {
  ValueId last = kNoValue;
  Quantization output;
  Bounds bounds;
  Function function;  // of each result; nothing but bounds where it is empty
};

// Follows a value to its QuantizeLinear. `functions`: functions of each element are taken, too.
// Throws Refusal if there is none.
QuantizedEnd follow_to_end(Lowering& l, ValueId out, bool functions);
// Returns scale and zero point of an input; throws Refusal for one that is not in int8.
Quantization quantization_of(Lowering& l, const Operation& op, std::size_t index);

void quantized_conv(Lowering& l, const Operation& op);
void quantized_product(Lowering& l, const Operation& op);

// Returns scale and zero point of a tensor, as int8 has them. Throws Refusal for several scales,
// and for other integers than int8 and uint8.
Quantization tensor_quantization(const Operation& op, Type type);
// Returns the integers of a DequantizeLinear whose input is a constant.
QuantizedConstant quantized_constant(const Operation& op);
// Returns the type of the integers that a QuantizeLinear makes.
Type quantized_type(const Operation& op);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_QUANTIZED_HPP
