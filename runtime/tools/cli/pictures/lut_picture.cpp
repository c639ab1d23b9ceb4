// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/cli/pictures/pictures.hpp"
#include "tools/common/svg.hpp"

namespace nvdla::cli {
namespace {

using program::Svg;

constexpr double kWidth = 820, kLeft = 78, kRight = 800;

// A range of numbers on a range of the picture; upwards is less there.
class Axis {
 public:
  Axis(double low, double high, double from, double to)
      : low_(low), high_(high > low ? high : low + 1), from_(from), to_(to) {}
  double at(double value) const { return from_ + (to_ - from_) * (value - low_) / (high_ - low_); }
  std::vector<double> ticks(std::size_t most) const {
    return program::axis_ticks(low_, high_, most);
  }
  double from() const { return from_; }
  double to() const { return to_; }

 private:
  double low_, high_, from_, to_;
};

// With some room at both ends.
Axis upwards(double low, double high, double bottom, double top) {
  const double room = high > low ? (high - low) * 0.06 : 0.5;
  return {low - room, high + room, bottom, top};
}

void draw_frame(Svg& svg, const Axis& x, const Axis& y, std::string_view label, bool numbers) {
  for (const double tick : x.ticks(10)) {
    svg.line(x.at(tick), y.from(), x.at(tick), y.to(), "grid");
    if (numbers)
      svg.text(x.at(tick), y.from() + 17, fmt::format("{:g}", tick), Svg::Anchor::kMiddle);
  }
  for (const double tick : y.ticks(8)) {
    svg.line(x.from(), y.at(tick), x.to(), y.at(tick), "grid");
    svg.text(x.from() - 7, y.at(tick) + 4, fmt::format("{:g}", tick), Svg::Anchor::kEnd);
  }
  svg.line(x.from(), y.from(), x.to(), y.from(), "axis");
  svg.line(x.from(), y.from(), x.from(), y.to(), "axis");
  svg.text_upwards(18, (y.from() + y.to()) / 2, label);
}

void draw_legend(Svg& svg, double y, bool function) {
  double x = kLeft;
  const auto entry = [&](std::string_view style, std::string_view text) {
    svg.line(x, y - 4, x + 26, y - 4, style);
    svg.text(x + 32, y, text);
    x += 150;
  };
  if (function) entry("function", "function");
  entry("table", "table");
}

}  // namespace

std::string lut_picture(const LutCurves& curves) {
  const bool errors = !curves.error_label.empty();
  constexpr double kTop = 84, kBottom = 400, kErrorTop = 430, kErrorBottom = 570;
  const double bottom = errors ? kErrorBottom : kBottom;
  Svg svg(kWidth, bottom + 52, curves.title, curves.about);
  svg.text(kLeft, 26, curves.title, Svg::Anchor::kStart, "title");
  svg.text(kLeft, 46, curves.about, Svg::Anchor::kStart, "faint");
  draw_legend(svg, 68, errors);

  const std::vector<LutPoint>& points = curves.points;
  const Axis x(points.front().x, points.back().x, kLeft, kRight);
  double low = points[0].result, high = low, least = 0, greatest = 0;
  for (const LutPoint& p : points) {
    low = std::min({low, p.result, p.wanted.value_or(p.result)});
    high = std::max({high, p.result, p.wanted.value_or(p.result)});
    least = std::min(least, p.error);
    greatest = std::max(greatest, p.error);
  }
  const Axis y = upwards(low, high, kBottom, kTop);
  draw_frame(svg, x, y, curves.y_label, !errors);
  Svg::Points function, table, error;
  const Axis e = upwards(least, greatest, kErrorBottom, kErrorTop);
  for (const LutPoint& p : points) {
    if (p.wanted) function.emplace_back(x.at(p.x), y.at(*p.wanted));
    table.emplace_back(x.at(p.x), y.at(p.result));
    error.emplace_back(x.at(p.x), e.at(p.error));
  }
  if (errors) svg.curve(function, "function");
  svg.curve(table, "table");
  if (errors) {
    draw_frame(svg, x, e, curves.error_label, true);
    svg.curve(error, "error");
    if (const auto& worst = curves.worst;
        worst && worst->x >= points.front().x && worst->x <= points.back().x) {
      svg.mark(x.at(worst->x), e.at(worst->error),
               fmt::format("largest error: {:.3g} at {:g}", worst->error, worst->x));
    }
  }
  svg.text((kLeft + kRight) / 2, bottom + 40, curves.x_label, Svg::Anchor::kMiddle);
  return svg.finish();
}

}  // namespace nvdla::cli
