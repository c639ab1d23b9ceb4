// SPDX-License-Identifier: MIT
#include "compiler/graph/graph_text.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "compiler/graph/kind_names.hpp"
#include "compiler/graph/node_base.hpp"
#include "compiler/graph/node_printer.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

std::string node_kind(const LayerNode& layer) {
  const std::string name(kKindNames[layer.part.index()]);
  const auto* cpu = std::get_if<CpuNode>(&layer.part);
  return cpu == nullptr ? name : name + "." + std::string(operation_name(cpu->operation));
}

std::vector<bool> tensors_read(const Graph& graph) {
  std::vector<bool> read(graph.tensors.size());
  for (const LayerNode& layer : graph.layers) {
    read[layer.input] = true;
    for (const std::uint32_t tensor : layer.operands) read[tensor] = true;
  }
  return read;
}

TensorNode tensor_base(const TensorNode& node) {
  TensorNode base;
  base.shape = node.shape;
  base.precision = node.precision;
  return base;
}

TensorNode input_base(const TensorNode& node) {
  TensorNode base = tensor_base(node);
  if (!node.image) base.quantization.emplace();
  return base;
}

namespace {

// `GraphPrinter` prints the lines of a graph.
class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, const text::PrintOptions& options)
      : graph_(graph), options_(options), read_(graph.tensors.size()) {
    check_indices();
    read_ = tensors_read(graph);
  }

  std::string print() {
    out_ = "graph\n";
    const nvdla_lut none = {};
    for (std::size_t i = 0; i < graph_.luts.size(); ++i)
      out_ += fmt::format("lut {}{}\n", i, lut_text().text(&graph_.luts[i], &none, options_));
    std::vector<bool> printed(graph_.tensors.size());
    for (const IoTensor& input : graph_.inputs) {
      print_input(input);
      printed[input.tensor] = true;
    }
    for (const LayerNode& layer : graph_.layers)
      if (layer.output != kNoTensor) printed[layer.output] = true;
    for (std::uint32_t i = 0; i < graph_.tensors.size(); ++i)
      if (!printed[i]) out_ += fmt::format("%{} = tensor{}\n", i, type(i, tensor_base(at(i))));
    for (std::uint32_t i = 0; i < graph_.layers.size(); ++i) print_layer(i);
    for (const IoTensor& output : graph_.outputs)
      out_ += fmt::format("output %{} {}{}\n", output.tensor, text::quote(output.name),
                          quantization(output));
    return std::move(out_);
  }

 private:
  const TensorNode& at(std::uint32_t tensor) const { return graph_.tensors[tensor]; }

  void check_index(std::uint32_t tensor, std::string_view user) const {
    if (tensor < graph_.tensors.size()) return;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} names tensor {}, the graph has {}",
                                                         user, tensor, graph_.tensors.size()));
  }
  void check_indices() const {
    for (const auto* list : {&graph_.inputs, &graph_.outputs})
      for (const IoTensor& io : *list) check_index(io.tensor, text::quote(io.name));
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      const LayerNode& layer = graph_.layers[i];
      const std::string name = layer_text(i, layer.name);
      check_index(layer.input, name);
      for (const std::uint32_t tensor : layer.operands) check_index(tensor, name);
      if (layer.output != kNoTensor) check_index(layer.output, name);
    }
  }

  // " : int8 3x32x32 planar"
  std::string type(std::uint32_t tensor, TensorNode base) const {
    const TensorNode& node = at(tensor);
    base.read = read_[tensor];
    const NodeContext context = {&node, &node};
    return fmt::format(" : {} {}{}", text::value_text(node.precision), text::value_text(node.shape),
                       FieldPrinter(context, options_).text(node, base));
  }
  std::string quantization(const IoTensor& io) const {
    const NodeContext context = {&at(io.tensor), nullptr};
    const IoFields fields = {io.quantization};
    return FieldPrinter(context, options_).text(fields, io_base(at(io.tensor)));
  }
  void print_input(const IoTensor& input) {
    out_ += fmt::format("%{} = input {}{}{}\n", input.tensor, text::quote(input.name),
                        quantization(input), type(input.tensor, input_base(at(input.tensor))));
  }
  void print_layer(std::uint32_t index) {
    const LayerNode& layer = graph_.layers[index];
    const bool writes = layer.output != kNoTensor;
    if (writes) out_ += fmt::format("%{} = ", layer.output);
    out_ += node_kind(layer);
    if (!layer.name.empty()) out_ += " " + text::quote(layer.name);
    out_ += fmt::format(" %{}", layer.input);
    for (const std::uint32_t tensor : layer.operands) out_ += fmt::format(", %{}", tensor);
    const NodeContext context = {&at(layer.input), writes ? &at(layer.output) : nullptr};
    std::visit(
        [&]<typename Node>(const Node& node) {
          out_ += FieldPrinter(context, options_).text(node, node_base<Node>(context, layer));
          const LayerFields own = {layer.macs, layer.absorbed_by};
          const LayerFields usual = {usual_macs(node, context), {}};
          out_ += FieldPrinter(context, options_).text(own, usual);
        },
        layer.part);
    if (writes) {
      TensorNode base = tensor_base(at(layer.output));
      base.producer = index;
      base.quantization = kept_quantization(graph_, layer);
      out_ += type(layer.output, base);
    }
    out_ += "\n";
  }

  const Graph& graph_;
  const text::PrintOptions& options_;
  std::vector<bool> read_;
  std::string out_;
};

