// SPDX-License-Identifier: MIT
//
// Single point processing of a layer, as a network keeps it.
#ifndef NVDLA_COMPILER_GRAPH_SDP_NODE_HPP
#define NVDLA_COMPILER_GRAPH_SDP_NODE_HPP

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/operators.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla::detail {

struct SdpNode {
  OperatorPair operators;
  OperatorYNode y;
  Converter converter;
  ElementBounds bounds;
  Precision processing = Precision::kInt8;
  bool nan_to_zero = false;
  // Negative results become zero behind operator Y, in a result of fp16; integers have bounds.
  bool relu_behind_y = false;
  // Says what to change where the device has no operator Y, in the words of a layer that chose it.
  std::string without_y = {};
  // The layer looks elements up, and nothing else: the table of CDP that does the same, by its
  // index in the network, for devices whose SDP has none.
  std::optional<std::uint32_t> lut_of_cdp = {};

  // A comparison writes nothing.
  bool silent() const noexcept { return y.alu == NVDLA_ALU_EQUAL; }

  // Tensors that operators read.
  std::vector<std::uint32_t> tensors() const {
    std::vector<std::uint32_t> list;
    for (const OperatorNode* op :
         std::initializer_list<const OperatorNode*>{&operators.x1, &operators.x2, &y}) {
      if (op->tensor) list.push_back(*op->tensor);
    }
    return list;
  }
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_SDP_NODE_HPP
