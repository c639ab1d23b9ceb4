// SPDX-License-Identifier: MIT
//
// Values, names and places of a lowering.
#include "import/operators/lowering.hpp"

#include <algorithm>

#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
#include "support/check.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

// Types that the elements of an input may have: each of their numbers is a number of fp16.
bool is_exact_in_fp16(Type type) {
  return type == Type::kBool || type == Type::kInt8 || type == Type::kUint8;
}

}  // namespace

Lowering::Lowering(const Graph& graph, Network& network, const LoweringOptions& options)
    : graph_(graph),
      network_(network),
      options_(options),
      placed_(graph.values.size()),
      readers_(graph.values.size()),
      is_output_(graph.values.size(), false),
      done_(graph.nodes.size(), false) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].inputs)
      if (id != kNoValue) readers_[static_cast<std::size_t>(id)].push_back(n);
  for (const ValueId id : graph.outputs) is_output_[static_cast<std::size_t>(id)] = true;
  has_scales_ = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                            [](const Node& node) { return node.op == "QuantizeLinear"; });
}

void Lowering::lower(std::size_t node) {
  done_[node] = true;
  node_ = &graph_.nodes[node];
  places_.clear();
  const Operation op(graph_, *node_);
  const OperatorRow* const row = find_operator(op);
  if (row == nullptr || row->lower == nullptr)
    refuse_node("the operator is not supported with inputs that the network computes");
  for (std::size_t i = 0; i < op.inputs(); ++i)
    if (op.has(i) && is_quantized(op.input(i)) && lower_quantized(*this, op)) return;
  // Between a node that was refused and the next QuantizeLinear there is nothing to check.
  const bool behind = has_scales_ && op.op() != "QuantizeLinear" &&
                      std::any_of(node_->inputs.begin(), node_->inputs.end(),
                                  [&](ValueId id) { return is_placeholder(id); });
  if (behind) {
    for (const ValueId id : node_->outputs)
      if (id != kNoValue) put_placeholder(id, std::nullopt);
    return;
  }
  row->lower(*this, op);
}

bool Lowering::is_quantized(ValueId id) const {
  const auto& placed = placed_[static_cast<std::size_t>(id)];
  return placed && network_.precision(placed->tensor) != Precision::kFp16 &&
         bytes_of(placed->tensor) == nullptr;
}

const BytePixels* Lowering::bytes_of(Tensor tensor) const {
  if (options_.bytes == nullptr) return nullptr;
  for (const auto& [id, pixels] : *options_.bytes) {
    const auto& placed = placed_[static_cast<std::size_t>(id)];
    if (placed && placed->tensor == tensor) return &pixels;
  }
  return nullptr;
}

void Lowering::add_quantized_input(ValueId id, const View& view, const Quantization& quantization) {
  const Tensor tensor = network_.input(detail::printable(graph_.value(id).name), view.shape,
                                       options_.integers, quantization);
  put(id, tensor, view);
  inputs_[id] = view;
}

bool Lowering::is_free(ValueId id) const {
  const auto& inputs = graph_.inputs;
  return !placed_[static_cast<std::size_t>(id)] &&
         std::find(inputs.begin(), inputs.end(), id) != inputs.end();
}

// Returns the node of an operator that a value goes to through operators on each element.
const Node* Lowering::first_reader(ValueId id, std::string_view op) const {
  const Dims& dims = *graph_.value(id).dims;
  while (const auto reader = only_reader(id)) {
    const Node& node = graph_.nodes[*reader];
    if (node.op == op) return &node;
    if (node.outputs.size() != 1 || *graph_.value(node.outputs[0]).dims != dims) return nullptr;
    id = node.outputs[0];
  }
  return nullptr;
}

View Lowering::input_view(ValueId id) const {
  const Dims& dims = *graph_.value(id).dims;
  const bool fits = std::all_of(dims.begin(), dims.end(),
                                [](std::int64_t size) { return size <= detail::kMaxSide; });
  const Node* const reshape = fits ? nullptr : first_reader(id, "Reshape");
  if (reshape != nullptr)
    return default_view(*graph_.value(reshape->outputs[0]).dims, options_.has_batch);
  const View usual = default_view(dims, options_.has_batch);
  const Node* const transpose = options_.channels_last ? first_reader(id, "Transpose") : nullptr;
  if (transpose == nullptr) return usual;
  const auto order = transposed_axes(Operation(graph_, *transpose));
  const Dims& result = *graph_.value(transpose->outputs[0]).dims;
  const auto roles = roles_in(default_view(result, options_.has_batch), result);
  if (!roles) return usual;
  std::string own(dims.size(), 'C');
  for (std::size_t i = 0; i < order.size(); ++i) own[order[i]] = (*roles)[i];
  const View view = make_view(dims, own);
  return is_channels_last(view) ? view : usual;
}

