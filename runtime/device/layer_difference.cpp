// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "device/layer_steps.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/half.hpp"
#include "support/check.hpp"

namespace nvdla {
namespace detail {
namespace {

LayerDifference difference_in(const LayerTensor& tensor) {
  LayerDifference d;
  d.layer = tensor.layer;
  d.layer_name = tensor.layer_name;
  d.unit = tensor.unit;
  d.tensor = tensor.name;
  d.precision = tensor.desc.precision;
  return d;
}

template <typename T>
double value_of(T element, const Quantization& q) {
  if constexpr (std::is_same_v<T, std::uint16_t>) return double{from_half(element)} * q.scale;
  return (static_cast<double>(element) - q.zero_point) * q.scale;
}

template <typename T>
std::optional<LayerDifference> compare_as(const LayerTensor& tensor,
                                          std::span<const std::byte> expected) {
  const Shape& shape = tensor.desc.shape;
  std::vector<T> ours(static_cast<std::size_t>(shape.elements())), theirs(ours.size());
  unpack(tensor.desc, Layout::kNchw, tensor.bytes, ours);
  unpack(tensor.desc, Layout::kNchw, expected, theirs);
  const auto first = std::mismatch(ours.begin(), ours.end(), theirs.begin());
  if (first.first == ours.end()) return std::nullopt;
  LayerDifference d = difference_in(tensor);
  auto at = static_cast<std::uint32_t>(first.first - ours.begin());
  for (std::size_t i = 0; i < ours.size(); ++i) d.different += ours[i] != theirs[i];
  d.elements = ours.size();
  d.w = at % shape.width;
  at /= shape.width;
  d.h = at % shape.height;
  at /= shape.height;
  d.c = at % shape.channels;
  d.n = at / shape.channels;
  d.found = static_cast<std::make_unsigned_t<T>>(*first.first);
  d.expected = static_cast<std::make_unsigned_t<T>>(*first.second);
  d.found_value = value_of(*first.first, tensor.quantization);
  d.expected_value = value_of(*first.second, tensor.quantization);
  return d;
}

}  // namespace

std::optional<LayerDifference> compare_elements(const LayerTensor& tensor,
                                                std::span<const std::byte> expected) {
  switch (tensor.desc.precision) {
    case Precision::kInt8:
      return compare_as<std::int8_t>(tensor, expected);
    case Precision::kInt16:
      return compare_as<std::int16_t>(tensor, expected);
    case Precision::kFp16:
      break;
  }
  return compare_as<std::uint16_t>(tensor, expected);
}

std::optional<LayerDifference> compare_bytes(const LayerTensor& tensor,
                                             std::span<const std::byte> expected) {
  const std::span<const std::byte> bytes = tensor.bytes;
  const auto first = std::mismatch(bytes.begin(), bytes.end(), expected.begin());
  if (first.first == bytes.end()) return std::nullopt;
  LayerDifference d = difference_in(tensor);
  d.kind = LayerDifference::Kind::kOutside;
  d.offset = static_cast<std::uint64_t>(first.first - bytes.begin());
  d.found = static_cast<std::uint8_t>(*first.first);
  d.expected = static_cast<std::uint8_t>(*first.second);
  for (std::size_t i = 0; i < bytes.size(); ++i) d.different += bytes[i] != expected[i];
  d.elements = bytes.size();
  return d;
}

std::optional<LayerDifference> compare_verdicts(const LayerTensor& tensor,
                                                const nvdla_layer_stats& found,
                                                const nvdla_layer_stats& expected) {
  constexpr auto kCounter = NVDLA_COUNTER_SDP_UNEQUAL;
  if (((found.valid & expected.valid) >> kCounter & 1) == 0) return std::nullopt;
  if (found.counter[kCounter] == expected.counter[kCounter]) return std::nullopt;
  LayerDifference d = difference_in(tensor);
  d.kind = LayerDifference::Kind::kVerdict;
  d.unit = "sdp";
  d.found = found.counter[kCounter];
  d.expected = expected.counter[kCounter];
  return d;
}

}  // namespace detail

std::string describe(const LayerDifference& d) {
  const std::string where =
      d.layer == LayerTensor::kNoLayer
          ? fmt::format("'{}' ({})", d.layer_name, d.unit)
          : fmt::format("{} ({})", detail::layer_text(d.layer, d.layer_name), d.unit);
  switch (d.kind) {
    case LayerDifference::Kind::kElement:
      break;
    case LayerDifference::Kind::kOutside:
      return fmt::format(
          "{}: {} is equal, but not byte 0x{:x} of its buffer, outside of all elements: 0x{:02x}, "
          "expected 0x{:02x}; {} of {} bytes differ",
          where, d.tensor, d.offset, d.found, d.expected, d.different, d.elements);
    case LayerDifference::Kind::kVerdict:
      return fmt::format("{}: the comparison finds {}, expected {}", where,
                         d.found != 0 ? "a difference" : "no difference",
                         d.expected != 0 ? "one" : "none");
  }
  const int digits = d.precision == Precision::kInt8 ? 2 : 4;
  return fmt::format(
      "{}: {} differs at n {}, c {}, h {}, w {}: 0x{:0{}x} ({:g}), expected 0x{:0{}x} ({:g}); {} "
      "of "
      "{} elements differ",
      where, d.tensor, d.n, d.c, d.h, d.w, d.found, digits, d.found_value, d.expected, digits,
      d.expected_value, d.different, d.elements);
}

}  // namespace nvdla
