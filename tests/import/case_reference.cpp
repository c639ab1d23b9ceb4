// SPDX-License-Identifier: MIT
#include "import/case_reference.hpp"

#include <span>

#include "import/graph/refusal.hpp"
#include "import/onnx/reader.hpp"
#include "import/passes/passes.hpp"
#include "import/reference/reference.hpp"

namespace nvdla::import_test {

std::vector<std::vector<double>> inputs_of(const Case& c) {
  std::vector<std::vector<double>> inputs;
  for (const auto& input : c.inputs) inputs.push_back(values_of(input));
  return inputs;
}

std::map<std::string, std::vector<float>> compute_in_floats(
    const Case& c, const std::vector<std::vector<double>>& inputs) {
  import::Graph graph =
      import::onnx_file::read_model(std::as_bytes(std::span(c.model)), {"case", ""}, {});
  ImportOptions options;
  std::vector<import::Constant> constants;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const auto bytes = std::as_bytes(std::span(c.input_bytes[i]));
    if (is_integer(c.inputs[i].data_type())) {
      options.constants.push_back({c.input_names[i], {}});
      constants.push_back(import::onnx_file::read_tensor(bytes, {"case", ""}, "an input"));
    } else {
      options.shapes.push_back(
          {c.input_names[i], {c.inputs[i].dims().begin(), c.inputs[i].dims().end()}});
    }
  }
  std::vector<std::string> notices;
  import::fix_inputs(graph, options, constants, notices);
  std::vector<ImportedNode> nodes;
  import::fold_constants(graph, nodes);
  for (const ImportedNode& node : nodes)
    if (!node.reason.empty()) throw Error(ErrorCode::kNotAvailable, node.reason);
  const import::Reference reference(graph);
  std::vector<std::vector<float>> numbers;
  for (const import::ValueId id : graph.inputs)
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
      if (c.input_names[i] == graph.value(id).name)
        numbers.emplace_back(inputs[i].begin(), inputs[i].end());
  std::map<std::string, std::vector<float>> results;
  reference.run(numbers, [&](import::ValueId id, std::span<const float> values) {
    results[graph.value(id).name].assign(values.begin(), values.end());
  });
  return results;
}

}  // namespace nvdla::import_test
