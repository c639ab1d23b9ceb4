// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tools/cli/pictures/pictures.hpp"
#include "tools/common/svg.hpp"
#include "tools/common/text.hpp"

namespace nvdla::cli {
namespace {

using program::bytes_text;
using program::Svg;

class ProfilePicture {
 public:
  ProfilePicture(const ProgramShape& shape, std::span<const nvdla_layer_stats> times)
      : shape_(shape), times_(times) {
    for (const std::string_view unit : kUnits) {
      const bool used =
          std::any_of(shape.layers.begin(), shape.layers.end(), [&](const LayerShape& layer) {
            return std::find(layer.units.begin(), layer.units.end(), unit) != layer.units.end();
          });
      if (used) tracks_.push_back(unit);
    }
    for (const nvdla_layer_stats& time : times) {
      first_ = std::min<std::uint64_t>(first_, time.start_ns);
      last_ = std::max<std::uint64_t>(last_, time.end_ns);
    }
    last_ = std::max(last_, first_ + 1);
  }

  std::string draw(std::string_view title) const {
    const double tracks = static_cast<double>(tracks_.size()) * (2 * kGroup + kGap);
    const double memories = static_cast<double>(shape_.memories.size()) * kRow;
    const double top = 74, axis = top + tracks, map = axis + 78;
    Svg svg(kWidth, map + memories + kMargin, title,
            "Above, when each unit worked on which layer. Below, the buffers with their sizes, and "
            "from the first to the last layer that uses each.");
    svg.text(kMargin, 26, title, Svg::Anchor::kStart, "title");
    svg.text(kMargin, 46,
             fmt::format("{} layers in {}. Layers of a unit take its two register groups in turn: "
                         "an upper and a lower line.",
                         shape_.layers.size(), program::duration_text(last_ - first_)),
             Svg::Anchor::kStart, "faint");
    draw_axis(svg, top - kGap, axis, map + memories);
    draw_tracks(svg, top);
    draw_memories(svg, map);
    return svg.finish();
  }

 private:
  // Words and bars of sizes are on the left of the time axis.
  static constexpr double kWidth = 1100, kMargin = 16, kTimeLeft = 330,
                          kTimeRight = kWidth - kMargin;
  static constexpr double kNamesRight = 190, kBarsLeft = 260, kBarsRight = kTimeLeft - 14;
  static constexpr double kGroup = 17, kRow = 18, kGap = 8;
  // The average width of a letter in these sizes.
  static constexpr double kLetter = 5.6;
  static constexpr std::array<std::string_view, 6> kUnits = {"conv", "sdp",   "pdp",
                                                             "cdp",  "rubik", "bdma"};

  double at(std::uint64_t time) const {
    return kTimeLeft + (kTimeRight - kTimeLeft) * static_cast<double>(time - first_) /
                           static_cast<double>(last_ - first_);
  }

  void draw_axis(Svg& svg, double top, double axis, double bottom) const {
    const auto span = static_cast<double>(last_ - first_);
    for (const double tick : program::axis_ticks(0, span, 8)) {
      const auto time = static_cast<std::uint64_t>(tick);
      const double x = at(first_ + time);
      svg.line(x, top, x, axis, "grid");
      svg.line(x, axis + 46, x, bottom, "grid");
      svg.text(x, axis + 16, program::duration_text(time), Svg::Anchor::kMiddle, "small");
    }
    svg.line(kTimeLeft, axis, kTimeRight, axis, "axis");
    svg.text((kTimeLeft + kTimeRight) / 2, axis + 32, "time since the first layer could start",
             Svg::Anchor::kMiddle, "faint");
  }

  void draw_tracks(Svg& svg, double y) const {
    for (std::size_t track = 0; track < tracks_.size(); ++track, y += 2 * kGroup + kGap) {
      svg.text(kTimeLeft - 12, y + kGroup + 4, tracks_[track], Svg::Anchor::kEnd);
      const auto style = style_of(tracks_[track]);
      unsigned turn = 0;
      for (std::size_t i = 0; i < shape_.layers.size(); ++i) {
        const auto& units = shape_.layers[i].units;
        if (std::find(units.begin(), units.end(), tracks_[track]) == units.end()) continue;
        const double top = y + (turn++ % 2) * kGroup;
        draw_box(svg, times_[i].start_ns, times_[i].end_ns, top, kGroup - 1, style,
                 shape_.layers[i].name,
                 fmt::format("layer {} '{}': {}", i, shape_.layers[i].name,
                             program::duration_text(times_[i].end_ns - times_[i].start_ns)));
      }
    }
  }

  static std::string style_of(std::string_view unit) {
    return fmt::format("unit{}", std::find(kUnits.begin(), kUnits.end(), unit) - kUnits.begin());
  }

