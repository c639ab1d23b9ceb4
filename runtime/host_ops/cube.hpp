// SPDX-License-Identifier: MIT
//
// Elements of feature cubes in memory that the CPU reads and writes, as real numbers.
#ifndef NVDLA_HOST_OPS_CUBE_HPP
#define NVDLA_HOST_OPS_CUBE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla::cpu {

// Where an element is.
struct Position {
  std::uint32_t n = 0, c = 0, y = 0, x = 0;
};

// How elements become bytes.
struct Elements {
  // Of int8 and int16, `real` to the nearest, halves away from zero, saturated; of fp16 the nearest
  // with halves to even, at most 65504. NaN is zero_point in integers.
  enum class Rounding { kNearest, kLoadable };

  Precision precision = Precision::kInt8;
  Quantization quantization = {};
  // kLoadable: as NVIDIA's runtime does, in fp32: towards zero, NaN is 0; fp16 has no scale, and
  // what is too large becomes infinity.
  Rounding rounding = Rounding::kNearest;

  // Elements side by side.
  void get(const std::byte* at, std::span<double> reals) const noexcept;
  void put(std::span<const double> reals, std::byte* at) const noexcept;
};

// Strides as a TensorDesc has them, but any, for `lanes` elements an atom.
struct CubeLayout {
  Shape shape;
  std::uint32_t lanes = 32, element_bytes = 1;
  std::uint64_t line_stride = 0, surface_stride = 0, batch_stride = 0;

  CubeLayout() = default;
  // `desc` is resolved and no planes.
  explicit CubeLayout(const TensorDesc& desc);

  std::uint64_t at(const Position& p) const noexcept {
    return p.n * batch_stride + std::uint64_t{p.c / lanes} * surface_stride + p.y * line_stride +
           (std::uint64_t{p.x} * lanes + p.c % lanes) * element_bytes;
  }
};

class Source {
 public:
  Source(const CubeLayout& layout, const Elements& elements, std::span<const std::byte> bytes)
      : layout_(layout), elements_(elements), bytes_(bytes) {}

  const Shape& shape() const noexcept { return layout_.shape; }
  const Elements& elements() const noexcept { return elements_; }
  const CubeLayout& layout() const noexcept { return layout_; }
  const std::byte* at(const Position& p) const noexcept { return bytes_.data() + layout_.at(p); }
  // All channels of a position, from p.c = 0 on: `column` has as many.
  void get(const Position& p, std::span<double> column) const noexcept;
  // Without what they stand for: integers, or the numbers that fp16 is.
  void get_raw(const Position& p, std::span<double> column) const noexcept;

 private:
  CubeLayout layout_;
  Elements elements_;
  std::span<const std::byte> bytes_;
};

class Target {
 public:
  Target(const CubeLayout& layout, const Elements& elements, std::span<std::byte> bytes)
      : layout_(layout), elements_(elements), bytes_(bytes) {}

  const Shape& shape() const noexcept { return layout_.shape; }
  const CubeLayout& layout() const noexcept { return layout_; }
  std::byte* at(const Position& p) const noexcept { return bytes_.data() + layout_.at(p); }
  // All channels of a position, from p.c = 0 on.
  void put(const Position& p, std::span<const double> column) const noexcept;
  // In steps of the target, without its zero point.
  void put_steps(const Position& p, std::span<const double> column) const noexcept;
  // Writes zeros beyond the last channel, as packing does.
  void clear_lanes() const noexcept;

 private:
  CubeLayout layout_;
  Elements elements_;
  std::span<std::byte> bytes_;
};

// Calls call(channel, count, offset) for the channels of each atom of a position, with the offset
// of its bytes.
template <typename Call>
void for_each_atom(const CubeLayout& layout, Position p, const Call& call) {
  const std::uint32_t channels = layout.shape.channels;
  for (p.c = 0; p.c < channels; p.c += layout.lanes)
    call(p.c, std::min(layout.lanes, channels - p.c), layout.at(p));
}

// Calls call(n, y, x) for every position.
template <typename Call>
void for_each_position(const Shape& shape, const Call& call) {
  for (std::uint32_t n = 0; n < shape.batch; ++n)
    for (std::uint32_t y = 0; y < shape.height; ++y)
      for (std::uint32_t x = 0; x < shape.width; ++x) call(n, y, x);
}

// As to_half(), but as CPUs round: what is too large becomes infinity.
std::uint16_t half_or_infinity(float value) noexcept;

}  // namespace nvdla::cpu

#endif  // NVDLA_HOST_OPS_CUBE_HPP
