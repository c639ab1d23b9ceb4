// SPDX-License-Identifier: MIT
//
// Tensors of ONNX files, whose elements lie in one of several fields or in a file beside.
#ifndef NVDLA_IMPORT_ONNX_TENSOR_HPP
#define NVDLA_IMPORT_ONNX_TENSOR_HPP

#include <string>

#include "import/graph/types.hpp"

namespace onnx {
class TensorProto;
}

namespace nvdla::import::onnx_file {

// `ModelPlace` names a model in messages and finds files beside it.
struct ModelPlace {
  std::string name;    // such as "model.onnx"
  std::string folder;  // of external data; empty: there is none
};

// Returns the type with ONNX's number, kUnknown for those that there are not.
Type type_of(int number) noexcept;
// Reads a tensor; `what` names it in errors. Throws Error for sizes that do not go with the
// elements, types that are not kept, and data outside of the model's folder.
Constant read_tensor(const ::onnx::TensorProto& proto, const ModelPlace& place,
                     const std::string& what);

// The same of a serialised TensorProto.
Constant read_tensor(std::span<const std::byte> bytes, const ModelPlace& place,
                     const std::string& what);

}  // namespace nvdla::import::onnx_file

#endif  // NVDLA_IMPORT_ONNX_TENSOR_HPP
