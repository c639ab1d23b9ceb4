// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/error.hpp"
#include "nvdla/types/half.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "packing/precision.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla {
namespace {

using arith::round_up;
using detail::check_range;
using detail::throw_invalid_argument;

constexpr std::uint32_t kMaxBatch = 32;
// Planes and their lines start at multiples of this.
constexpr std::uint32_t kPlaneAlign = 64;

// A stride as it was given, or the smallest that will do.
std::uint32_t stride(const char* what, std::uint32_t given, std::uint64_t least,
                     const TensorDesc& desc) {
  const std::uint32_t align = desc.planar ? kPlaneAlign : desc.atom;
  least = round_up(least, align);
  const std::uint64_t value = given == 0 ? least : given;
  if (value % align != 0) {
    throw_invalid_argument("{} {} is not a multiple of {}{}{}; nearest valid: {}", what, value,
                           desc.planar ? "" : "the atom (", align, desc.planar ? "" : ")",
                           std::max(round_up(value, align), least));
  }
  if (value < least) {
    throw_invalid_argument("{} {} is smaller than what it steps over; nearest valid: {}", what,
                           value, least);
  }
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    throw_invalid_argument("{} {} does not fit 32 bits: split the tensor", what, value);
  }
  return static_cast<std::uint32_t>(value);
}

template <typename T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, std::int8_t>) return "int8";
  if constexpr (std::is_same_v<T, std::int16_t>) return "int16";
  return "fp16";
}

template <typename T>
constexpr Precision type_precision() {
  if constexpr (std::is_same_v<T, std::int8_t>) return Precision::kInt8;
  if constexpr (std::is_same_v<T, std::int16_t>) return Precision::kInt16;
  return Precision::kFp16;
}

void check_sizes(const TensorDesc& desc, std::uint64_t elements, std::uint64_t bytes) {
  if (elements != desc.shape.elements()) {
    throw_invalid_argument("{} elements given, a tensor of {}x{}x{}x{} (NCHW) has {}", elements,
                           desc.shape.batch, desc.shape.channels, desc.shape.height,
                           desc.shape.width, desc.shape.elements());
  }
  if (const std::uint64_t need = tensor_bytes(desc); bytes < need) {
    throw_invalid_argument("{} bytes for a cube that takes {}", bytes, need);
  }
}

template <typename T>
void check_type(const TensorDesc& desc) {
  if (type_precision<T>() != desc.precision) {
    throw_invalid_argument("elements are {}, the tensor is {}", type_name<T>(),
                           detail::precision_name(desc.precision));
  }
}

// Returns the bytes from an element to the next in its line.
std::uint32_t column_bytes(const TensorDesc& d) {
  if (d.pixel != 0) return d.pixel;
  return d.planar ? d.element_bytes() : d.atom;
}

// Whole atoms.
std::uint64_t line_bytes(const TensorDesc& d) {
  return round_up(std::uint64_t{d.shape.width} * column_bytes(d), d.atom);
}

// Returns how many channels lie side by side.
std::uint32_t lanes_of(const TensorDesc& d) {
  return d.planar ? 1 : column_bytes(d) / d.element_bytes();
}

// Distances between an application's elements.
struct Steps {
  std::uint64_t batch, channel, line, column;
};

Steps steps(const Shape& s, Layout layout) {
  detail::check_layout(layout);
  const std::uint64_t area = std::uint64_t{s.height} * s.width;
  if (layout == Layout::kNchw) return {area * s.channels, area, s.width, 1};
  return {area * s.channels, 1, std::uint64_t{s.width} * s.channels, s.channels};
}

// Calls line(cube's first byte of the lane in the line, application's first index) for every
// channel of every line.
template <typename Line>
void for_each_lane(const TensorDesc& d, Layout layout, const Line& line) {
  const Steps step = steps(d.shape, layout);
  const std::uint32_t lanes = lanes_of(d);
  for (std::uint32_t n = 0; n < d.shape.batch; ++n) {
    for (std::uint32_t s = 0; s < d.surfaces(); ++s) {
      for (std::uint32_t y = 0; y < d.shape.height; ++y) {
        const std::uint64_t start = std::uint64_t{n} * d.batch_stride +
                                    std::uint64_t{s} * d.surface_stride +
                                    std::uint64_t{y} * d.line_stride;
        const std::uint32_t used = std::min(lanes, d.shape.channels - s * lanes);
        for (std::uint32_t lane = 0; lane < used; ++lane) {
          const std::uint32_t c = s * lanes + lane;
          line(start + std::uint64_t{lane} * d.element_bytes(),
               n * step.batch + c * step.channel + y * step.line);
        }
      }
    }
  }
}