  // Letters that fit a length.
  static std::size_t letters(double length) {
    return static_cast<std::size_t>(std::max(length, 0.0) / kLetter);
  }

  // A label has as much of the text as fits; none if that is little. The text of a box that is
  // alone on its line stands on the side with the most room if it does not fit inside: always
  // between the ends of the time axis, so that it covers nothing else.
  void draw_box(Svg& svg, std::uint64_t start, std::uint64_t end, double top, double height,
                std::string_view style, std::string_view text, std::string_view hint,
                bool alone = false) const {
    constexpr std::size_t kLeast = 8;
    constexpr double kApart = 4;
    const double left = at(start), width = std::max(at(end) - left, 0.5);
    const double line = top + height - 5;
    svg.box(left, top, width, height, style, hint);
    const std::size_t inside = letters(width - 6);
    const std::size_t before = letters(left - kApart - kTimeLeft);
    const std::size_t behind = letters(kTimeRight - left - width - kApart);
    if (inside >= text.size() || (!alone && inside >= kLeast) ||
        (alone && inside >= std::max(before, behind))) {
      svg.text(left + 3, line, program::elide(text, inside), Svg::Anchor::kStart, "small inside");
    } else if (alone && behind >= std::min(before, text.size())) {
      svg.text(left + width + kApart, line, program::elide(text, behind), Svg::Anchor::kStart,
               "small");
    } else if (alone) {
      svg.text(left - kApart, line, program::elide(text, before), Svg::Anchor::kEnd, "small");
    }
  }

  void draw_memories(Svg& svg, double y) const {
    std::uint64_t all = 0, constants = 0;
    for (const MemoryShape& memory : shape_.memories) {
      all += memory.bytes;
      if (memory.constant) constants += memory.bytes;
    }
    svg.text(kMargin, y - 14,
             fmt::format("{} buffers, {}: constants {}", shape_.memories.size(), bytes_text(all),
                         bytes_text(constants)));
    svg.box(kTimeLeft, y - 23, 10, 10, "unit4");
    svg.text(kTimeLeft + 15, y - 14, "constants");
    svg.box(kTimeLeft + 90, y - 23, 10, 10, "unit3");
    svg.text(kTimeLeft + 105, y - 14, "tensors: writer > reader");
    for (const MemoryShape& memory : shape_.memories) {
      svg.text(kNamesRight, y + kRow - 6, program::elide(memory.name, 30), Svg::Anchor::kEnd,
               "small");
      svg.text(kBarsLeft - 6, y + kRow - 6, bytes_text(memory.bytes), Svg::Anchor::kEnd, "small");
      const double share =
          static_cast<double>(memory.bytes) / static_cast<double>(shape_.memories.front().bytes);
      svg.box(
          kBarsLeft, y + 3, std::max((kBarsRight - kBarsLeft) * share, 0.5), kRow - 6,
          memory.constant ? "unit4" : "unit3",
          fmt::format("{}: {} bytes{}", memory.name, memory.bytes, memory.sram ? ", in SRAM" : ""));
      draw_use(svg, memory, y);
      y += kRow;
    }
  }

  void draw_use(Svg& svg, const MemoryShape& memory, double y) const {
    std::set<std::uint32_t> users = memory.readers;
    users.insert(memory.writers.begin(), memory.writers.end());
    std::uint64_t start = last_, end = first_;
    for (const std::uint32_t layer : users) {
      start = std::min<std::uint64_t>(start, times_[layer].start_ns);
      end = std::max<std::uint64_t>(end, times_[layer].end_ns);
    }
    const std::string who = who_text(memory);
    draw_box(svg, start, end, y + 1, kRow - 3, memory.constant ? "unit4" : "unit3", who,
             fmt::format("{}: {}", memory.name, who), true);
  }

  // "conv 0 > pool 1, add 2"
  std::string who_text(const MemoryShape& memory) const {
    const auto names = [&](const std::set<std::uint32_t>& layers) {
      std::string text;
      for (const std::uint32_t layer : layers)
        text += (text.empty() ? "" : ", ") + shape_.layers[layer].name;
      return text;
    };
    if (memory.writers.empty()) return "read by " + names(memory.readers);
    if (memory.readers.empty()) return "written by " + names(memory.writers);
    return fmt::format("{} > {}", names(memory.writers), names(memory.readers));
  }

  const ProgramShape& shape_;
  std::span<const nvdla_layer_stats> times_;
  std::vector<std::string_view> tracks_;
  std::uint64_t first_ = UINT64_MAX, last_ = 0;
};

}  // namespace

std::string profile_picture(const ProgramShape& shape, std::span<const nvdla_layer_stats> times,
                            std::string_view title) {
  return ProfilePicture(shape, times).draw(title);
}

}  // namespace nvdla::cli
