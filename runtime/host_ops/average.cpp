// SPDX-License-Identifier: MIT
#include "host_ops/average.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <type_traits>
#include <vector>

#include "nvdla/types/half.hpp"
#include "support/integers.hpp"

namespace nvdla::cpu {
namespace {

std::int32_t run_step(const AverageScale::Step& step, std::int32_t v) {
  const std::int64_t addend =
      arith::saturate32(arith::Wide{step.addend} * (arith::Wide{1} << step.left_shift));
  const arith::Wide product = arith::Wide{v + addend} * step.factor;
  return arith::saturate32(arith::round_shift(product, static_cast<int>(step.right_shift)));
}

std::int8_t saturate8(std::int64_t value) {
  return static_cast<std::int8_t>(std::clamp<std::int64_t>(value, -128, 127));
}

// The elements first..end of one axis that a window covers, without padding.
struct Span {
  std::uint32_t first, end;

  Span(std::uint32_t output, std::uint32_t stride, std::uint32_t kernel, std::uint32_t before,
       std::uint32_t size)
      : first(std::max(output * stride, before) - before),
        end(std::min(output * stride + kernel, before + size) - before) {}

  std::uint32_t count() const { return end - first; }
};

// Arithmetic for elements of one type: a column of elements adds up to a Partial, a window to a
// Sum.
template <typename T>
struct Integers {
  using Element = T;
  using Partial = std::int32_t;  // 2^13 elements of 16 bits
  using Sum = std::int64_t;

  static Partial value(Element element) { return element; }
  static Element quotient(Sum sum, std::int64_t count) {
    const Sum size = (2 * std::abs(sum) + count) / (2 * count);
    return static_cast<Element>(sum < 0 ? -size : size);
  }
};

struct Halves {
  using Element = std::uint16_t;
  using Partial = double;
  using Sum = double;

  static Partial value(Element element) { return double{from_half(element)}; }
  static Element quotient(Sum sum, std::int64_t count) {
    return to_half(sum / static_cast<double>(count));
  }
};

// `Answers` keeps the results of all sums that windows of so many elements of int8 can have.
class Answers {
 public:
  Answers(const AverageScale& scale, std::int64_t count)
      : count_(count), least_(-128 * count), results_(static_cast<std::size_t>(255 * count + 1)) {
    for (std::size_t i = 0; i < results_.size(); ++i)
      results_[i] = scale.element(least_ + static_cast<std::int64_t>(i), count);
  }

  static std::uint64_t size(std::int64_t count) {
    return static_cast<std::uint64_t>(255 * count + 1);
  }
  std::int64_t count() const { return count_; }
  // Returns the result of a sum, or nothing where padding made it another one.
  const std::int8_t* find(std::int64_t sum) const {
    const auto place = static_cast<std::uint64_t>(sum - least_);
    return place < results_.size() ? &results_[place] : nullptr;
  }

 private:
  std::int64_t count_, least_;
  std::vector<std::int8_t> results_;
};

template <typename Numbers>
class Averages {
 public:
  Averages(const Source& from, const Target& to, const AverageWindow& window)
      : from_(from),
        to_(to),
        window_(window),
        lanes_(from.layout().lanes),
        columns_(std::size_t{from.shape().width} * lanes_),
        sums_(lanes_) {}

  void run() {
    const Shape& out = to_.shape();
    for (std::uint32_t n = 0; n < out.batch; ++n)
      for (std::uint32_t c = 0; c < out.channels; c += lanes_)
        for (std::uint32_t y = 0; y < out.height; ++y) line({n, c, y, 0});
  }

 private:
  using Element = typename Numbers::Element;