// Makes zeros of the surface whose last lanes are no channel's.
void clear_last_surface(const TensorDesc& d, std::span<std::byte> cube) {
  if (d.shape.channels % lanes_of(d) == 0) return;
  for (std::uint32_t n = 0; n < d.shape.batch; ++n) {
    for (std::uint32_t y = 0; y < d.shape.height; ++y) {
      std::byte* const line = cube.data() + std::uint64_t{n} * d.batch_stride +
                              (d.surfaces() - std::uint64_t{1}) * d.surface_stride +
                              std::uint64_t{y} * d.line_stride;
      std::fill_n(line, line_bytes(d), std::byte{0});
    }
  }
}

// Writes convert(element) to the lane of every channel and zero to the others.
template <typename T, typename Source, typename Convert>
void pack_as(const TensorDesc& d, Layout layout, std::span<const Source> source,
             std::span<std::byte> cube, const Convert& convert) {
  const std::uint64_t column = steps(d.shape, layout).column;
  const std::uint32_t step = column_bytes(d);
  clear_last_surface(d, cube);
  for_each_lane(d, layout, [&](std::uint64_t at, std::uint64_t from) {
    std::byte* out = cube.data() + at;
    for (std::uint32_t x = 0; x < d.shape.width; ++x, out += step) {
      const T value = convert(source[from + x * column]);
      std::memcpy(out, &value, sizeof value);
    }
  });
}

template <typename T, typename Target, typename Convert>
void unpack_as(const TensorDesc& d, Layout layout, std::span<const std::byte> cube,
               std::span<Target> target, const Convert& convert) {
  const std::uint64_t column = steps(d.shape, layout).column;
  const std::uint32_t step = column_bytes(d);
  for_each_lane(d, layout, [&](std::uint64_t at, std::uint64_t to) {
    const std::byte* in = cube.data() + at;
    for (std::uint32_t x = 0; x < d.shape.width; ++x, in += step) {
      T value;
      std::memcpy(&value, in, sizeof value);
      target[to + x * column] = convert(value);
    }
  });
}

template <typename T>
void pack_exact(const TensorDesc& desc, Layout layout, std::span<const T> source,
                std::span<std::byte> cube) {
  const TensorDesc d = resolve(desc);
  check_type<T>(d);
  check_sizes(d, source.size(), cube.size());
  pack_as<T>(d, layout, source, cube, [](T value) { return value; });
}

template <typename T>
void unpack_exact(const TensorDesc& desc, Layout layout, std::span<const std::byte> cube,
                  std::span<T> target) {
  const TensorDesc d = resolve(desc);
  check_type<T>(d);
  check_sizes(d, target.size(), cube.size());
  unpack_as<T>(d, layout, cube, target, [](T value) { return value; });
}

void check_quantization(const TensorDesc& d, const Quantization& q) {
  if (!(q.scale > 0) || !std::isfinite(q.scale)) {
    throw_invalid_argument("a quantisation's scale must be finite and greater than 0, found {}",
                           q.scale);
  }
  if (d.precision == Precision::kFp16 && q.zero_point != 0) {
    throw_invalid_argument("fp16 has no zero point, found {}", q.zero_point);
  }
}

// Elements that are quantised together, in loops that the compiler makes vectors of.
constexpr std::uint32_t kTogether = 256;

// `Quantiser` rounds quotients as floats, as frameworks do: where one pixel lies between two steps,
// all do.
template <typename T>
class Quantiser {
 public:
  explicit Quantiser(const Quantization& q) noexcept
      : scale_(q.scale), zero_(q.zero_point), low_(kLow - zero_), high_(kHigh - zero_) {}

  // Returns false if one of the elements is not a number.
  bool quantise(const float* floats, std::uint32_t count, T* values) const noexcept {
    return low_ >= -kLimit && high_ <= kLimit ? in_floats(floats, count, values)
                                              : one_by_one(floats, count, values);
  }

 private:
  // The sum with kWhole rounds a number that is not beyond the limit to a whole one.
  bool in_floats(const float* floats, std::uint32_t count, T* values) const noexcept {
    const auto low = static_cast<float>(low_), high = static_cast<float>(high_);
    const auto zero = static_cast<std::int32_t>(zero_);
    std::int32_t others = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      float quotient = floats[i] / scale_;
      others |= quotient != quotient ? 1 : 0;
      quotient = quotient > low ? quotient : low;
      quotient = quotient < high ? quotient : high;
      values[i] = static_cast<T>(static_cast<std::int32_t>(quotient + kWhole - kWhole) + zero);
    }
    return others == 0;
  }
  bool one_by_one(const float* floats, std::uint32_t count, T* values) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (std::isnan(floats[i])) return false;
      const double value = std::nearbyint(floats[i] / scale_) + static_cast<double>(zero_);
      values[i] = static_cast<T>(std::clamp<double>(value, kLow, kHigh));
    }
    return true;
  }

  static constexpr std::int64_t kLow = std::numeric_limits<T>::min();
  static constexpr std::int64_t kHigh = std::numeric_limits<T>::max();
  static constexpr std::int64_t kLimit = 1 << 22;
  static constexpr float kWhole = 3 << 22;

  float scale_;
  std::int64_t zero_, low_, high_;
};

