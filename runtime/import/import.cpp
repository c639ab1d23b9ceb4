// SPDX-License-Identifier: MIT
//
// Models become networks.
#include "nvdla/import.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "import/calibration/quantize_graph.hpp"
#include "import/graph/graph.hpp"
#include "import/graph/refusal.hpp"
#include "import/onnx/reader.hpp"
#include "import/operators/lowering.hpp"
#include "import/passes/passes.hpp"
#include "support/printable.hpp"

namespace nvdla {
namespace {

using detail::printable;
using import::throw_invalid_model;
using import::onnx_file::ModelPlace;

// A network with what became of the nodes.
struct Attempt {
  Network network;
  std::vector<ImportedTensor> inputs, outputs;
  std::vector<ImportedNode> nodes;
  std::vector<ImportedScale> scales;
  std::vector<std::string> notices;
  std::size_t refused = 0;
};

ImportedNode refused(const import::Node& node, const std::string& reason,
                     const std::string& remedy) {
  return {printable(node.name), printable(node.op), "", reason, remedy};
}

// Gives the outputs of a node that was refused a tensor, so that nodes behind it can be checked.
void put_placeholders(import::Lowering& lowering, const import::Node& node) {
  for (const import::ValueId id : node.outputs)
    if (id != import::kNoValue) lowering.put_placeholder(id, std::nullopt);
}

// Adds the layers of all nodes; `whole`: no node was refused before, so that there are all outputs.
Attempt lower(const import::Graph& graph, const import::LoweringOptions& options, bool whole,
              const import::Progress& progress) {
  Attempt attempt;
  import::Lowering lowering(graph, attempt.network, options);
  const auto report_refusal = [&](const import::Node& node, const std::string& reason,
                                  const std::string& remedy) {
    ++attempt.refused;
    attempt.nodes.push_back(refused(node, reason, remedy));
    try {
      put_placeholders(lowering, node);
    } catch (const import::Refusal&) {
      // Nodes behind it are refused for their inputs.
    } catch (const Error&) {
    }
  };
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const import::Node& node = graph.nodes[n];
    if (lowering.is_done(n)) {
      attempt.nodes.push_back({printable(node.name), printable(node.op), "fused", "", ""});
      continue;
    }
    if (progress) {
      const std::string step = fmt::format("node '{}'", printable(node.name));
      progress(
          {step, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(graph.nodes.size())});
    }
    try {
      const std::uint32_t before = attempt.network.layers();
      lowering.lower(n);
      std::string place = attempt.network.layers() == before ? "moved" : "device";
      if (lowering.places().contains("CPU")) place = "CPU";
      attempt.nodes.push_back({printable(node.name), printable(node.op), place, "", ""});
    } catch (const import::Refusal& refusal) {
      report_refusal(node, refusal.what(), refusal.remedy);
    } catch (const Error& error) {
      report_refusal(node, error.what(), "");
    }
  }
  attempt.notices = lowering.notices();
  if (attempt.refused != 0 || !whole) return attempt;
  try {
    lowering.finish(attempt.inputs, attempt.outputs);
  } catch (const import::Refusal& refusal) {
    report_refusal({.name = "outputs", .op = "output"}, refusal.what(), refusal.remedy);
  } catch (const Error& error) {
    report_refusal({.name = "outputs", .op = "output"}, error.what(), "");
  }
  return attempt;
}

std::size_t count_refused(const std::vector<ImportedNode>& nodes) {
  std::size_t count = 0;
  for (const ImportedNode& node : nodes) count += node.reason.empty() ? 0 : 1;
  return count;
}

std::string refusals(const std::string& file, const DeviceInfo& info,
                     const std::vector<ImportedNode>& nodes) {
  std::string text;
  const std::size_t count = count_refused(nodes);
  for (const ImportedNode& node : nodes) {
    if (node.reason.empty()) continue;
    text += fmt::format("\n  node '{}' ({}): {}", node.name, node.op, node.reason);
    if (!node.remedy.empty()) text += fmt::format("; {}", node.remedy);
  }
  return fmt::format("{}: {} {} not possible on {}:{}", printable(file), count,
                     count == 1 ? "node is" : "nodes are", info.configuration, text);
}

bool has_scales(const import::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const import::Node& node) {
    return node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
  });
}