// The first difference of two layers.
std::string layer_difference(const LayerNode& a, const LayerNode& b) {
  if (a.name != b.name) return "name";
  if (a.input != b.input) return "input";
  if (a.output != b.output) return "output";
  if (a.operands != b.operands) return "operands";
  if (a.part.index() != b.part.index()) return "kind";
  const std::string own = FieldComparer::difference(LayerFields{a.macs, a.absorbed_by},
                                                    LayerFields{b.macs, b.absorbed_by});
  if (!own.empty()) return own;
  return std::visit(
      [&]<typename Node>(const Node& node) {
        return FieldComparer::difference(node, std::get<Node>(b.part));
      },
      a.part);
}

std::string tensor_difference(const TensorNode& a, const TensorNode& b) {
  if (!(a.shape == b.shape)) return "shape";
  if (a.precision != b.precision) return "precision";
  return FieldComparer::difference(a, b);
}

std::string io_difference(const IoTensor& a, const IoTensor& b) {
  if (a.name != b.name) return "name";
  if (a.tensor != b.tensor) return "tensor";
  return a.quantization == b.quantization ? "" : "quantization";
}

std::string lut_difference(const nvdla_lut& a, const nvdla_lut& b) {
  return std::memcmp(&a, &b, sizeof a) == 0 ? "" : "values";
}

// The first difference of two lists, whose elements `difference` compares and `name` names.
template <typename T, typename Difference, typename Name>
std::string list_difference(std::string_view kind, const std::vector<T>& a, const std::vector<T>& b,
                            const Difference& difference, const Name& name) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const std::string inner = difference(a[i], b[i]);
    if (!inner.empty()) return fmt::format("{}: {}", name(i), inner);
  }
  if (a.size() == b.size()) return {};
  return fmt::format("{} {}s, and {}", a.size(), kind, b.size());
}

}  // namespace

std::string print_graph(const Graph& graph, const text::PrintOptions& options) {
  return GraphPrinter(graph, options).print();
}

std::string graph_difference(const Graph& a, const Graph& b) {
  const auto numbered = [](const char* kind) {
    return [kind](std::size_t i) { return fmt::format("{} {}", kind, i); };
  };
  const auto named = [&a](std::size_t i) { return layer_text(i, a.layers[i].name); };
  for (std::string difference :
       {list_difference("tensor", a.tensors, b.tensors, tensor_difference, numbered("tensor")),
        list_difference("input", a.inputs, b.inputs, io_difference, numbered("input")),
        list_difference("output", a.outputs, b.outputs, io_difference, numbered("output")),
        list_difference("layer", a.layers, b.layers, layer_difference, named),
        list_difference("lut", a.luts, b.luts, lut_difference, numbered("lut"))})
    if (!difference.empty()) return difference;
  return {};
}

}  // namespace nvdla::detail
