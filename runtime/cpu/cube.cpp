// SPDX-License-Identifier: MIT
#include "cpu/cube.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "nvdla/half.hpp"

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

template <typename T>
T nearest(double value, std::int32_t zero_point) {
  constexpr double kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  if (std::isnan(value)) return static_cast<T>(zero_point);
  return static_cast<T>(std::clamp(std::round(value) + zero_point, kLow, kHigh));
}

std::int8_t towards_zero(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<std::int8_t>(std::clamp(value, -128.0F, 127.0F));
}

}  // namespace

double Elements::get(const std::byte* at) const noexcept {
  if (rounding == Rounding::kLoadable) {
    if (precision == Precision::kFp16) return from_half(load<std::uint16_t>(at));
    return static_cast<float>(load<std::int8_t>(at)) * quantization.scale;
  }
  double value = 0;
  if (precision == Precision::kInt8) value = load<std::int8_t>(at);
  if (precision == Precision::kInt16) value = load<std::int16_t>(at);
  if (precision == Precision::kFp16) value = from_half(load<std::uint16_t>(at));
  return (value - quantization.zero_point) * quantization.scale;
}

void Elements::put(double real, std::byte* at) const noexcept {
  if (rounding == Rounding::kLoadable) {
    const auto value = static_cast<float>(real);
    if (precision == Precision::kFp16) return store(half_or_infinity(value), at);
    return store(towards_zero(value / quantization.scale), at);
  }
  const double value = real / quantization.scale;
  if (precision == Precision::kInt8) {
    store(nearest<std::int8_t>(value, quantization.zero_point), at);
  } else if (precision == Precision::kInt16) {
    store(nearest<std::int16_t>(value, quantization.zero_point), at);
  } else {
    store(to_half(value), at);
  }
}

CubeLayout::CubeLayout(const TensorDesc& desc)
    : shape(desc.shape),
      lanes(desc.elements_per_atom()),
      element_bytes(desc.element_bytes()),
      line_stride(desc.line_stride),
      surface_stride(desc.surface_stride),
      batch_stride(desc.batch_stride) {}

std::size_t Source::index(const Position& p) const noexcept {
  const std::byte* const at = bytes_.data() + layout_.at(p);
  if (elements_.precision == Precision::kFp16) return load<std::uint16_t>(at);
  if (elements_.precision == Precision::kInt16)
    return static_cast<std::size_t>(load<std::int16_t>(at) + 32768);
  return static_cast<std::size_t>(load<std::int8_t>(at) + 128);
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
  // From half a step beyond the greatest number on.
  const bool finite = std::isnan(value) || std::fabs(value) < 65520.0F;
  return to_half(finite ? value : std::copysign(std::numeric_limits<float>::infinity(), value));
}

}  // namespace nvdla::cpu
