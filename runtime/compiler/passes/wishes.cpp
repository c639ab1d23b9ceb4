// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/operators/conv_parts.hpp"
#include "compiler/passes/pipeline.hpp"
#include "nvdla/types/error.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

using Tuning = Convolution::Tuning;

struct Choice {
  std::string_view name;
  Rewrite Tuning::*member;
};
constexpr Choice kChoices[] = {{"pixels", &Tuning::pixels},
                               {"folding", &Tuning::folding},
                               {"winograd", &Tuning::winograd},
                               {"batch", &Tuning::batch},
                               {"turns", &Tuning::interleaving}};
constexpr std::string_view kNot = "no-";

[[noreturn]] void refuse_choice(std::string_view choice, std::string_view why) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("choice '{}': {}", choice, why));
}

const Choice& find_choice(std::string_view text, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Choice& choice : kChoices) {
    if (choice.name == name) return choice;
    names.push_back(choice.name);
  }
  refuse_choice(text, fmt::format("'{}' is none; expected {}, or one of these behind '{}'", name,
                                  fmt::join(names, ", "), kNot));
}

// A choice of a user may not bring about what a layer could not have been described as.
void check_choices(std::uint32_t index, const LayerNode& layer, const ConvNode& conv) {
  with_error_context(layer_text(index, layer.name), index, [&] {
    check_tuning(conv.tuning, conv.conv);
    const char* const wish = conv.groups == 1 ? nullptr : wish_of_one_group(conv.tuning);
    if (wish != nullptr) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("groups {}: {}, which has one group", conv.groups, wish));
    }
  });
}

// Lets a convolution be computed in tiles, unless the user insists on what tiles exclude.
void allow_tiles(ConvNode& conv) {
  Tuning& tuning = conv.tuning;
  if (conv.groups == 1 && tuning.winograd == Rewrite::kNever && tuning.folding == Rewrite::kNever &&
      tuning.batch != Rewrite::kAlways)
    tuning.winograd = Rewrite::kAuto;
}

}  // namespace

Graph with_choices(Graph graph, const BuildOptions& options) {
  // The map has each choice by its layer and its name.
  std::map<std::pair<std::string_view, std::string_view>, std::string_view> before;
  for (const std::string& text : options.choices) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos) refuse_choice(text, "expected LAYER:CHOICE");
    const std::string_view layer = std::string_view(text).substr(0, colon);
    std::string_view name = std::string_view(text).substr(colon + 1);
    const bool never = name.starts_with(kNot);
    if (never) name.remove_prefix(kNot.size());
    const Choice& choice = find_choice(text, name);
    const auto [other, first] = before.emplace(std::pair(layer, name), text);
    if (!first && other->second != text)
      refuse_choice(text, fmt::format("'{}' says the opposite", other->second));
    bool found = false;
    for (LayerNode& node : graph.layers) {
      auto* const conv = std::get_if<ConvNode>(&node.part);
      if (conv == nullptr || node.name != layer) continue;
      conv->tuning.*choice.member = never ? Rewrite::kNever : Rewrite::kAlways;
      found = true;
    }
    if (!found) refuse_choice(text, fmt::format("no convolution is called '{}'", layer));
  }
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    LayerNode& layer = graph.layers[i];
    auto* const conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr) continue;
    if (!options.choices.empty()) check_choices(i, layer, *conv);
    if (options.allow_rounding && !before.contains({layer.name, "winograd"})) allow_tiles(*conv);
  }
  return graph;
}

}  // namespace nvdla::detail
