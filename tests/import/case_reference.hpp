// SPDX-License-Identifier: MIT
//
// A test case of ONNX in floats, as calibration computes it.
#ifndef NVDLA_TESTS_IMPORT_CASE_REFERENCE_HPP
#define NVDLA_TESTS_IMPORT_CASE_REFERENCE_HPP

#include <map>
#include <string>
#include <vector>

#include "import/case_files.hpp"

namespace nvdla::import_test {

// Returns the elements of the inputs of a case.
std::vector<std::vector<double>> inputs_of(const Case& c);
// Returns the elements that a case computes of `inputs`, by name. Inputs of integers are constants.
// Throws Error or Refusal for cases that cannot be computed.
std::map<std::string, std::vector<float>> compute_in_floats(
    const Case& c, const std::vector<std::vector<double>>& inputs);

}  // namespace nvdla::import_test

#endif  // NVDLA_TESTS_IMPORT_CASE_REFERENCE_HPP
