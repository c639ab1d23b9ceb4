// SPDX-License-Identifier: MIT
//
// Sizes and constants of inputs.
#include <algorithm>

#include "import/graph/refusal.hpp"
#include "import/passes/passes.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

using detail::printable;

std::string input_names(const Graph& graph) {
  std::string names;
  for (const ValueId id : graph.inputs)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", printable(graph.value(id).name));
  return names.empty() ? "none" : names;
}

ValueId find_input(const Graph& graph, const std::string& name) {
  for (const ValueId id : graph.inputs)
    if (graph.value(id).name == name) return id;
  throw_invalid_model("{}: no input is called '{}'; there are: {}", printable(graph.file),
                      printable(name), input_names(graph));
}

void set_shape(Graph& graph, const InputShape& shape) {
  Value& value = graph.value(find_input(graph, shape.name));
  const std::string what =
      fmt::format("{}: input '{}'", printable(graph.file), printable(value.name));
  std::int64_t count = 1;
  for (const std::int64_t size : shape.sizes) {
    if (size < 1 || size > kMaxElements / count)
      throw_invalid_model("{}: {} are no sizes", what, dims_text(shape.sizes));
    count *= size;
  }
  if (value.dims && value.dims->size() != shape.sizes.size())
    throw_invalid_model("{}: {} has {} sizes, and the model has {}", what, dims_text(shape.sizes),
                        shape.sizes.size(), value.dims->size());
  for (std::size_t i = 0; value.dims && i < shape.sizes.size(); ++i) {
    const bool open = std::any_of(value.open.begin(), value.open.end(),
                                  [&](const OpenSize& o) { return o.axis == i; });
    if (!open && (*value.dims)[i] != shape.sizes[i])
      throw_invalid_model("{}: size {} is {}, and the model has {} there", what, i, shape.sizes[i],
                          (*value.dims)[i]);
  }
  value.dims = shape.sizes;
  value.open.clear();
}

void close(const Graph& graph, Value& value, std::vector<std::string>& notices) {
  const std::string what =
      fmt::format("{}: input '{}'", printable(graph.file), printable(value.name));
  if (!value.dims)
    throw_invalid_model("{}: the model has no sizes for it; expected --shape NAME=1x3x224x224",
                        what);
  const bool only_batch = value.open.size() == 1 && value.open[0].axis == 0;
  if (value.open.empty()) return;
  if (!only_batch) {
    std::string names;
    for (const OpenSize& open : value.open)
      names += fmt::format("{}size {} ('{}')", names.empty() ? "" : ", ", open.axis,
                           printable(open.name));
    throw_invalid_model("{}: the model leaves {} open; expected --shape {}=1x3x224x224 or the like",
                        what, names, printable(value.name));
  }
  (*value.dims)[0] = 1;
  value.open.clear();
  notices.push_back(
      fmt::format("input '{}': the model leaves the batch open; it is 1", printable(value.name)));
}

}  // namespace

void fix_inputs(Graph& graph, const ImportOptions& options, const std::vector<Constant>& constants,
                std::vector<std::string>& notices) {
  for (std::size_t i = 0; i < options.constants.size(); ++i) {
    const ValueId id = find_input(graph, options.constants[i].name);
    Value& value = graph.value(id);
    if (value.type != constants[i].type())
      throw_invalid_model("{}: input '{}' is {}, and the constant for it is {}",
                          printable(graph.file), printable(value.name), type_name(value.type),
                          type_name(constants[i].type()));
    value.constant = constants[i];
    value.type = constants[i].type();
    value.dims = constants[i].dims();
    value.open.clear();
    graph.inputs.erase(std::find(graph.inputs.begin(), graph.inputs.end(), id));
  }
  for (const InputShape& shape : options.shapes) set_shape(graph, shape);
  for (const ValueId id : graph.inputs) close(graph, graph.value(id), notices);
}

}  // namespace nvdla::import
