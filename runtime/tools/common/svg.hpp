// SPDX-License-Identifier: MIT
//
// Pictures made of lines, boxes and words: SVG that is readable on light and dark ground. What is
// drawn the same is the same to the byte.
#ifndef NVDLA_TOOLS_COMMON_SVG_HPP
#define NVDLA_TOOLS_COMMON_SVG_HPP

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvdla::program {

// As XML has it: its own characters escaped, those that it may not hold replaced.
std::string svg_text(std::string_view text);

class Svg {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };
  using Points = std::vector<std::pair<double, double>>;

  // `title` and `description` are what readers without eyes get.
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
  // Upwards, beside a vertical axis.
  void text_upwards(double x, double y, std::string_view text);

  std::string finish() const;

 private:
  std::string head_, body_;
};

// Round numbers of an axis from `low` to `high`, which is more: at most `most`, 1, 2 or 5 times a
// power of ten apart.
std::vector<double> axis_ticks(double low, double high, std::size_t most);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_SVG_HPP
