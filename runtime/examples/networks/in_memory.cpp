// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <map>
#include <optional>
#include <regex>
#include <string>
#include <variant>
#include <vector>

#include "check.hpp"

namespace networks {
namespace {

using nvdla::LayerTensor;

// The elements that a layer wrote, lines, columns, channels side by side.
Elements unpacked(const LayerTensor& tensor) {
  if (tensor.desc.precision == nvdla::Precision::kFp16) {
    Elements elements(tensor.desc.shape.elements());
    nvdla::unpack(tensor.desc, nvdla::Layout::kNhwc, tensor.bytes, {}, elements);
    return elements;
  }
  std::vector<std::int8_t> elements(tensor.desc.shape.elements());
  nvdla::unpack(tensor.desc, nvdla::Layout::kNhwc, tensor.bytes, elements);
  return {elements.begin(), elements.end()};
}

class InMemory {
 public:
  InMemory(const Graph& graph, std::span<const Elements> results, Verdict& verdict)
      : graph_(graph), results_(results), verdict_(verdict) {
    for (Value value = 1; value < graph.layers().size(); ++value)
      values_.emplace(graph.layers()[value].name, value);
  }

  void see(const LayerTensor& tensor) {
    const std::optional<Value> value = value_of(std::string(tensor.layer_name));
    if (!value) return;
    // The first part begins where the result does.
    const auto [place, first] = places_.emplace(*value, tensor.offset);
    verdict_.tensors += first;
    compare(*value, tensor, tensor.offset - place->second);
  }

 private:
  // "conv", "conv 2/3", "conv groups 2/3", "conv gather", "conv+pool": the last of what works on
  // the fly writes.
  std::optional<Value> value_of(std::string name) const {
    static const std::regex band("(.*?)( gather| contract| groups)?( [0-9]+/[0-9]+)?");
    std::smatch match;
    for (;;) {
      if (const auto found = values_.find(name); found != values_.end()) return found->second;
      if (const std::size_t plus = name.find('+'); plus != name.npos) {
        name = name.substr(plus + 1);
      } else if (std::regex_match(name, match, band) && match.str(1) != name) {
        name = match.str(1);
      } else {
        // The contents are gathered or concatenated later.
        return std::nullopt;
      }
    }
  }

  // Returns the channel of the result for each channel in memory, or none for a channel without
  // meaning: each part of a concatenation may begin an atom, and poolings preserve the gaps.
  std::vector<std::optional<std::size_t>> channels_of(Value value, std::size_t in_memory,
                                                      std::size_t per_atom) const {
    const std::size_t all = graph_.layers()[value].shape.channels;
    while (in_memory > all && std::holds_alternative<Pool>(graph_.layers()[value].what))
      value = graph_.layers()[value].inputs[0];
    std::vector<std::optional<std::size_t>> channels;
    std::size_t next = 0;
    const auto add = [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) channels.emplace_back(next++);
    };
    if (in_memory > all && std::holds_alternative<Concat>(graph_.layers()[value].what)) {
      for (const Value part : graph_.layers()[value].inputs) {
        channels.resize((channels.size() + per_atom - 1) / per_atom * per_atom);
        add(graph_.layers()[part].shape.channels);
      }
    } else {
      add(all);
    }
    return channels;
  }

  void compare(Value value, const LayerTensor& tensor, std::uint64_t offset) {
    const Layer& layer = graph_.layers()[value];
    const Elements found = unpacked(tensor);
    // Surfaces of the network are packed; a part of one surface does not say how far the next is.
    const std::size_t atom = offset / tensor.desc.atom;
    const std::size_t area = layer.shape.height * layer.shape.width;
    const std::size_t c0 = atom / area * tensor.desc.elements_per_atom();
    const std::size_t y0 = atom % area / layer.shape.width;
    const std::size_t x0 = atom % area % layer.shape.width;
    const Shape& part = tensor.desc.shape;
    const auto channels = channels_of(value, c0 + part.channels, tensor.desc.elements_per_atom());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::optional<std::size_t> channel = channels.at(c0 + i % part.channels);
      if (!channel) continue;
      ++verdict_.elements;
      const std::size_t c = *channel;
      const std::size_t x = x0 + i / part.channels % part.width;
      const std::size_t y = y0 + i / part.channels / part.width;
      const float expected =
          results_[value].at((y * layer.shape.width + x) * layer.shape.channels + c);
      // NaN is no result of ours.
      if (found[i] == expected || verdict_.different++ != 0) continue;
      verdict_.first = fmt::format("layer '{}', channel {}, line {}, column {}: {}, expected {}",
                                   tensor.layer_name, c, y, x, found[i], expected);
    }
  }

  const Graph& graph_;
  std::span<const Elements> results_;
  Verdict& verdict_;
  std::map<std::string, Value> values_;
  std::map<Value, std::uint64_t> places_;
};

}  // namespace

void check_in_memory(const nvdla::Request& request, const Graph& graph,
                     std::span<const Elements> results, Verdict& verdict) {
  InMemory memory(graph, results, verdict);
  request.visit_layers([&](const LayerTensor& tensor) { memory.see(tensor); });
}

}  // namespace networks
