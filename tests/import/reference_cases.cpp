// SPDX-License-Identifier: MIT
//
// Computes ONNX's own test cases in floats, as calibration does, and prints how many are right:
//   reference_cases FOLDER [LEAST]
// It fails if a case is wrong, or if fewer than LEAST are right.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <span>

#include "import/case_files.hpp"
#include "import/case_reference.hpp"
#include "import/graph/refusal.hpp"
#include "nvdla/types/error.hpp"

namespace {

using namespace nvdla;
using namespace nvdla::import_test;
namespace fs = std::filesystem;

// Of elements, or of 1 if that is more: terms are added in another order, results are not rounded
// to types of fewer bits, and what is rounded to an integer may lie near a half.
double tolerance_of(int type) {
  if (type == ::onnx::TensorProto::FLOAT16) return 0x1p-11;
  return type == ::onnx::TensorProto::UINT8 ? 0x1p-7 : 1e-4;
}

// Returns what is wrong; empty if nothing is. Constants have no results.
std::string judge(const Case& c, const std::map<std::string, std::vector<float>>& results) {
  for (std::size_t o = 0; o < c.outputs.size(); ++o) {
    const auto found = results.find(c.output_names[o]);
    if (found == results.end()) continue;
    const auto expected = values_of(c.outputs[o]);
    if (found->second.size() != expected.size())
      return fmt::format("{} elements, expected {}", found->second.size(), expected.size());
    const double tolerance = tolerance_of(c.outputs[o].data_type());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto got = static_cast<double>(found->second[i]);
      if (!(std::fabs(got - expected[i]) <= tolerance * std::max(1.0, std::fabs(expected[i]))))
        return fmt::format("{}[{}] is {}, expected {}", c.output_names[o], i, got, expected[i]);
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("expected FOLDER [LEAST]\n", stderr);
    return 2;
  }
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(argv[1]))
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::size_t right = 0, wrong = 0, others = 0;
  for (const fs::path& folder : folders) {
    try {
      const Case c = load_case(folder);
      const std::string text = judge(c, compute_in_floats(c, inputs_of(c)));
      ++(text.empty() ? right : wrong);
      if (!text.empty()) fmt::print("WRONG {}: {}\n", folder.filename().string(), text);
    } catch (const import::Refusal&) {
      ++others;
    } catch (const Error&) {
      ++others;  // no operator of the importer, or infinity among the results
    } catch (const std::runtime_error&) {
      ++others;  // no case of tensors
    }
  }
  fmt::print("{} cases in floats: {} right, {} wrong, {} not computed\n", folders.size(), right,
             wrong, others);
  if (wrong != 0) return 1;
  return argc > 2 && right < std::stoul(argv[2]) ? 1 : 0;
}