// Returns true if a model of real numbers is to be one of integers.
bool wants_integers(const import::Graph& graph, const DeviceInfo& info,
                    const ImportOptions& options) {
  const std::string file = printable(graph.file);
  const bool scales = has_scales(graph);
  const bool wide = options.precision == Precision::kInt16;
  if (wide && scales)
    throw_invalid_model("{}: the model has scales of int8; expected int8, not int16", file);
  if (wide && !info.has_int16)
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("{}: {} has no int16; expected int8", file, info.configuration));
  if (options.precision == Precision::kFp16) {
    if (!options.samples.empty())
      throw_invalid_model("{}: samples are for int8 and int16; fp16 needs none", file);
    if (scales)
      throw_invalid_model("{}: the model has scales of int8; expected int8, not fp16", file);
    return false;
  }
  const bool wanted = wide || options.precision == Precision::kInt8;
  if (options.samples.empty() && (!wanted || scales)) return false;
  if (options.samples.empty() && !options.check)
    throw_invalid_model(
        "{}: {} needs scales, and the model has none (QuantizeLinear); expected samples of its "
        "inputs",
        file, wide ? "int16" : "int8");
  return true;
}

std::vector<import::Constant> read_constants(const ModelPlace& place,
                                             const ImportOptions& options) {
  std::vector<import::Constant> constants;
  for (const InputValue& value : options.constants)
    constants.push_back(import::onnx_file::read_tensor(
        value.tensor, place,
        fmt::format("{}: constant '{}'", printable(place.name), printable(value.name))));
  return constants;
}

// Gives the graph scales, and describes them if that is wanted.
std::vector<ImportedScale> quantize(import::Graph& graph, const DeviceInfo& info,
                                    const ImportOptions& options,
                                    const std::map<import::ValueId, import::PixelInput>& pixels,
                                    std::vector<std::string>& notices) {
  const import::Graph before = graph;
  const auto values =
      import::quantize_graph(graph, info, options.precision.value_or(Precision::kInt8),
                             options.samples, pixels, notices, options.progress);
  if (!options.measure || options.samples.empty()) return {};
  return import::describe_scales(before, graph, values, options.samples, pixels, options.progress);
}

std::vector<ImportedNode> names_of(const import::Graph& graph) {
  std::vector<ImportedNode> nodes;
  for (const import::Node& node : graph.nodes)
    nodes.push_back({printable(node.name), printable(node.op), "", "", ""});
  return nodes;
}

// Returns the nodes of the model with what became of them. Passes make several nodes of one, all of
// its name, or one of several; others that they made are listed where they are refused.
std::vector<ImportedNode> list_nodes(const std::vector<ImportedNode>& originals,
                                     const std::vector<ImportedNode>& found) {
  constexpr std::string_view kByWeight[] = {"moved", "fused", "constant", "device", "CPU"};
  const auto weight = [&](const ImportedNode& node) {
    if (!node.reason.empty()) return std::ptrdiff_t{std::size(kByWeight)};
    return std::find(std::begin(kByWeight), std::end(kByWeight), node.place) -
           std::begin(kByWeight);
  };
  std::map<std::string, ImportedNode> heaviest;
  for (const ImportedNode& node : found) {
    const auto [at, added] = heaviest.try_emplace(node.name, node);
    if (!added && weight(node) > weight(at->second)) at->second = node;
  }
  std::vector<ImportedNode> nodes;
  for (ImportedNode node : originals) {
    const auto at = heaviest.find(node.name);
    node.place = at == heaviest.end() ? "fused" : at->second.place;
    if (at != heaviest.end()) {
      node.reason = at->second.reason;
      node.remedy = at->second.remedy;
    }
    nodes.push_back(std::move(node));
  }
  for (const ImportedNode& original : originals) heaviest.erase(original.name);
  for (const ImportedNode& node : found)
    if (heaviest.contains(node.name) && !node.reason.empty()) nodes.push_back(node);
  return nodes;
}

// Makes networks of a graph as one import asks for it.
struct Attempts {
  const DeviceInfo& info;
  const ImportOptions& options;
  const std::map<import::ValueId, import::PixelInput>& pixels;
  bool integers = false;  // the graph is of real numbers, and the network to be of integers
  bool whole = false;     // no node was refused before
  bool bytes = false;     // pictures may go in as bytes

  Attempt make(import::Graph graph) const {
    std::vector<ImportedScale> scales;
    std::vector<std::string> notices;
    if (integers && whole) scales = quantize(graph, info, options, pixels, notices);
    import::Tables tables;
    std::map<import::ValueId, import::BytePixels> taken;
    if (bytes) taken = import::take_bytes(graph, pixels, options.channels_last);
    import::LoweringOptions lowering{info, options.cpu, true, options.channels_last, &tables};
    if (options.precision == Precision::kInt16) lowering.integers = Precision::kInt16;
    lowering.bytes = &taken;
    Attempt best = lower(graph, lowering, whole, options.progress);
    if (best.refused != 0) {
      // Perhaps the first axis is no batch.
      lowering.has_batch = false;
      Attempt other = lower(graph, lowering, whole, options.progress);
      if (other.refused < best.refused) best = std::move(other);
    }
    best.scales = std::move(scales);
    best.notices.insert(best.notices.begin(), notices.begin(), notices.end());
    return best;
  }
};

