// SPDX-License-Identifier: MIT
//
// Small ONNX models, made node by node.
#ifndef NVDLA_TESTS_UNIT_IMPORT_MODEL_MAKER_HPP
#define NVDLA_TESTS_UNIT_IMPORT_MODEL_MAKER_HPP

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nvdla/import.hpp"

namespace nvdla::import_test {

using Sizes = std::vector<std::int64_t>;

// `ModelMaker` makes a model. Every call returns what later calls may change.
class ModelMaker {
 public:
  explicit ModelMaker(std::int64_t opset = 13);

  // Adds an input of floats, or of another type. A size of -1 is left open.
  ModelMaker& input(const std::string& name, const Sizes& sizes,
                    int type = ::onnx::TensorProto::FLOAT);
  ModelMaker& output(const std::string& name);
  ModelMaker& floats(const std::string& name, const Sizes& sizes, const std::vector<float>& values);
  ModelMaker& integers(const std::string& name, const Sizes& sizes,
                       const std::vector<std::int64_t>& values,
                       int type = ::onnx::TensorProto::INT64);
  ::onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs);
  ::onnx::ModelProto& model() { return model_; }

  std::vector<std::byte> bytes() const;
  // Imports it for nv_full, or for another configuration.
  ImportedModel import(const ImportOptions& options = {},
                       std::string_view configuration = "nv_full") const;
  // Returns what import() refuses it with; empty if it does not.
  std::string refusal(const ImportOptions& options = {}) const;
  // Imports and runs it with one input and one output of floats.
  std::vector<float> run(const std::vector<float>& input, const ImportOptions& options = {}) const;

 private:
  ::onnx::ModelProto model_;
};

void set(::onnx::NodeProto& node, const std::string& name, std::int64_t value);
void set(::onnx::NodeProto& node, const std::string& name, const Sizes& values);
void set(::onnx::NodeProto& node, const std::string& name, float value);

}  // namespace nvdla::import_test

#endif  // NVDLA_TESTS_UNIT_IMPORT_MODEL_MAKER_HPP
