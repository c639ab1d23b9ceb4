// SPDX-License-Identifier: MIT
#include "compiler/operators/cpu_layer.hpp"

#include <cmath>
#include <utility>

#include "support/check.hpp"

namespace nvdla::detail {

void check_stands_for(std::string_view what, Precision precision, const Quantization& q) {
  if (!std::isfinite(q.scale) || q.scale <= 0)
    throw_invalid_argument("{} scale {} is not a positive number", what, q.scale);
  if (precision == Precision::kFp16) {
    if (q.zero_point != 0)
      throw_invalid_argument("{} zero point {}: fp16 has none", what, q.zero_point);
    return;
  }
  const std::int32_t low = precision == Precision::kInt8 ? -128 : -32768;
  check_range(fmt::format("{} zero point", what), q.zero_point, low, -low - 1);
}

Quantization quantization_of(std::string_view what, const TensorNode& tensor,
                             const std::optional<Quantization>& said) {
  std::optional<Quantization> known = said ? said : tensor.quantization;
  if (!known && tensor.precision == Precision::kFp16) known.emplace();
  if (!known) throw_invalid_argument("the quantisation of {} is not known: say it", what);
  check_stands_for(what, tensor.precision, *known);
  return *known;
}

Tensor commit_cpu(Network::Impl& net, std::string_view name, std::span<const Tensor> inputs,
                  CpuNode node, const CpuResult& result) {
  LayerNode layer;
  layer.name = name;
  layer.input = net.index("input", inputs[0]);
  for (const Tensor& operand : inputs.subspan(1))
    layer.operands.push_back(net.index("input", operand));
  layer.part = std::move(node);
  const Tensor output = net.commit(std::move(layer), result.shape, result.precision);
  net.tensors[net.index("output", output)].quantization = result.quantization;
  return output;
}

}  // namespace nvdla::detail