ImportedModel import_graph(std::span<const std::byte> bytes, const ModelPlace& place,
                           const DeviceInfo& info, const ImportOptions& options) {
  import::Graph graph = import::onnx_file::read_model(bytes, place, options.outputs);
  ImportedModel model;
  import::fix_inputs(graph, options, read_constants(place, options), model.notices);
  import::remove_dead_nodes(graph);
  const std::vector<ImportedNode> originals = names_of(graph);
  const auto pixels = import::take_pixels(graph, options);
  import::expand_integer_operators(graph);
  import::fold_constants(graph, model.nodes);
  import::remove_dead_nodes(graph);
  const bool whole = count_refused(model.nodes) == 0;
  const bool integers = wants_integers(graph, info, options);
  const bool in_fp16 = !integers && !has_scales(graph);
  const bool as_bytes = in_fp16 && options.bytes && info.has_fp16;
  if (!options.pixels.empty() || in_fp16) {
    // Addends of the border would stand between a convolution and what is behind it.
    if (in_fp16) import::absorb_affine(graph, import::kPixelChannels);
    std::set<import::ValueId> kept;
    if (as_bytes) kept = import::byte_inputs(graph, pixels, options.channels_last);
    import::absorb_forward(graph, in_fp16, kept);
  }
  import::merge_normalizations(graph);
  import::merge_shuffles(graph);
  import::merge_blocks(graph);
  import::move_transposes(graph);
  import::merge_shuffles(graph);
  import::split_transposes(graph);
  import::merge_reshapes(graph);
  import::expand_resizes(graph);
  // Some functions of int16 need no table, unless they have a factor and an addend before them.
  if (options.precision == Precision::kInt16) import::absorb_affine(graph);
  import::merge_functions(graph);
  const Attempts attempts{info, options, pixels, integers, whole, as_bytes};
  Attempt best = attempts.make(graph);
  if (best.refused != 0 && import::split_long_axes(graph)) {
    Attempt other = attempts.make(graph);
    if (other.refused < best.refused) best = std::move(other);
  }
  model.nodes.insert(model.nodes.end(), best.nodes.begin(), best.nodes.end());
  model.nodes = list_nodes(originals, model.nodes);
  model.notices.insert(model.notices.end(), best.notices.begin(), best.notices.end());
  model.scales = std::move(best.scales);
  model.samples = options.samples.size();
  model.network = std::move(best.network);
  model.inputs = std::move(best.inputs);
  model.outputs = std::move(best.outputs);
  if (count_refused(model.nodes) == 0) return model;
  if (options.check) {
    model.network = Network();
  } else {
    throw Error(ErrorCode::kNotAvailable, refusals(place.name, info, model.nodes));
  }
  return model;
}

std::vector<std::byte> read_file(const std::string& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) throw_invalid_model("cannot read '{}': {}", printable(path), error.message());
  if (size > std::uint64_t{1} << 31)
    throw_invalid_model("'{}' has {} bytes; expected at most 2 GiB, with external data",
                        printable(path), size);
  std::vector<std::byte> bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file) throw_invalid_model("cannot read '{}'", printable(path));
  return bytes;
}

ModelPlace place_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return {path, folder.empty() ? "." : folder.string()};
}

std::vector<ImportedTensor> read_inputs(std::span<const std::byte> model, const ModelPlace& place,
                                        const ImportOptions& options) {
  import::Graph graph = import::onnx_file::read_model(model, place, options.outputs);
  std::vector<std::string> notices;
  import::fix_inputs(graph, options, read_constants(place, options), notices);
  std::vector<ImportedTensor> inputs;
  for (const import::ValueId id : graph.inputs) {
    const import::Value& value = graph.value(id);
    ImportedTensor input;
    input.name = value.name;
    input.type = import::type_name(value.type);
    input.sizes = *value.dims;
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace

std::vector<ImportedTensor> read_model_inputs(std::string_view path, const ImportOptions& options) {
  const ModelPlace place = place_of(std::string(path));
  return read_inputs(read_file(place.name), place, options);
}

std::vector<ImportedTensor> read_model_inputs(std::span<const std::byte> model,
                                              const ImportOptions& options) {
  return read_inputs(model, {options.name, options.folder}, options);
}

ImportedModel import_model(std::string_view path, const DeviceInfo& info,
                           const ImportOptions& options) {
  const ModelPlace place = place_of(std::string(path));
  return import_graph(read_file(place.name), place, info, options);
}

ImportedModel import_model(std::span<const std::byte> model, const DeviceInfo& info,
                           const ImportOptions& options) {
  return import_graph(model, {options.name, options.folder}, info, options);
}

}  // namespace nvdla
