// SPDX-License-Identifier: MIT
//
// The families of operators.
#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

constexpr std::span<const OperatorRow> (*kFamilies[])() noexcept = {
    element_rows, move_rows, shape_rows,  constant_rows, conv_rows,   product_rows,
    block_rows,   pool_rows, reduce_rows, channel_rows,  resize_rows, quantization_rows,
};

}  // namespace

const OperatorRow* find_operator(const Operation& op) noexcept {
  for (const auto family : kFamilies)
    for (const OperatorRow& row : family())
      if (row.name == op.op() && row.domain == op.node().domain) return &row;
  return nullptr;
}

std::vector<const OperatorRow*> all_operators() {
  std::vector<const OperatorRow*> rows;
  for (const auto family : kFamilies)
    for (const OperatorRow& row : family()) rows.push_back(&row);
  return rows;
}

std::vector<Inferred> infer_same(const Operation& op) { return {{op.type(0), op.dims(0)}}; }

}  // namespace nvdla::import
