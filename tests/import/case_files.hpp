// SPDX-License-Identifier: MIT
//
// Files of a test case of ONNX.
#ifndef NVDLA_TESTS_IMPORT_CASE_FILES_HPP
#define NVDLA_TESTS_IMPORT_CASE_FILES_HPP

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <string>
#include <vector>

namespace nvdla::import_test {

// A model with inputs, and the outputs that are right.
struct Case {
  bool arithmetic = true;  // no operator has a table
  int nodes = 0;
  bool exact = false;  // every operator only chooses or moves elements
  std::string model;
  std::vector<std::string> input_names, output_names;
  std::vector<::onnx::TensorProto> inputs, outputs;
  std::vector<std::string> input_bytes;
  std::string op;
};

// Reads a case. Throws std::runtime_error for a folder that has none.
Case load_case(const std::filesystem::path& folder);
// Returns true for ONNX's types that are no real numbers.
bool is_integer(int type);
// Returns all elements of a tensor.
std::vector<double> values_of(const ::onnx::TensorProto& t);

}  // namespace nvdla::import_test

#endif  // NVDLA_TESTS_IMPORT_CASE_FILES_HPP
