// SPDX-License-Identifier: MIT
#include "compiler/passes/wishes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "nvdla/types/error.hpp"

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

}  // namespace

Graph with_choices(Graph graph, const BuildOptions& options) {
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
  return graph;
}

}  // namespace nvdla::detail
