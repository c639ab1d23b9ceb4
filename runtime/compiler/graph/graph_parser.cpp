// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/graph/graph_text.hpp"
#include "compiler/graph/kind_names.hpp"
#include "compiler/graph/node_base.hpp"
#include "compiler/graph/node_parser.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// `NodeOfText` is a node with the other fields of its layer, which its text mixes.
template <typename Node>
struct NodeOfText {
  Node node;
  LayerFields layer;
};

template <typename Visitor, typename Fields, typename Node>
void visit_fields(Visitor& v, Fields& n, const NodeOfText<Node>& base) {
  visit_fields(v, n.node, base.node);
  visit_fields(v, n.layer, base.layer);
}

bool is_digit_text(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

// `GraphParser` reads the lines of a graph.
class GraphParser {
 public:
  GraphParser(std::string_view text, const text::ParseOptions& options)
      : cursor_(text), options_(options), budget_(options.max_bytes), max_tensors_(text.size()) {}

  Graph parse() {
    cursor_.at_end();
    if (!cursor_.accept_word("graph")) cursor_.fail_expected("'graph'");
    cursor_.end_line();
    while (!cursor_.at_end()) {
      line_ = cursor_.position();
      parse_line();
      cursor_.end_line();
    }
    finish();
    return std::move(graph_);
  }

 private:
  void parse_line() {
    if (cursor_.accept_word("lut")) return parse_lut();
    if (cursor_.accept_word("output")) return parse_output();
    std::optional<std::uint32_t> output;
    if (cursor_.at('%')) {
      output = define_tensor();
      cursor_.expect('=');
      if (cursor_.accept_word("input")) return parse_input(*output);
      if (cursor_.accept_word("tensor")) {
        const TensorType type = parse_type();
        return store_tensor(*output, type, tensor_base(type.node));
      }
    }
    parse_layer(output);
  }

  /* --------------------------------------------------------- tensors --- */

  // "%7" or "%image": the name, without the sign.
  std::string tensor_name() {
    cursor_.expect('%');
    if (cursor_.at_word()) return std::string(cursor_.word("a name"));
    return std::to_string(cursor_.digits("a tensor, as %2 or %image,", 0, UINT32_MAX));
  }

  std::uint32_t define_tensor() {
    const std::size_t position = cursor_.position();
    const std::string name = tensor_name();
    const std::size_t index =
        is_digit_text(name) ? std::stoull(name) : static_cast<std::size_t>(numbers_.size());
    if (numbers_.contains(name))
      cursor_.fail_at(position, fmt::format("%{} is there already", name));
    if (index < defined_.size() && defined_[index])
      cursor_.fail_at(position,
                      fmt::format("%{} would be tensor {}, which is there already: name all "
                                  "tensors by their numbers, or none",
                                  name, index));
    // Each takes a line, so that there are fewer of them than characters.
    if (index >= max_tensors_)
      cursor_.fail_at(position, fmt::format("%{}: the text has no {} tensors", name, index + 1));
    if (index >= defined_.size()) {
      defined_.resize(index + 1);
      graph_.tensors.resize(index + 1);
      read_.resize(index + 1);
    }
    defined_[index] = true;
    numbers_[name] = static_cast<std::uint32_t>(index);
    // Nothing reads it before its line ends.
    unfinished_ = static_cast<std::uint32_t>(index);
    return static_cast<std::uint32_t>(index);
  }

  std::uint32_t read_tensor() {
    const std::size_t position = cursor_.position();
    const std::string name = tensor_name();
    const auto at = numbers_.find(name);
    if (at == numbers_.end() || at->second == unfinished_)
      cursor_.fail_at(position, fmt::format("%{} is not on a line before", name));
    return at->second;
  }

  struct TensorType {
    TensorNode node;
    GivenFields given;
  };

  FieldParser field_parser() {
    return {cursor_, options_, [this] { return read_tensor(); }};
  }

  // ": int8 3x32x32 planar"
  TensorType parse_type() {
    cursor_.expect(':');
    TensorType type;
    text::parse_value(cursor_, "a precision", type.node.precision);
    text::parse_value(cursor_, "a shape", type.node.shape);
    FieldParser fields = field_parser();
    fields.parse(type.node);
    type.given = fields.given();
    return type;
  }

  void store_tensor(std::uint32_t index, TensorType type, const TensorNode& base) {
    const TensorNode& node = type.node;
    const NodeContext context = {&node, &node};
    FieldResolver resolver(type.given, context, cursor_, budget_);
    visit_fields(resolver, type.node, base);
    if (const auto given = type.given.find("read"); given != type.given.end())
      read_[index] = type.node.read;
    note_layer(type.given, "producer", type.node.producer);
    if (const auto given = type.given.find("view.whole"); given != type.given.end())
      wholes_.emplace_back(given->second.position, type.node.view->whole);
    graph_.tensors[index] = std::move(type.node);
    unfinished_ = kNoTensor;
  }

  /* ------------------------------------------------ inputs and outputs --- */

  // Reads the name of an input or output, which no other has.
  std::string io_name(std::string_view kind) {
    const std::size_t position = cursor_.position();
    std::string name = cursor_.quoted(fmt::format("the name of the {}, in quotation marks", kind));
    if (name.empty()) cursor_.fail_at(position, fmt::format("the {} has no name", kind));
    for (const auto* list : {&graph_.inputs, &graph_.outputs})
      for (const IoTensor& other : *list)
        if (other.name == name)
          cursor_.fail_at(position,
                          fmt::format("{} is there already: names of inputs and outputs are unique",
                                      text::quote(name)));
    return name;
  }

  void parse_input(std::uint32_t tensor) {
    std::string name = io_name("input");
    IoFields io;
    FieldParser fields = field_parser();
    fields.parse(io);
    const TensorType type = parse_type();
    store_tensor(tensor, type, input_base(type.node));
    resolve_io(fields.given(), io, tensor);
    graph_.inputs.push_back({std::move(name), tensor, io.quantization});
  }

  void parse_output() {
    const std::uint32_t tensor = read_tensor();
    std::string name = io_name("output");
    IoFields io;
    FieldParser fields = field_parser();
    fields.parse(io);
    resolve_io(fields.given(), io, tensor);
    graph_.outputs.push_back({std::move(name), tensor, io.quantization});
  }

  void resolve_io(const GivenFields& given, IoFields& io, std::uint32_t tensor) {
    const NodeContext context = {&graph_.tensors[tensor], nullptr};
    FieldResolver resolver(given, context, cursor_, budget_);
    visit_fields(resolver, io, io_base(graph_.tensors[tensor]));
  }

  void parse_lut() {
    const auto next = static_cast<std::uint32_t>(graph_.luts.size());
    const std::size_t position = cursor_.position();
    if (cursor_.digits("the number of the lut", 0, UINT32_MAX) != next)
      cursor_.fail_at(position, fmt::format("expected lut {}: they are numbered in order", next));
    lut_text().parse(cursor_, &graph_.luts.emplace_back(), options_);
  }

  /* ----------------------------------------------------------- layers --- */

  void parse_layer(std::optional<std::uint32_t> output) {
    LayerNode layer;
    parse_kind(layer);
    if (cursor_.at('"')) layer.name = cursor_.quoted("a name");
    layer.input = read_tensor();
    while (cursor_.accept(',')) layer.operands.push_back(read_tensor());
    std::visit([&]<typename Node>(Node& node) { parse_node(layer, node, output); }, layer.part);
    check_luts(layer);
    check_sums(layer);
    graph_.layers.push_back(std::move(layer));
  }

  // Sets the part of the layer, as it is constructed.
  void parse_kind(LayerNode& layer) {
    const std::size_t position = cursor_.position();
    const std::string_view word = cursor_.word("the kind of a layer");
    const std::string_view kind = word.substr(0, word.find('.'));
    if (kind != "cpu" && kind == word && make_part(kind, layer)) return;
    CpuNode cpu;
    if (kind == "cpu" && kind != word && text::make_operation(word.substr(4), cpu.operation)) {
      layer.part = std::move(cpu);
      return;
    }
    std::string names;
    for (const std::string_view name : kKindNames) names += std::string(name) + ", ";
    names.resize(names.size() - 2);
    cursor_.fail_at(position, fmt::format("unknown kind of layer '{}': there are {} with one of {}",
                                          word, names, text::operation_names()));
  }

  template <std::size_t kIndex = 0>
  static bool make_part(std::string_view kind, LayerNode& layer) {
    if constexpr (kIndex < kKindNames.size()) {
      if (kind != kKindNames[kIndex]) return make_part<kIndex + 1>(kind, layer);
      layer.part.emplace<kIndex>();
      return true;
    }
    return false;
  }

  template <typename Node>
  void parse_node(LayerNode& layer, Node& part, std::optional<std::uint32_t> output) {
    NodeOfText<Node> of_text = {std::move(part), {}};
    FieldParser fields = field_parser();
    fields.parse(of_text);
    TensorType type;
    if (output) type = parse_type();
    const TensorNode input = graph_.tensors[layer.input];
    const NodeContext context = {&input, output ? &type.node : nullptr};
    FieldResolver resolver(fields.given(), context, cursor_, budget_);
    resolver.set_line(line_);
    visit_fields(resolver, of_text.node, node_base<Node>(context, layer));
    visit_fields(resolver, of_text.layer, LayerFields{usual_macs(of_text.node, context), {}});
    part = std::move(of_text.node);
    layer.macs = of_text.layer.macs;
    layer.absorbed_by = of_text.layer.absorbed_by;
    note_layer(fields.given(), "absorbed_by", layer.absorbed_by);
    if (!output) return;
    TensorNode base = tensor_base(type.node);
    base.producer = static_cast<std::uint32_t>(graph_.layers.size());
    base.quantization = kept_quantization(graph_, layer);
    layer.output = *output;
    store_tensor(*output, std::move(type), base);
  }

  void note_layer(const GivenFields& given, const std::string& field,
                  std::optional<std::uint32_t> layer) {
    const auto at = given.find(field);
    if (at != given.end() && layer) layers_named_.emplace_back(at->second.position, *layer);
  }

  void check_lut(std::optional<std::uint32_t> lut) const {
    if (lut && *lut >= graph_.luts.size())
      cursor_.fail_at(line_, fmt::format("the layer names lut {}, {} are on lines before", *lut,
                                         graph_.luts.size()));
  }
  void check_luts(const LayerNode& layer) const {
    if (const auto* norm = std::get_if<NormNode>(&layer.part)) check_lut(norm->lut);
    const auto check = [this](const SdpNode& sdp) {
      check_lut(sdp.y.lut);
      check_lut(sdp.lut_of_cdp);
    };
    if (const auto* sdp = std::get_if<SdpNode>(&layer.part)) check(*sdp);
    if (const auto* conv = std::get_if<ConvNode>(&layer.part)) check(conv->sdp);
    if (const auto* deconv = std::get_if<DeconvNode>(&layer.part))
      std::for_each(deconv->sdp.begin(), deconv->sdp.end(), check);
  }

  void check_sums(const LayerNode& layer) const {
    const auto* cpu = std::get_if<CpuNode>(&layer.part);
    if (cpu == nullptr || !cpu->sums_on_device) return;
    if (!std::holds_alternative<cpu::AverageOperation>(cpu->operation.kind))
      cursor_.fail_at(line_, "the layer has sums_on_device, which is for averages only");
  }

  // Holds the whole graph to what single lines cannot know.
  void finish() {
    for (std::size_t i = 0; i < defined_.size(); ++i)
      if (!defined_[i])
        cursor_.fail_at(cursor_.position(),
                        fmt::format("%{} is on no line, but %{} is: numbers have no gaps", i,
                                    defined_.size() - 1));
    for (const auto& [position, layer] : layers_named_)
      if (layer >= graph_.layers.size())
        cursor_.fail_at(position, fmt::format("the field names layer {}, the graph has {}", layer,
                                              graph_.layers.size()));
    for (const auto& [position, tensor] : wholes_)
      if (tensor >= graph_.tensors.size())
        cursor_.fail_at(position, fmt::format("the field names tensor {}, the graph has {}", tensor,
                                              graph_.tensors.size()));
    const std::vector<bool> read = tensors_read(graph_);
    for (std::size_t i = 0; i < read.size(); ++i)
      graph_.tensors[i].read = read_[i].value_or(read[i]);
  }

  text::Cursor cursor_;
  const text::ParseOptions& options_;
  text::Budget budget_;
  std::size_t max_tensors_;
  Graph graph_;
  std::map<std::string, std::uint32_t> numbers_;  // of tensors, by name
  std::vector<bool> defined_;                     // by tensor
  std::vector<std::optional<bool>> read_;         // by tensor, where the text has it
  // Places where the text names layers and tensors by their indices, which may come later.
  std::vector<std::pair<std::size_t, std::uint32_t>> layers_named_, wholes_;
  std::uint32_t unfinished_ = kNoTensor;
  std::size_t line_ = 0;  // where the line begins
};

}  // namespace

Graph parse_graph(std::string_view text, const text::ParseOptions& options) {
  return GraphParser(text, options).parse();
}

}  // namespace nvdla::detail