// Quantises `count` of an application's elements that lie `column` apart, from the `first` on.
template <typename T>
void quantise(const Quantiser<T>& quantiser, std::span<const float> source, std::uint64_t first,
              std::uint64_t column, std::uint32_t count, T* values) {
  float gathered[kTogether];
  const float* floats = source.data() + first;
  if (column != 1) {
    for (std::uint32_t i = 0; i < count; ++i) gathered[i] = floats[i * column];
    floats = gathered;
  }
  if (quantiser.quantise(floats, count, values)) return;
  const auto bad = std::find_if(floats, floats + count, [](float x) { return std::isnan(x); });
  throw_invalid_argument("element {} is not a number",
                         first + static_cast<std::uint64_t>(bad - floats) * column);
}

// Writes pixels of four bytes whole, also where channels fill fewer of them.
void pack_quantised_pixels(const TensorDesc& d, Layout layout, std::span<const float> source,
                           const Quantization& q, std::span<std::byte> cube) {
  constexpr std::uint32_t kLanes = 4;
  const Quantiser<std::int8_t> quantiser(q);
  const Steps step = steps(d.shape, layout);
  const std::uint32_t channels = d.shape.channels, width = d.shape.width;
  std::int8_t values[kLanes][kTogether] = {};
  for (std::uint64_t line = 0; line < std::uint64_t{d.shape.batch} * d.shape.height; ++line) {
    const std::uint64_t n = line / d.shape.height, y = line % d.shape.height;
    for (std::uint32_t x = 0; x < width; x += kTogether) {
      const std::uint32_t count = std::min(kTogether, width - x);
      for (std::uint32_t c = 0; c < channels; ++c)
        quantise(quantiser, source,
                 n * step.batch + c * step.channel + y * step.line + x * step.column, step.column,
                 count, values[c]);
      std::byte* const out =
          cube.data() + n * d.batch_stride + y * d.line_stride + std::size_t{x} * kLanes;
      for (std::uint32_t i = 0; i < count; ++i)
        for (std::uint32_t lane = 0; lane < kLanes; ++lane)
          out[i * kLanes + lane] = static_cast<std::byte>(values[lane][i]);
    }
    // The last atom of the line may be more than its pixels.
    std::byte* const end = cube.data() + n * d.batch_stride + y * d.line_stride;
    if (channels != kLanes)
      std::fill(end + std::size_t{width} * kLanes, end + line_bytes(d), std::byte{0});
  }
}

template <typename T>
void pack_quantised(const TensorDesc& d, Layout layout, std::span<const float> source,
                    const Quantization& q, std::span<std::byte> cube) {
  const std::uint32_t step = column_bytes(d);
  if constexpr (std::is_same_v<T, std::int8_t>)
    if (lanes_of(d) == 4 && d.shape.channels <= 4)
      return pack_quantised_pixels(d, layout, source, q, cube);
  const Quantiser<T> quantiser(q);
  const std::uint64_t column = steps(d.shape, layout).column;
  clear_last_surface(d, cube);
  for_each_lane(d, layout, [&](std::uint64_t at, std::uint64_t from) {
    std::byte* out = cube.data() + at;
    for (std::uint32_t done = 0; done < d.shape.width; done += kTogether) {
      const std::uint32_t count = std::min(kTogether, d.shape.width - done);
      T values[kTogether];
      quantise(quantiser, source, from + done * column, column, count, values);
      for (std::uint32_t i = 0; i < count; ++i, out += step)
        std::memcpy(out, &values[i], sizeof(T));
    }
  });
}

// A quotient of two floats has so few bits that rounding it to double first changes nothing.
void pack_half(const TensorDesc& d, Layout layout, std::span<const float> source,
               const Quantization& q, std::span<std::byte> cube) {
  pack_as<std::uint16_t>(d, layout, source, cube,
                         [&](float real) { return to_half(double{real} / double{q.scale}); });
}

// Throws if what lies as pixels is no such tensor.
void check_pixel(const TensorDesc& d) {
  if (d.pixel == 0) return;
  const std::uint32_t one = d.element_bytes();
  std::string reason;
  if (d.pixel != one && d.pixel != 4 * one) {
    reason =
        fmt::format("is neither 0 nor the bytes of one or four channels: {}, {}", one, 4 * one);
  } else if (d.planar) {
    reason = "of planes, which have no pixels";
  } else if (d.shape.channels * one > d.pixel) {
    reason =
        fmt::format("is less than {} channels take: {}", d.shape.channels, d.shape.channels * one);
  }
  if (reason.empty()) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("pixel {} {}", d.pixel, reason));
}

}  // namespace

