// SPDX-License-Identifier: MIT
//
// Reading ONNX models. Nothing of protobuf leaves this folder.
#include "import/onnx/reader.hpp"

#include <onnx/onnx_pb.h>

#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "import/graph/refusal.hpp"
#include "support/printable.hpp"

namespace nvdla::import::onnx_file {
namespace {

using detail::printable;

constexpr std::int64_t kFirstOpset = 6;
constexpr std::int64_t kLastOpset = 21;

// Returns "'scores', 'boxes'".
template <typename Names>
std::string names_text(const Names& names) {
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", printable(name));
  return text.empty() ? "none" : text;
}

bool is_standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

class Reader {
 public:
  Reader(const ::onnx::ModelProto& model, const ModelPlace& place) : model_(model), place_(place) {}

  Graph read(const std::vector<std::string>& outputs) {
    graph_.file = place_.name;
    read_opsets();
    const ::onnx::GraphProto& proto = model_.graph();
    if (proto.sparse_initializer_size() != 0)
      throw_invalid_model("{}: sparse initialisers are not supported; expected dense ones", file());
    for (const ::onnx::TensorProto& tensor : proto.initializer()) read_initializer(tensor);
    for (const ::onnx::ValueInfoProto& info : proto.input()) read_input(info);
    for (int i = 0; i < proto.node_size(); ++i) declare_outputs(proto.node(i), i);
    for (int i = 0; i < proto.node_size(); ++i) read_node(proto.node(i), i);
    for (const ::onnx::ValueInfoProto& info : proto.output())
      if (outputs.empty()) add_output(info.name());
    for (const std::string& name : outputs) add_output(name);
    if (graph_.outputs.empty()) throw_invalid_model("{}: the graph has no output", file());
    sort_nodes(graph_);
    return std::move(graph_);
  }

 private:
  std::string file() const { return printable(place_.name); }

  void read_opsets() {
    for (const auto& entry : model_.opset_import())
      opsets_[is_standard(entry.domain()) ? "" : entry.domain()] = entry.version();
    const auto standard = opsets_.find("");
    const std::int64_t version = standard == opsets_.end() ? 1 : standard->second;
    if (version < kFirstOpset || version > kLastOpset)
      throw_invalid_model("{}: opset {} is not supported; expected {} to {}", file(), version,
                          kFirstOpset, kLastOpset);
  }

  // The names that a graph inside of a node declares, with the values that had them before.
  struct Scope {
    ValueId first = 0;  // the first value that is its own
    std::unordered_map<std::string, ValueId> hidden;
    std::vector<ValueId> outside;
  };

  // Declares a value that something computes or the file has; each has one such place in its graph.
  ValueId declare(const std::string& name, const std::string& what) {
    const auto [found, added] = ids_.try_emplace(name, kNoValue);
    const bool hides = !added && scope_ != nullptr && found->second < scope_->first;
    if (!added && !hides)
      throw_invalid_model("{}: {}: the value '{}' is there already", file(), what, printable(name));
    if (scope_ != nullptr) scope_->hidden.emplace(name, added ? kNoValue : found->second);
    found->second = graph_.add({.name = name});
    return found->second;
  }

  // Records that the graph inside of a node takes a value from around it.
  void note_taken(ValueId id) {
    if (scope_ != nullptr && id < scope_->first) scope_->outside.push_back(id);
  }

  // Returns the nodes of a graph inside of a node.
  Subgraph read_body(const ::onnx::GraphProto& proto, const std::string& what) {
    if (proto.sparse_initializer_size() != 0)
      throw_invalid_model("{}: {}: sparse initialisers are not supported; expected dense ones",
                          file(), what);
    Scope scope;
    scope.first = static_cast<ValueId>(graph_.values.size());
    Scope* const around = std::exchange(scope_, &scope);
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (const ::onnx::TensorProto& tensor : proto.initializer()) read_initializer(tensor);
    // Values that the operator gives to each run of its graph have no sizes.
    for (const ::onnx::ValueInfoProto& info : proto.input()) declare(info.name(), what);
    for (int i = 0; i < proto.node_size(); ++i) declare_outputs(proto.node(i), i);
    for (int i = 0; i < proto.node_size(); ++i) read_node(proto.node(i), i);
    auto body = std::make_shared<Body>();
    body->nodes = std::exchange(graph_.nodes, std::move(nodes));
    for (const ::onnx::ValueInfoProto& info : proto.output()) {
      const auto found = ids_.find(info.name());
      if (found == ids_.end())
        throw_invalid_model("{}: {}: nothing computes the output '{}'", file(), what,
                            printable(info.name()));
      note_taken(found->second);
      body->outputs.push_back(found->second);
    }
    sort_nodes(graph_, body->nodes);
    for (const auto& [name, before] : scope.hidden) {
      if (before == kNoValue)
        ids_.erase(name);
      else
        ids_[name] = before;
    }
    scope_ = around;
    for (const ValueId id : scope.outside) note_taken(id);
    body->outside = std::move(scope.outside);
    return {std::move(body)};
  }

  void read_initializer(const ::onnx::TensorProto& tensor) {
    const std::string what = fmt::format("initialiser '{}'", printable(tensor.name()));
    Constant constant = read_tensor(tensor, place_, fmt::format("{}: {}", file(), what));
    Value& value = graph_.value(declare(tensor.name(), what));
    value.type = constant.type();
    value.dims = constant.dims();
    value.constant = std::move(constant);
  }

