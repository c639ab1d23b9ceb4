// SPDX-License-Identifier: MIT
//
// Draws pictures of lines, boxes and words as SVG, readable on light and dark backgrounds. Equal
// drawings have equal bytes.
#ifndef NVDLA_TOOLS_COMMON_SVG_HPP
#define NVDLA_TOOLS_COMMON_SVG_HPP

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvdla::program {

// Returns text for XML: XML's own characters are escaped, characters that it cannot contain are
// replaced.
std::string svg_text(std::string_view text);

class Svg {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };
  using Points = std::vector<std::pair<double, double>>;

  // `title` and `description` are for screen readers.
  Svg(double width, double height, std::string_view title, std::string_view description);

  // `style` is a class of kStyles in svg.cpp: "axis", "grid", "function", "table", "unit0", ...
  // Hovering over a box shows `hint`.
  void box(double x, double y, double width, double height, std::string_view style,
           std::string_view hint = {});
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void curve(const Points& points, std::string_view style);
  void mark(double x, double y, std::string_view hint = {});
  void text(double x, double y, std::string_view text, Anchor anchor = Anchor::kStart,
            std::string_view style = {});
  // Writes text upwards, beside a vertical axis.
  void text_upwards(double x, double y, std::string_view text);

  std::string finish() const;

 private:
  std::string head_, body_;
};

// Returns round numbers for an axis from `low` to `high`, which is greater: at most `most`, with a
// distance of 1, 2 or 5 times a power of ten.
std::vector<double> axis_ticks(double low, double high, std::size_t most);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_SVG_HPP