TensorDesc packed_tensor(const DeviceInfo& info, const Shape& shape, Precision precision) {
  TensorDesc desc;
  desc.shape = shape;
  desc.precision = precision;
  desc.atom = info.atom;
  return resolve(desc);
}

TensorDesc resolve(const TensorDesc& desc) {
  if (desc.atom != 8 && desc.atom != 16 && desc.atom != 32) {
    throw_invalid_argument("atom {} is none of 8, 16, 32", desc.atom);
  }
  detail::check_precision(desc.precision);
  check_range("width", desc.shape.width, 1U, detail::kMaxSide);
  check_range("height", desc.shape.height, 1U, detail::kMaxSide);
  check_range("channels", desc.shape.channels, 1U, detail::kMaxSide);
  check_range("batch", desc.shape.batch, 1U, kMaxBatch);
  check_pixel(desc);

  TensorDesc d = desc;
  d.line_stride = stride("line_stride", desc.line_stride, line_bytes(d), d);
  d.surface_stride = stride("surface_stride", desc.surface_stride,
                            std::uint64_t{d.line_stride} * d.shape.height, d);
  d.batch_stride = d.shape.batch == 1 && desc.batch_stride == 0
                       ? 0
                       : stride("batch_stride", desc.batch_stride,
                                std::uint64_t{d.surface_stride} * d.surfaces(), d);
  return d;
}

std::uint64_t tensor_bytes(const TensorDesc& desc) {
  const TensorDesc d = resolve(desc);
  return std::uint64_t{d.shape.batch - 1} * d.batch_stride +
         std::uint64_t{d.surfaces() - 1} * d.surface_stride +
         std::uint64_t{d.shape.height - 1} * d.line_stride + line_bytes(d);
}

nvdla_surface tensor_surface(const TensorDesc& desc, std::uint32_t slot, std::uint64_t offset) {
  const TensorDesc d = resolve(desc);
  nvdla_surface surface = {};
  surface.offset = offset;
  surface.slot = slot;
  surface.line_stride = d.line_stride;
  surface.surface_stride = d.surface_stride;
  surface.batch_stride = d.shape.batch > 1 ? d.batch_stride : 0;
  return surface;
}

void pack(const TensorDesc& desc, Layout layout, std::span<const std::int8_t> source,
          std::span<std::byte> cube) {
  pack_exact(desc, layout, source, cube);
}

void pack(const TensorDesc& desc, Layout layout, std::span<const std::int16_t> source,
          std::span<std::byte> cube) {
  pack_exact(desc, layout, source, cube);
}

void pack(const TensorDesc& desc, Layout layout, std::span<const std::uint16_t> source,
          std::span<std::byte> cube) {
  pack_exact(desc, layout, source, cube);
}

void pack(const TensorDesc& desc, Layout layout, std::span<const float> source,
          const Quantization& quantization, std::span<std::byte> cube) {
  const TensorDesc d = resolve(desc);
  check_quantization(d, quantization);
  check_sizes(d, source.size(), cube.size());
  if (d.precision == Precision::kInt8) {
    pack_quantised<std::int8_t>(d, layout, source, quantization, cube);
  } else if (d.precision == Precision::kFp16) {
    pack_half(d, layout, source, quantization, cube);
  } else {
    pack_quantised<std::int16_t>(d, layout, source, quantization, cube);
  }
}

void unpack(const TensorDesc& desc, Layout layout, std::span<const std::byte> cube,
            std::span<std::int8_t> target) {
  unpack_exact(desc, layout, cube, target);
}

void unpack(const TensorDesc& desc, Layout layout, std::span<const std::byte> cube,
            std::span<std::int16_t> target) {
  unpack_exact(desc, layout, cube, target);
}

void unpack(const TensorDesc& desc, Layout layout, std::span<const std::byte> cube,
            std::span<std::uint16_t> target) {
  unpack_exact(desc, layout, cube, target);
}

void unpack(const TensorDesc& desc, Layout layout, std::span<const std::byte> cube,
            const Quantization& quantization, std::span<float> target) {
  const TensorDesc d = resolve(desc);
  check_quantization(d, quantization);
  check_sizes(d, target.size(), cube.size());
  const auto real = [&](std::int32_t q) {
    return static_cast<float>(q - quantization.zero_point) * quantization.scale;
  };
  if (d.precision == Precision::kInt8) {
    unpack_as<std::int8_t>(d, layout, cube, target, real);
  } else if (d.precision == Precision::kFp16) {
    unpack_as<std::uint16_t>(d, layout, cube, target, [&](std::uint16_t bits) {
      return from_half(bits) * quantization.scale;
    });
  } else {
    unpack_as<std::int16_t>(d, layout, cube, target, real);
  }
}

}  // namespace nvdla
