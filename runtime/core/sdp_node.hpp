// SPDX-License-Identifier: MIT
//
// Single point processing of a layer, as a network keeps it.
#ifndef NVDLA_CORE_SDP_NODE_HPP
#define NVDLA_CORE_SDP_NODE_HPP

#include <cstdint>
#include <vector>

#include "core/operators.hpp"
#include "nvdla/layer.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla::detail {

struct SdpNode {
  OperatorPair operators;
  Converter converter;
  Precision processing = Precision::kInt8;

  // Tensors that operators read.
  std::vector<std::uint32_t> tensors() const {
    std::vector<std::uint32_t> list;
    for (const OperatorNode* op : {&operators.x1, &operators.x2}) {
      if (op->tensor) list.push_back(*op->tensor);
    }
    return list;
  }
};

}  // namespace nvdla::detail

#endif  // NVDLA_CORE_SDP_NODE_HPP
