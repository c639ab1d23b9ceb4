// SPDX-License-Identifier: MIT
//
// docs/operators.md is made of the importer's own table. NVDLA_UPDATE=1 writes it anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

std::string operators_page() {
  std::string text =
      "# Operators of ONNX models\n\n"
      "`nvdla compile` and `nvdla::import_model()` read models of the opsets 6 to 21. The "
      "importer's own table\n"
      "makes this page; `OperatorsPage.IsCurrent` of `test_import` compares them, and writes it "
      "with NVDLA_UPDATE=1.\n"
      "\n"
      "Models of real numbers are computed in fp16, on configurations that have it. Operators "
      "between\n"
      "DequantizeLinear and QuantizeLinear are computed in int8, on all configurations, and with "
      "`--precision\n"
      "int16` models of real numbers in int16, on nv_full: these are marked with integers. Nodes "
      "whose inputs are\n"
      "constants are computed when the model is imported where the column says so.\n"
      "`--check` lists what becomes of each node of a model, with reasons.\n\n"
      "| operator | integers | of constants | where, and what is not possible "
      "|\n|---|---|---|---|\n";
  std::map<std::string, const OperatorRow*> rows;
  for (const OperatorRow* row : all_operators())
    if (!row->name.starts_with("nvdla.")) rows.emplace(row->name, row);
  for (const auto& [name, row] : rows)
    text += fmt::format("| {} | {} | {} | {} |\n", name, has_quantized_form(name) ? "yes" : "",
                        row->fold != nullptr ? "yes" : "", row->about);
  text +=
      "\nQLinearConv, QLinearMatMul, and of `com.microsoft` QLinearAdd, QLinearMul, "
      "QLinearSigmoid,\n"
      "QLinearLeakyRelu, QLinearAveragePool and QLinearGlobalAveragePool are read as the same "
      "operators between\n"
      "DequantizeLinear and QuantizeLinear.\n";
  return text;
}

TEST(OperatorsPage, IsCurrent) {
  const std::string path = std::string(NVDLA_SOURCE_DIR) + "/docs/operators.md";
  const std::string page = operators_page();
  if (std::getenv("NVDLA_UPDATE") != nullptr) std::ofstream(path) << page;
  std::ifstream file(path);
  const std::string found{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(found == page)
      << "docs/operators.md is not current: run test_import with NVDLA_UPDATE=1";
}

TEST(OperatorsPage, EveryOperatorHasOneRowAndSaysWhere) {
  std::map<std::string_view, int> rows;
  for (const OperatorRow* row : all_operators()) {
    EXPECT_EQ(++rows[row->name], 1) << row->name;
    EXPECT_TRUE(row->about.ends_with(".")) << row->name;
  }
}

}  // namespace
}  // namespace nvdla::import
