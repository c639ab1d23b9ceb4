// SPDX-License-Identifier: MIT
#include "host_ops/cube.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "nvdla/types/half.hpp"

namespace nvdla::cpu {
namespace {

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
void store(T value, std::byte* at) {
  std::memcpy(at, &value, sizeof value);
}

// Rounds to the nearest, halves away from zero; NaN is zero. The value is first clamped to kFar,
// which lies far beyond T and still fits an integer, so that the fraction is exact.
template <typename T>
T nearest(double value, std::int32_t zero_point) {
  constexpr std::int32_t kLow = std::numeric_limits<T>::min(),
                         kHigh = std::numeric_limits<T>::max();
  constexpr double kFar = 1 << 20;
  const double near = value < kFar ? (value > -kFar ? value : -kFar) : kFar;
  const double number = std::isnan(value) ? 0 : near;
  const auto whole = static_cast<std::int32_t>(number);
  const double fraction = number - whole;
  const std::int32_t away = (fraction >= 0.5 ? 1 : 0) - (fraction <= -0.5 ? 1 : 0);
  return static_cast<T>(std::clamp(whole + away + zero_point, kLow, kHigh));
}

std::int8_t towards_zero(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<std::int8_t>(std::clamp(value, -128.0F, 127.0F));
}

template <typename T>
void get_integers(const std::byte* at, const Quantization& q, std::span<double> reals) {
  const double zero_point = q.zero_point, scale = double{q.scale};
  for (std::size_t i = 0; i < reals.size(); ++i)
    reals[i] = (static_cast<double>(load<T>(at + i * sizeof(T))) - zero_point) * scale;
}

template <typename T>
void put_integers(std::span<const double> reals, const Quantization& q, std::byte* at) {
  const double scale = double{q.scale};
  for (std::size_t i = 0; i < reals.size(); ++i)
    store(nearest<T>(reals[i] / scale, q.zero_point), at + i * sizeof(T));
}

}  // namespace

void Elements::get(const std::byte* at, std::span<double> reals) const noexcept {
  const bool loadable = rounding == Rounding::kLoadable;
  if (precision == Precision::kFp16) {
    for (std::size_t i = 0; i < reals.size(); ++i) {
      const double value = double{from_half(load<std::uint16_t>(at + 2 * i))};
      reals[i] = loadable ? value : (value - quantization.zero_point) * double{quantization.scale};
    }
  } else if (loadable) {
    for (std::size_t i = 0; i < reals.size(); ++i)
      reals[i] = double{static_cast<float>(load<std::int8_t>(at + i)) * quantization.scale};
  } else if (precision == Precision::kInt8) {
    get_integers<std::int8_t>(at, quantization, reals);
  } else {
    get_integers<std::int16_t>(at, quantization, reals);
  }
}

void Elements::put(std::span<const double> reals, std::byte* at) const noexcept {
  const bool loadable = rounding == Rounding::kLoadable;
  if (precision == Precision::kFp16) {
    for (std::size_t i = 0; i < reals.size(); ++i)
      store(loadable ? half_or_infinity(static_cast<float>(reals[i]))
                     : to_half(reals[i] / double{quantization.scale}),
            at + 2 * i);
  } else if (loadable) {
    for (std::size_t i = 0; i < reals.size(); ++i)
      store(towards_zero(static_cast<float>(reals[i]) / quantization.scale), at + i);
  } else if (precision == Precision::kInt8) {
    put_integers<std::int8_t>(reals, quantization, at);
  } else {
    put_integers<std::int16_t>(reals, quantization, at);
  }
}

CubeLayout::CubeLayout(const TensorDesc& desc)
    : shape(desc.shape),
      lanes(desc.elements_per_atom()),
      element_bytes(desc.element_bytes()),
      line_stride(desc.line_stride),
      surface_stride(desc.surface_stride),
      batch_stride(desc.batch_stride) {}

void Source::get(const Position& p, std::span<double> column) const noexcept {
  for_each_atom(layout_, p, [&](std::uint32_t c, std::uint32_t count, std::uint64_t offset) {
    elements_.get(bytes_.data() + offset, column.subspan(c, count));
  });
}

void Source::get_raw(const Position& p, std::span<double> column) const noexcept {
  Source(layout_, {elements_.precision}, bytes_).get(p, column);
}

void Target::put(const Position& p, std::span<const double> column) const noexcept {
  for_each_atom(layout_, p, [&](std::uint32_t c, std::uint32_t count, std::uint64_t offset) {
    elements_.put(column.subspan(c, count), bytes_.data() + offset);
  });
}

void Target::put_steps(const Position& p, std::span<const double> column) const noexcept {
  const Elements steps = {elements_.precision, {1, elements_.quantization.zero_point}};
  Target(layout_, steps, bytes_).put(p, column);
}

void Target::clear_lanes() const noexcept {
  const Shape& s = layout_.shape;
  const std::uint32_t beyond = s.channels % layout_.lanes;
  if (beyond == 0) return;
  const std::size_t rest = (layout_.lanes - beyond) * layout_.element_bytes;
  for_each_position(s, [&](std::uint32_t n, std::uint32_t y, std::uint32_t x) {
    std::memset(bytes_.data() + layout_.at({n, s.channels, y, x}), 0, rest);
  });
}

std::uint16_t half_or_infinity(float value) noexcept {
  // Values from half a step beyond the greatest number on round to infinity.
  const bool finite = std::isnan(value) || std::fabs(value) < 65520.0F;
  return to_half(finite ? value : std::copysign(std::numeric_limits<float>::infinity(), value));
}

}  // namespace nvdla::cpu
