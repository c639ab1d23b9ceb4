// SPDX-License-Identifier: MIT
#include "catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "tools/common/text.hpp"
#include "tools/files/status.hpp"

namespace networks {
namespace {

// `otherwise` tells which names there are, where none is close.
[[noreturn]] void refuse_name(const char* kind, const std::string& name,
                              const std::vector<std::string>& names, const std::string& otherwise) {
  const std::string_view meant = nvdla::program::closest(name, names);
  throw nvdla::program::UsageError(
      fmt::format("no {} is called '{}'; {}", kind, name,
                  meant.empty() ? otherwise : fmt::format("did you mean '{}'?", meant)));
}

// Returns the layer of this name. The image is no layer.
Value find_layer(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (Value value = Graph::image() + 1; value < graph.layers().size(); ++value) {
    names.push_back(graph.layers()[value].name);
    if (names.back() == name) return value;
  }
  refuse_name("layer", name, names, "--tensors lists them");
}

}  // namespace

std::span<const Entry> catalogue() {
  static constexpr std::array kEntries = {
      Entry{"lenet5", "two convolutions, three fully connected layers", lenet5},
      Entry{"alexnet", "local response normalisation, large kernels", alexnet},
      Entry{"alexnet-groups", "the same with groups, as it was published", alexnet_groups},
      Entry{"resnet18", "residual blocks", resnet18},
      Entry{"resnet50", "residual bottlenecks", resnet50},
      Entry{"resnet152", "the same, three times as deep", resnet152},
      Entry{"squeezenet", "1.1: concatenations", squeezenet},
      Entry{"googlenet", "four branches side by side, normalisation", googlenet},
      Entry{"mobilenetv1", "depthwise convolutions", mobilenetv1},
      Entry{"mobilenetv2", "the same in inverted residual blocks", mobilenetv2},
      Entry{"efficientnet-b0", "swish by table, squeeze and excitation", efficientnet_b0,
            efficientnet_b0_without_tables,
            "ReLU stands for swish and a hard sigmoid for the sigmoid"},
      Entry{"vgg16", "the most arithmetic and weights", vgg16},
      Entry{"vgg19", "more: on nv_small two programs", vgg19},
      Entry{"densenet121", "concatenations of concatenations", densenet121},
      Entry{"yolo", "a detector: leaky ReLU, 416 x 416", yolo},
      Entry{"unet", "deconvolutions, concatenations", unet},
      Entry{"transformer", "an encoder block of BERT-base, partly on the CPU", transformer}};
  return kEntries;
}

const Entry& find_entry(const std::string& name) {
  std::vector<std::string> names;
  for (const Entry& entry : catalogue()) {
    if (name == entry.name) return entry;
    names.emplace_back(entry.name);
  }
  refuse_name("network", name, names, fmt::format("there are {}", fmt::join(names, ", ")));
}

Graph part_of(const Graph& graph, const std::string& range) {
  const std::size_t dots = range.find("..");
  const std::string first = range.substr(0, dots);
  const std::string last = dots == std::string::npos ? first : range.substr(dots + 2);
  const Value begin = find_layer(graph, first), end = find_layer(graph, last) + 1;
  if (begin >= end)
    throw nvdla::program::UsageError(
        fmt::format("layer '{}' comes behind '{}'; expected FIRST..LAST", first, last));
  const std::vector<Layer>& layers = graph.layers();
  std::set<Value> outside;
  for (Value value = begin; value < end; ++value)
    for (const Value input : layers[value].inputs)
      if (input < begin) outside.insert(input);
  if (outside.size() > 1) {
    std::vector<std::string> names;
    for (const Value value : outside) names.push_back(layers[value].name);
    throw nvdla::program::UsageError(
        fmt::format("layers '{}' read the results of {}; expected those of one layer", range,
                    fmt::join(names, ", ")));
  }
  Graph part(graph.shape(*outside.begin()));
  const auto moved = [&](Value value) {
    return value < begin ? Graph::image() : value - begin + 1;
  };
  for (Value value = begin; value < end; ++value) {
    Layer layer = layers[value];
    for (Value& input : layer.inputs) input = moved(input);
    auto* const conv = std::get_if<Conv>(&layer.what);
    if (conv != nullptr && conv->shortcut != kNoValue) conv->shortcut = moved(conv->shortcut);
    part.add(std::move(layer));
  }
  return part;
}

}  // namespace networks