  // Averages one output line, for all channels of the atom at `at`.
  void line(Position at) {
    const Shape& in = from_.shape();
    const Span rows(at.y, window_.stride_height, window_.height, window_.pad_top, in.height);
    std::fill(columns_.begin(), columns_.end(), typename Numbers::Partial{});
    for (std::uint32_t y = rows.first; y < rows.end; ++y) {
      const std::byte* const source = from_.at({at.n, at.c, y, 0});
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        Element element;
        std::memcpy(&element, source + i * sizeof element, sizeof element);
        columns_[i] += Numbers::value(element);
      }
    }
    const std::size_t channels = std::min(lanes_, to_.shape().channels - at.c);
    for (; at.x < to_.shape().width; ++at.x) {
      const Span in_line(at.x, window_.stride_width, window_.width, window_.pad_left, in.width);
      put(at, channels, in_line, std::int64_t{rows.count()} * in_line.count());
    }
  }

  void put(const Position& at, std::size_t channels, const Span& in_line, std::int64_t there) {
    const std::int64_t all = std::int64_t{window_.height} * window_.width;
    const auto padding =
        static_cast<typename Numbers::Sum>((all - there) * window_.pad_value.value_or(0));
    std::fill(sums_.begin(), sums_.end(), padding);
    for (std::size_t x = in_line.first; x < in_line.end; ++x)
      for (std::size_t lane = 0; lane < lanes_; ++lane) sums_[lane] += columns_[x * lanes_ + lane];
    std::byte* const target = to_.at(at);
    const std::int64_t count = window_.pad_value ? all : there;
    const Answers* const answers = answers_for(count);
    for (std::size_t lane = 0; lane < channels; ++lane) {
      const Element element = finished(sums_[lane], count, answers);
      std::memcpy(target + lane * sizeof element, &element, sizeof element);
    }
  }

  Element finished(typename Numbers::Sum sum, std::int64_t count, const Answers* answers) const {
    if constexpr (std::is_same_v<Element, std::int8_t>) {
      const std::int8_t* const known = answers == nullptr ? nullptr : answers->find(sum);
      if (known != nullptr) return *known;
      if (window_.scale) return window_.scale->element(sum, count);
    }
    return Numbers::quotient(sum, count);
  }

  // Returns nothing where there are too few windows for what answers take to compute.
  const Answers* answers_for(std::int64_t count) {
    if (!window_.scale) return nullptr;
    for (const Answers& answers : answers_)
      if (answers.count() == count) return &answers;
    if (Answers::size(count) > room_) return nullptr;
    room_ -= Answers::size(count);
    return &answers_.emplace_back(*window_.scale, count);
  }

  const Source& from_;
  const Target& to_;
  const AverageWindow& window_;
  const std::uint32_t lanes_;
  std::vector<typename Numbers::Partial> columns_;   // of a line, by lane
  std::vector<typename Numbers::Sum> sums_;          // of a window, by lane
  std::deque<Answers> answers_;                      // of each number of elements that windows have
  std::uint64_t room_ = to_.shape().elements() / 4;  // for the sums of further ones
};

}  // namespace

std::int8_t AverageScale::element(std::int64_t sum, std::int64_t count) const noexcept {
  if (steps != 0) {
    std::int32_t v = arith::saturate32(sum);
    for (std::uint32_t i = 0; i < steps; ++i) v = run_step(step[i], v);
    return saturate8(std::int64_t{v} + output.zero_point);
  }
  constexpr double kFar = 1e9;
  const double mean =
      static_cast<double>(sum - count * input.zero_point) / static_cast<double>(count);
  const double number = mean * double{input.scale} / double{output.scale};
  return saturate8(static_cast<std::int64_t>(std::round(std::clamp(number, -kFar, kFar))) +
                   output.zero_point);
}

void average(const Source& from, const Target& to, const AverageWindow& window) {
  switch (from.elements().precision) {
    case Precision::kInt8:
      return Averages<Integers<std::int8_t>>(from, to, window).run();
    case Precision::kInt16:
      return Averages<Integers<std::int16_t>>(from, to, window).run();
    case Precision::kFp16:
      return Averages<Halves>(from, to, window).run();
  }
}

}  // namespace nvdla::cpu
