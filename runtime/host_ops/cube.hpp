// SPDX-License-Identifier: MIT
//
// Reads and writes elements of feature cubes in memory as floating-point numbers, for the CPU.
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

// The coordinates of an element in a cube.
struct Position {
  std::uint32_t n = 0, c = 0, y = 0, x = 0;
};

// `Elements` converts between numbers and the bytes of elements.
struct Elements {
  // kNearest: int8 and int16 round to the nearest, halves away from zero, and saturate; fp16 rounds
  // to the nearest, halves to even, at most 65504. NaN is zero_point in integers.
  enum class Rounding { kNearest, kLoadable };

  Precision precision = Precision::kInt8;
  Quantization quantization = {};
  // kLoadable: as NVIDIA's runtime does, in fp32: int8 rounds towards zero, NaN is 0; fp16 has no
  // scale, and a value that is too large becomes infinity.
  Rounding rounding = Rounding::kNearest;

  // Convert elements that are adjacent in memory.
  void get(const std::byte* at, std::span<double> reals) const noexcept;
  void put(std::span<const double> reals, std::byte* at) const noexcept;
};

// Strides as in a TensorDesc, but with any values, and `lanes` elements per atom.
struct CubeLayout {
  Shape shape;
  std::uint32_t lanes = 32, element_bytes = 1;
  std::uint64_t line_stride = 0, surface_stride = 0, batch_stride = 0;

  CubeLayout() = default;
  // `desc` is resolved and not planar.
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
  // Reads all channels of a position into `column`, which has as many; p.c is 0.
  void get(const Position& p, std::span<double> column) const noexcept;
  // Reads without the quantization: integers, or the numbers that fp16 represents.
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
  // Writes all channels of a position; p.c is 0.
  void put(const Position& p, std::span<const double> column) const noexcept;
  // Writes numbers in steps of the target, without its zero point.
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

// Converts as to_half() does, except that a value that is too large becomes infinity, as CPUs
// round.
std::uint16_t half_or_infinity(float value) noexcept;

}  // namespace nvdla::cpu

#endif  // NVDLA_HOST_OPS_CUBE_HPP