void Lowering::add_input(ValueId id, const View& view) {
  const Value& value = graph_.value(id);
  if (!options_.info.has_fp16)
    throw Refusal(fmt::format("{} has no fp16, and '{}' has no scale for int8",
                              options_.info.configuration, detail::printable(value.name)),
                  "give samples of its inputs (--samples), or quantise the model (QuantizeLinear)");
  if ((!is_real(value.type) || value.type == Type::kBfloat16) && !is_exact_in_fp16(value.type))
    throw Refusal(fmt::format("input '{}' is {}, whose numbers fp16 does not have",
                              detail::printable(value.name), type_name(value.type)),
                  "make it a constant (--constant NAME=NUMBER), or cast it before the network");
  const std::string name = detail::printable(value.name);
  const bool bytes = options_.bytes != nullptr && options_.bytes->contains(id);
  const Tensor tensor = bytes ? network_.input(name, view.shape, kBytes)
                              : network_.input(name, view.shape, Precision::kFp16);
  placed_[static_cast<std::size_t>(id)] = Placed{tensor, view};
  inputs_[id] = view;
}

const View& Lowering::view(ValueId id) {
  auto& placed = placed_[static_cast<std::size_t>(id)];
  if (!placed) {
    const Value& value = graph_.value(id);
    if (value.constant)
      refuse_node("'{}' is a constant; expected a tensor that the network computes",
                  detail::printable(value.name));
    if (!is_free(id))
      refuse_node("its input '{}' was refused before", detail::printable(value.name));
    add_input(id, input_view(id));
  }
  return placed->view;
}

Tensor Lowering::tensor(ValueId id) {
  view(id);
  return placed_[static_cast<std::size_t>(id)]->tensor;
}

Tensor Lowering::tensor(ValueId id, const View& wanted) {
  // An application writes elements in the order of the model, or with channels last.
  if (is_free(id)) {
    const bool usual = is_row_major(wanted) || (options_.channels_last && is_channels_last(wanted));
    add_input(id, usual ? wanted : row_major(wanted));
  }
  const View from = view(id);
  const Tensor x = placed_[static_cast<std::size_t>(id)]->tensor;
  const Tensor changed = change_view(x, from, wanted);
  // Other readers are likely to want the same.
  if (!is_output_[static_cast<std::size_t>(id)] && !inputs_.contains(id)) put(id, changed, wanted);
  return changed;
}

void Lowering::put(ValueId id, Tensor tensor, const View& view) {
  placed_[static_cast<std::size_t>(id)] = Placed{tensor, view};
}

void Lowering::put_placeholder(ValueId id, const std::optional<Quantization>& quantization) {
  const View view = default_view(*graph_.value(id).dims, has_batch());
  const std::string name = fmt::format("refused {}", id);
  if (quantization) {
    put(id, network_.input(name, view.shape, options_.integers, *quantization), view);
    return;
  }
  put(id, network_.input(name, view.shape, Precision::kFp16), view);
  placeholders_.insert(id);
}

Tensor Lowering::copy(Tensor x) {
  const std::string layer = name("copy");
  if (info().has_bdma || network_.precision(x) != Precision::kInt8) return network_.copy(x, layer);
  // A function that changes nothing, of a table or of none.
  const Quantization q = network_.quantization(x).value_or(Quantization{});
  return network_.activation(
      x, {.name = layer, .input = q, .output = q, .function = [](double v) { return v; }});
}

std::string Lowering::roles(ValueId id) {
  const Dims& dims = *graph_.value(id).dims;
  if (auto roles = roles_in(view(id), dims)) return *roles;
  const View wanted = default_view(dims, options_.has_batch);
  tensor(id, wanted);
  return roles_in(wanted, dims).value_or(std::string(dims.size(), 'C'));
}

std::string Lowering::name(std::string_view suffix) {
  std::string base = detail::printable(node_->name);
  if (!suffix.empty()) base += fmt::format(" {}", suffix);
  const int count = ++names_[base];
  return count == 1 ? base
                    : name(suffix.empty() ? fmt::format("#{}", count)
                                          : fmt::format("{} #{}", suffix, count));
}

bool Lowering::may_use_cpu() const {
  return options_.cpu == CpuUse::kAll || (options_.cpu == CpuUse::kTail && is_tail(*node_));
}

void Lowering::use_cpu(std::string_view what) {
  if (!may_use_cpu())
    throw Refusal(fmt::format("the device has nothing for {}", what),
                  options_.cpu == CpuUse::kTail ? "let the CPU compute it: --cpu all"
                                                : "let the CPU compute it: --cpu tail or all");
  places_.insert("CPU");
}

