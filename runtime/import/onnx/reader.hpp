// SPDX-License-Identifier: MIT
//
// ONNX files become graphs.
#ifndef NVDLA_IMPORT_ONNX_READER_HPP
#define NVDLA_IMPORT_ONNX_READER_HPP

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "import/graph/graph.hpp"
#include "import/onnx/tensor.hpp"

namespace nvdla::import::onnx_file {

// Reads a model. Throws Error naming the model, and the node or value, for a file that is damaged,
// opsets beyond 6 to 21, values that nobody computes or that two nodes compute, and cycles.
// `outputs` names the values that the graph is cut at; empty: the model's own.
Graph read_model(std::span<const std::byte> bytes, const ModelPlace& place,
                 const std::vector<std::string>& outputs);

}  // namespace nvdla::import::onnx_file

#endif  // NVDLA_IMPORT_ONNX_READER_HPP
