// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/cli/pictures/pictures.hpp"
#include "tools/common/layered.hpp"
#include "tools/common/svg.hpp"
#include "tools/common/text.hpp"

namespace nvdla::cli {
namespace {

using program::Svg;

constexpr double kMargin = 16, kTop = 64, kLine = 15, kPad = 10;
// The distances between boxes; the shape of a box's output is below the box.
constexpr double kAcross = 26, kDown = 34;
// The average width of a letter.
constexpr double kLetter = 6.4, kSmallLetter = 5.6;
constexpr std::size_t kMost = 40;

bool by_cpu(const NetworkBox& box) { return !box.units.empty() && box.units[0] == "cpu"; }

// Returns the second line of a box.
std::string units_text(const NetworkBox& box) {
  if (!box.about.empty()) return box.about;
  return fmt::format("{}", fmt::join(box.units, " + "));
}

// Returns the colour of the first unit, as in the picture of a profile.
std::string style_of(const NetworkBox& box) {
  constexpr std::array<std::string_view, 6> kUnits = {"conv", "sdp", "pdp", "cdp", "rubik", "bdma"};
  if (box.units.empty()) return "port";
  if (by_cpu(box)) return "cpu";
  // Chooses the unit that does most of the work of a user's layer.
  if (!box.about.empty()) {
    const std::string& kind = box.units[0];
    const auto has = [&](std::string_view word) { return kind.find(word) != kind.npos; };
    return has("convolution") || has("connected") ? "unit0"
           : has("pooling")                       ? "unit2"
           : has("normalization")                 ? "unit3"
           : has("element") || has("comparison")  ? "unit1"
                                                  : "unit4";
  }
  return fmt::format("unit{}",
                     std::find(kUnits.begin(), kUnits.end(), box.units[0]) - kUnits.begin());
}

program::LayeredGraph graph_of(const NetworkShape& network) {
  program::LayeredGraph graph;
  graph.edges = network.arrows;
  for (const NetworkBox& box : network.boxes) {
    const auto letters = static_cast<double>(std::min(box.name.size(), kMost)) * kLetter;
    const auto units = static_cast<double>(units_text(box).size()) * kSmallLetter;
    // Half of it is right of where the arrows begin.
    const auto tensor = 2 * static_cast<double>(box.tensor.size()) * kSmallLetter;
    graph.nodes.push_back({std::max({letters + 2 * kPad, units + 2 * kPad, tensor}),
                           box.units.empty() ? kLine + kPad : 2 * kLine + kPad});
  }
  return graph;
}

void draw_arrow(Svg& svg, Svg::Points points) {
  for (auto& [x, y] : points) {
    x += kMargin;
    y += kTop;
  }
  const auto [x, y] = points.back();
  svg.curve(points, "axis");
  svg.curve({{x - 3.5, y - 6}, {x, y}, {x + 3.5, y - 6}}, "axis");
}

}  // namespace

std::string network_picture(const NetworkShape& network, std::string_view title) {
  const program::LayeredGraph graph = graph_of(network);
  const program::LayeredPlaces places = program::place_layered(graph, kAcross, kDown);
  const auto cpu = std::count_if(network.boxes.begin(), network.boxes.end(), by_cpu);
  const auto ports = std::count_if(network.boxes.begin(), network.boxes.end(),
                                   [](const NetworkBox& box) { return box.units.empty(); });
  const auto layers = static_cast<std::ptrdiff_t>(network.boxes.size()) - ports - cpu;
  const std::string counts = fmt::format("{} layer{}, {} operation{} of the CPU", layers,
                                         layers == 1 ? "" : "s", cpu, cpu == 1 ? "" : "s");
  const double words =
      std::max(static_cast<double>(title.size()) * 8.5, static_cast<double>(counts.size()) * 7.0);
  Svg svg(std::max(places.width, words) + 2 * kMargin, places.height + kTop + kMargin + kLine,
          title,
          "Layers as boxes with their units, each below those whose results it takes. Below a box "
          "is the shape of what it gives.");
  svg.text(kMargin, 26, title, Svg::Anchor::kStart, "title");
  svg.text(kMargin, 46, counts, Svg::Anchor::kStart, "faint");
  for (const auto& edge : places.edges) draw_arrow(svg, edge);
  for (std::size_t i = 0; i < network.boxes.size(); ++i) {
    const NetworkBox& box = network.boxes[i];
    const double left = places.nodes[i].first + kMargin, top = places.nodes[i].second + kTop;
    const double middle = left + graph.nodes[i].width / 2;
    svg.box(left, top, graph.nodes[i].width, graph.nodes[i].height, style_of(box),
            fmt::format("{}{}{}{}{}", box.name, box.tensor.empty() ? "" : ": ", box.tensor,
                        box.steps.empty() ? "" : "; hardware: ", box.steps));
    svg.text(middle, top + kLine, program::elide(box.name, kMost), Svg::Anchor::kMiddle, "inside");
    if (!box.units.empty())
      svg.text(middle, top + 2 * kLine, units_text(box), Svg::Anchor::kMiddle, "small inside");
    svg.text(middle + 5, top + graph.nodes[i].height + kLine - 3, box.tensor, Svg::Anchor::kStart,
             "small faint");
  }
  return svg.finish();
}

}  // namespace nvdla::cli