void Lowering::use_cpu_for_average(std::string_view what) {
  if (options_.cpu == CpuUse::kNone) use_cpu(what);
  places_.insert("CPU");
}

bool Lowering::is_tail(const Node& node) const {
  if (&node == &end_) return true;
  const OperatorRow* const row = find_operator(Operation(graph_, node));
  if (row == nullptr || !row->is_tail) return false;
  std::vector<const Node*> work = {&node};
  std::set<const Node*> seen;
  while (!work.empty()) {
    const Node* const now = work.back();
    work.pop_back();
    if (!seen.insert(now).second) continue;
    for (const ValueId id : now->outputs) {
      if (id == kNoValue) continue;
      for (const std::size_t reader : readers_[static_cast<std::size_t>(id)]) {
        const Operation next(graph_, graph_.nodes[reader]);
        constexpr std::string_view kComputesNothing[] = {
            "Cast",    "DequantizeLinear", "Flatten", "Identity",
            "Reshape", "QuantizeLinear",   "Squeeze", "Unsqueeze"};
        if (std::find(std::begin(kComputesNothing), std::end(kComputesNothing), next.op()) ==
            std::end(kComputesNothing))
          return false;
        work.push_back(&next.node());
      }
    }
  }
  return true;
}

std::optional<std::size_t> Lowering::only_reader(ValueId id) const {
  const auto index = static_cast<std::size_t>(id);
  if (is_output_[index] || readers_[index].size() != 1) return std::nullopt;
  return readers_[index][0];
}

const Node* Lowering::next(ValueId id) const {
  const auto reader = only_reader(id);
  return reader ? &graph_.nodes[*reader] : nullptr;
}

ValueId Lowering::follow(ValueId id, const std::function<bool(const Operation&, ValueId)>& accept) {
  while (const auto reader = only_reader(id)) {
    if (done_[*reader]) break;
    const Node& node = graph_.nodes[*reader];
    const Operation op(graph_, node);
    if (node.outputs.size() != 1 || node.outputs[0] == kNoValue) break;
    // All else that it reads must be there.
    bool ready = true;
    for (const ValueId other : node.inputs)
      ready = ready && (other == id || other == kNoValue || graph_.value(other).constant ||
                        placed_[static_cast<std::size_t>(other)] || is_free(other));
    if (!ready || !accept(op, id)) break;
    done_[*reader] = true;
    id = node.outputs[0];
  }
  return id;
}

namespace {

ImportedTensor describe(const Value& value, const View& view, Precision precision,
                        std::optional<Quantization> quantization) {
  ImportedTensor t;
  t.name = detail::printable(value.name);
  t.type = type_name(value.type);
  t.sizes = *value.dims;
  t.layout = is_row_major(view) ? Layout::kNchw : Layout::kNhwc;
  t.shape = view.shape;
  t.precision = precision;
  t.quantization = quantization;
  return t;
}

}  // namespace

void Lowering::finish(std::vector<ImportedTensor>& inputs, std::vector<ImportedTensor>& outputs) {
  std::set<ValueId> named;
  for (const ValueId id : graph_.outputs) {
    const Value& value = graph_.value(id);
    end_ = {.name = value.name, .op = "output"};
    node_ = &end_;
    if (value.constant) refuse_node("output '{}' is a constant", detail::printable(value.name));
    View at = view(id);
    Tensor x = tensor(id);
    if (!is_row_major(at) && !(options_.channels_last && is_channels_last(at))) {
      const View plain = row_major(at);
      x = change_view(x, at, plain);
      at = plain;
    }
    // An output has a name and a buffer of its own.
    bool shared = inputs_.contains(id) || !named.insert(id).second;
    for (const auto& [other, ignored] : inputs_)
      shared = shared || placed_[static_cast<std::size_t>(other)]->tensor == x;
    for (const ValueId other : named)
      shared = shared || (other != id && placed_[static_cast<std::size_t>(other)]->tensor == x);
    if (shared) x = copy(x);
    std::string text = detail::printable(value.name);
    for (const auto& [other, ignored] : inputs_)
      if (detail::printable(graph_.value(other).name) == text) text += " output";
    network_.output(x, text);
    outputs.push_back(describe(value, at, network_.precision(x), network_.quantization(x)));
    outputs.back().name = text;
  }
  for (const auto& [id, at] : inputs_) {
    const Tensor x = placed_[static_cast<std::size_t>(id)]->tensor;
    inputs.push_back(
        describe(graph_.value(id), at, network_.precision(x), network_.quantization(x)));
  }
}

}  // namespace nvdla::import