  void read_input(const ::onnx::ValueInfoProto& info) {
    if (ids_.contains(info.name()) &&
        graph_.value(ids_[info.name()]).constant)  // before IR 4 initialisers are inputs, too
      return;
    const std::string what = fmt::format("input '{}'", printable(info.name()));
    const ValueId id = declare(info.name(), what);
    graph_.inputs.push_back(id);
    Value& value = graph_.value(id);
    if (!info.type().has_tensor_type())
      throw_invalid_model("{}: {}: it is a sequence, map or optional value; expected a tensor",
                          file(), what);
    value.type = type_of(info.type().tensor_type().elem_type());
    if (!info.type().tensor_type().has_shape()) return;
    value.dims.emplace();
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      if (dim.has_dim_value() && dim.dim_value() < 0)
        throw_invalid_model("{}: {}: size {} is negative", file(), what, dim.dim_value());
      if (!dim.has_dim_value()) value.open.push_back({value.dims->size(), dim.dim_param()});
      value.dims->push_back(dim.has_dim_value() ? dim.dim_value() : 0);
    }
    if (value.dims->size() > 32)
      throw_invalid_model("{}: {}: {} axes; expected at most 32", file(), what, value.dims->size());
    if (elements_overflow(*value.dims))
      throw_invalid_model("{}: {}: {} are too many elements", file(), what, dims_text(*value.dims));
  }

  static bool elements_overflow(const Dims& dims) {
    std::int64_t count = 1;
    for (const std::int64_t size : dims) {
      if (size > kMaxElements / count) return true;
      if (size != 0) count *= size;
    }
    return false;
  }

  std::string node_name(const ::onnx::NodeProto& proto, int index) const {
    if (!proto.name().empty()) return proto.name();
    for (const std::string& output : proto.output())
      if (!output.empty()) return output;
    return fmt::format("node {}", index);
  }

  void declare_outputs(const ::onnx::NodeProto& proto, int index) {
    for (const std::string& output : proto.output())
      if (!output.empty())
        declare(output, fmt::format("node '{}'", printable(node_name(proto, index))));
  }

  void read_node(const ::onnx::NodeProto& proto, int index) {
    Node node;
    node.name = node_name(proto, index);
    node.op = proto.op_type();
    node.domain = is_standard(proto.domain()) ? "" : proto.domain();
    const auto opset = opsets_.find(node.domain);
    node.opset = opset == opsets_.end() ? 0 : opset->second;
    for (const std::string& input : proto.input()) {
      if (input.empty()) {
        node.inputs.push_back(kNoValue);
        continue;
      }
      const auto found = ids_.find(input);
      if (found == ids_.end())
        throw_invalid_model("{}: {}: nothing computes its input '{}'", file(), node_text(node),
                            printable(input));
      note_taken(found->second);
      node.inputs.push_back(found->second);
    }
    for (const std::string& output : proto.output())
      node.outputs.push_back(output.empty() ? kNoValue : ids_.at(output));
    for (const ::onnx::AttributeProto& attribute : proto.attribute())
      node.attributes.emplace(attribute.name(), read_attribute(attribute, node));
    graph_.nodes.push_back(std::move(node));
  }

  Attribute read_attribute(const ::onnx::AttributeProto& proto, const Node& node) {
    switch (proto.type()) {
      case ::onnx::AttributeProto::INT:
        return proto.i();
      case ::onnx::AttributeProto::FLOAT:
        return proto.f();
      case ::onnx::AttributeProto::STRING:
        return proto.s();
      case ::onnx::AttributeProto::INTS:
        return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
      case ::onnx::AttributeProto::FLOATS:
        return std::vector<float>(proto.floats().begin(), proto.floats().end());
      case ::onnx::AttributeProto::STRINGS:
        return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      case ::onnx::AttributeProto::TENSOR:
        return read_tensor(proto.t(), place_,
                           fmt::format("{}: {}: attribute '{}'", file(), node_text(node),
                                       printable(proto.name())));
      case ::onnx::AttributeProto::GRAPH:
        return read_body(
            proto.g(), fmt::format("{}: attribute '{}'", node_text(node), printable(proto.name())));
      default:
        return Subgraph{std::make_shared<Body>()};
    }
  }

  void add_output(const std::string& name) {
    const auto found = ids_.find(name);
    if (found == ids_.end())
      throw_invalid_model("{}: nothing computes the output '{}'; {}", file(), printable(name),
                          outputs_text(name));
    graph_.outputs.push_back(found->second);
  }

  // Says what a node of that name computes, or else what the model's own outputs are.
  std::string outputs_text(const std::string& name) const {
    for (const ::onnx::NodeProto& node : model_.graph().node())
      if (!name.empty() && node.name() == name)
        return fmt::format("the node of that name computes {}", names_text(node.output()));
    std::vector<std::string> own;
    for (const ::onnx::ValueInfoProto& info : model_.graph().output()) own.push_back(info.name());
    return fmt::format("the model's own are {}", names_text(own));
  }

  const ::onnx::ModelProto& model_;
  const ModelPlace& place_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> ids_;
  std::unordered_map<std::string, std::int64_t> opsets_;
  Scope* scope_ = nullptr;  // of the graph inside of a node that is being read
};

}  // namespace

Graph read_model(std::span<const std::byte> bytes, const ModelPlace& place,
                 const std::vector<std::string>& outputs) {
  const std::string name = printable(place.name);
  if (bytes.empty()) throw_invalid_model("{}: it is empty; expected an ONNX model", name);
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw_invalid_model(
        "{}: {} bytes, and protobuf reads at most 2 GiB; expected a model with "
        "external data",
        name, bytes.size());
  ::onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw_invalid_model("{}: it is no ONNX model, or it is truncated", name);
  if (!model.has_graph()) throw_invalid_model("{}: it has no graph; is it an ONNX model?", name);
  return Reader(model, place).read(outputs);
}

}  // namespace nvdla::import::onnx_file
