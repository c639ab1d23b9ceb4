// SPDX-License-Identifier: MIT
//
// A test case of ONNX: a model, and folders of inputs with the outputs that are right.
#ifndef NVDLA_TESTS_IMPORT_CASE_HPP
#define NVDLA_TESTS_IMPORT_CASE_HPP

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "nvdla/import.hpp"

namespace nvdla::import_test {

enum class Verdict {
  kRight,     // compiled, and every output is within its tolerance
  kConstant,  // right, with inputs but the first as constants
  kFolded,    // nothing is left to compute
  kRefused,   // refused with a reason
  kWrong,     // compiled, and an output is beyond its tolerance
  kCrashed,   // anything else
  kBeyond,    // compiled, and not right because fp16 does not have the inputs
};

struct Outcome {
  Verdict verdict = Verdict::kCrashed;
  std::string text;  // the reason of a refusal, or what is wrong
  std::string op;    // operator of the first node
};

// Runs a case for a device in this process. Every exception becomes an outcome.
Outcome run_case(const std::filesystem::path& folder, const std::string& device, CpuUse cpu);
// The same in a process of its own, which has a minute.
Outcome run_apart(const std::filesystem::path& folder, const std::string& device, CpuUse cpu);

}  // namespace nvdla::import_test

#endif  // NVDLA_TESTS_IMPORT_CASE_HPP
