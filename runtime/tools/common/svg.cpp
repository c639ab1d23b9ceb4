// SPDX-License-Identifier: MIT
#include "tools/common/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/printable.hpp"

namespace nvdla::program {
namespace {

// Colours that differ in brightness, too.
constexpr std::string_view kStyles = R"(
svg { background: #ffffff; font-family: sans-serif; font-size: 12px; }
text { fill: #1f2328; }
.small { font-size: 10px; }
.title { font-size: 15px; font-weight: bold; }
.faint { fill: #59636e; }
/* Lines end before words that lie over them. */
text.faint { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
.axis { stroke: #59636e; stroke-width: 1; fill: none; }
.grid { stroke: #d1d9e0; stroke-width: 1; fill: none; }
.function { stroke: #1a7f37; stroke-width: 3; fill: none; stroke-opacity: 0.55; }
.table { stroke: #0550ae; stroke-width: 1.2; fill: none; }
.error { stroke: #bc4c00; stroke-width: 1.2; fill: none; }
.mark { stroke: #cf222e; stroke-width: 1.5; fill: none; }
.unit0 { fill: #54aeff; } .unit1 { fill: #f0883e; } .unit2 { fill: #4ac26b; }
.unit3 { fill: #c297ff; } .unit4 { fill: #e5c100; } .unit5 { fill: #ff8fab; }
.cpu { fill: #b6bec9; } .port { fill: #ffd8b5; }
.box { stroke: #ffffff; stroke-width: 0.5; }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117; }
text { fill: #e6edf3; }
.faint { fill: #9198a1; }
text.faint { stroke: #0d1117; }
.axis { stroke: #9198a1; }
.grid { stroke: #30363d; }
.function { stroke: #3fb950; }
.table { stroke: #79c0ff; }
.error { stroke: #ffa657; }
.mark { stroke: #ff7b72; }
.box { stroke: #0d1117; }
}
text.inside { fill: #1f2328; }
)";

std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string hinted(std::string_view element, std::string_view hint) {
  if (hint.empty()) return fmt::format("<{}/>\n", element);
  return fmt::format("<{}><title>{}</title></{}>\n", element, svg_text(hint),
                     element.substr(0, element.find(' ')));
}

}  // namespace

std::string svg_text(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  while (!text.empty()) {
    const auto [bytes, code] = detail::first_character(text);
    const char c = text[0];
    // XML has no characters for these, or discourages them.
    const bool none = code == 0xfffe || code == 0xffff || (detail::is_control(code) && c != '\n');
    if (bytes == 0 || none) {
      out += kReplacement;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

Svg::Svg(double width, double height, std::string_view title, std::string_view description)
    : head_(fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0}\" "
                        "height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n"
                        "<desc>{3}</desc>\n<style>{4}</style>\n",
                        number(width), number(height), svg_text(title), svg_text(description),
                        kStyles)) {}

void Svg::box(double x, double y, double width, double height, std::string_view style,
              std::string_view hint) {
  body_ += hinted(fmt::format("rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"box {}\"",
                              number(x), number(y), number(width), number(height), style),
                  hint);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", number(x1),
                       number(y1), number(x2), number(y2), style);
}

void Svg::curve(const Points& points, std::string_view style) {
  std::string all;
  for (const auto& [x, y] : points)
    all += fmt::format("{}{},{}", all.empty() ? "" : " ", number(x), number(y));
  body_ += fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", all, style);
}

void Svg::mark(double x, double y, std::string_view hint) {
  body_ += hinted(
      fmt::format("circle cx=\"{}\" cy=\"{}\" r=\"5\" class=\"mark\"", number(x), number(y)), hint);
}

void Svg::text(double x, double y, std::string_view text, Anchor anchor, std::string_view style) {
  constexpr std::string_view kAnchors[] = {"start", "middle", "end"};
  body_ +=
      fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", number(x),
                  number(y), kAnchors[static_cast<int>(anchor)], style, svg_text(text));
}

void Svg::text_upwards(double x, double y, std::string_view text) {
  body_ += fmt::format(
      "<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\" transform=\"rotate(-90 {0} {1})\">{2}"
      "</text>\n",
      number(x), number(y), svg_text(text));
}

std::string Svg::finish() const { return head_ + body_ + "</svg>\n"; }

std::vector<double> axis_ticks(double low, double high, std::size_t most) {
  const double least = (high - low) / static_cast<double>(most);
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (step >= least) break;
    step *= factor;
  }
  std::vector<double> ticks;
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  // Never a negative zero.
  for (double i = first; i <= last; ++i) ticks.push_back(i == 0 ? 0 : i * step);
  return ticks;
}

}  // namespace nvdla::program
