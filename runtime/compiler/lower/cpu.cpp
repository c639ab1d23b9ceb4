// SPDX-License-Identifier: MIT
//
// Lowering layers that the CPU computes.
#include <utility>

#include "compiler/lower/lowering.hpp"

namespace nvdla::detail {

void lower(Lowering& lowering, const LayerNode& node, const CpuNode& cpu) {
  const auto place = [&](std::uint32_t tensor) {
    return CpuPlace{lowering.surface(tensor), lowering.desc(tensor)};
  };
  CpuWork work{cpu, {place(node.input)}, place(node.output)};
  for (const std::uint32_t operand : node.operands) work.sources.push_back(place(operand));
  lowering.emit_cpu(node, std::move(work));
}

}  // namespace nvdla::detail
