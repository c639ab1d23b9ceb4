// SPDX-License-Identifier: MIT
//
// The printer and the parser of graphs share this, beside the fields of nodes.
#ifndef NVDLA_COMPILER_GRAPH_KIND_NAMES_HPP
#define NVDLA_COMPILER_GRAPH_KIND_NAMES_HPP

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/graph/node_fields.hpp"

namespace nvdla::detail {

// The words that begin a layer, in the order of LayerNode::part. Behind the last one stands a dot
// and the name of an operation: "cpu.softmax".
inline constexpr std::array<std::string_view, std::variant_size_v<decltype(LayerNode::part)>>
    kKindNames = {"sdp",    "conv",  "deconv", "pool",    "norm",     "rubik", "copy",
                  "concat", "slice", "pad",    "reshape", "upsample", "cpu"};

std::string node_kind(const LayerNode& layer);

inline const text::DescriptorText& lut_text() {
  static const text::DescriptorText text(NVDLA_OBJECT_LUT, "");
  return text;
}

// Returns for each tensor whether a layer reads it.
std::vector<bool> tensors_read(const Graph& graph);

// The usual fields of a tensor of the shape and precision of `node`: of any, of an input.
TensorNode tensor_base(const TensorNode& node);
TensorNode input_base(const TensorNode& node);

// The fields of an input or output.
struct IoFields {
  Quantization quantization;
};

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const IoFields& base) {
  v.block("quantization", n.quantization, base.quantization);
}

inline IoFields io_base(const TensorNode& tensor) {
  return {tensor.quantization.value_or(Quantization{})};
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_KIND_NAMES_HPP
