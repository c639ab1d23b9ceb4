// SPDX-License-Identifier: MIT
//
// Tensors of any precision as plain numbers, and SDP on one number at a time, written from the
// arithmetic of the hardware and from nothing of the runtime or the model.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_VALUES_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_VALUES_HPP

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "common/layers/host_float.hpp"
#include "common/random.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/network.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla::test {

inline constexpr Precision kPrecisions[] = {Precision::kInt8, Precision::kInt16, Precision::kFp16};

// For tests whose parameter is one.
inline constexpr auto name_of_precision = [](const auto& tested) -> std::string {
  return tested.param == Precision::kInt8    ? "int8"
         : tested.param == Precision::kInt16 ? "int16"
                                             : "fp16";
};

// NCHW; fp16 as bits.
struct Values {
  Shape shape;
  Precision precision = Precision::kInt8;
  std::vector<std::int32_t> data;

  Values() = default;
  Values(const Shape& s, Precision p) : shape(s), precision(p), data(s.elements()) {}
  friend bool operator==(const Values&, const Values&) = default;
  // The beginning of the values, for failures.
  friend void PrintTo(const Values& values, std::ostream* out) {
    constexpr std::size_t kShown = 64;
    *out << values.shape.batch << "x" << values.shape.channels << "x" << values.shape.height << "x"
         << values.shape.width << ":";
    for (std::size_t i = 0; i < std::min(values.data.size(), kShown); ++i)
      *out << " " << values.data[i];
    if (values.data.size() > kShown) *out << " ...";
  }
};

inline std::int32_t lowest(Precision p) { return p == Precision::kInt8 ? -128 : -32768; }
inline std::int32_t highest(Precision p) { return p == Precision::kInt8 ? 127 : 32767; }

// All patterns of integers; fp16 without infinities and NaN, now and then near to zero.
inline Values random_tensor(const Shape& shape, Precision precision, Random& random) {
  Values values(shape, precision);
  Random data = random.fork();
  for (std::int32_t& value : values.data) {
    if (precision == Precision::kFp16) {
      value = static_cast<std::int32_t>(data() % 0x7c00 | (data() % 2) << 15);
      if (data() % 4 == 0) value &= 0x83ff;
    } else {
      value = static_cast<std::int32_t>(data.pick(lowest(precision), highest(precision)));
    }
  }
  return values;
}

template <typename T>
void write_as(Request& request, std::string_view name, const Values& values) {
  const std::vector<T> data(values.data.begin(), values.data.end());
  request.write(name, Layout::kNchw, std::span<const T>(data));
}

inline void write(Request& request, std::string_view name, const Values& values) {
  if (values.precision == Precision::kInt8) return write_as<std::int8_t>(request, name, values);
  if (values.precision == Precision::kInt16) return write_as<std::int16_t>(request, name, values);
  write_as<std::uint16_t>(request, name, values);
}

template <typename T>
Values read_as(const Request& request, std::string_view name) {
  const TensorDesc& desc = request.network().desc(name);
  Values values(desc.shape, desc.precision);
  std::vector<T> data(values.data.size());
  request.read(name, Layout::kNchw, std::span<T>(data));
  values.data.assign(data.begin(), data.end());
  return values;
}

inline Values read(const Request& request, std::string_view name) {
  const Precision precision = request.network().desc(name).precision;
  if (precision == Precision::kInt8) return read_as<std::int8_t>(request, name);
  if (precision == Precision::kInt16) return read_as<std::int16_t>(request, name);
  return read_as<std::uint16_t>(request, name);
}

// What runs through SDP: integers of 32 bits, or the bits of fp32.
inline std::int64_t stream(std::int32_t value, Precision processing) {
  if (processing != Precision::kFp16) return value;
  return float_convert(kHalf, kSingle, static_cast<std::uint32_t>(value));
}

// X1 or X2 on one number; `a` and `m` are integers or bits of fp16.
inline std::int64_t apply_x(std::int64_t value, const Operator& op, std::int32_t a, std::int32_t m,
                            Precision processing) {
  if (processing != Precision::kFp16) {
    return apply(static_cast<std::int32_t>(value), op.alu, a, op.alu_shift, op.mul, m, op.mul_shift,
                 op.relu);
  }
  const auto wide = [](std::int32_t bits) {
    return float_convert(kHalf, kSingle, static_cast<std::uint32_t>(bits));
  };
  auto v = static_cast<std::uint32_t>(value);
  if (op.alu == NVDLA_ALU_MAX) v = float_max(kSingle, v, wide(a));
  if (op.alu == NVDLA_ALU_MIN) v = float_min(kSingle, v, wide(a));
  if (op.alu == NVDLA_ALU_SUM) v = float_add(kSingle, v, wide(a));
  const bool negative = (v & kSingle.sign()) != 0;
  if (op.mul == NVDLA_MUL_MUL || (op.mul == NVDLA_MUL_PRELU && negative)) {
    v = float_mul(kSingle, v, wide(m));
  }
  if (op.relu && !kSingle.nan(v) && (v & kSingle.sign()) != 0) v = 0;
  return v;
}

// The way out of SDP.
inline std::int32_t convert_to(std::int64_t value, const Converter& c, Precision processing,
                               Precision out) {
  if (processing == Precision::kFp16) {
    const std::uint32_t half = float_convert(kSingle, kHalf, static_cast<std::uint32_t>(value));
    return out == Precision::kInt16 ? half_to_int16(half) : static_cast<std::int32_t>(half);
  }
  const __int128 scaled = (static_cast<__int128>(value) - c.offset) * c.scale;
  const std::int64_t wide = saturate(round_shift(scaled, c.shift), 17);
  if (out == Precision::kFp16) {
    return static_cast<std::int32_t>(
        float_bits(kHalf, wide < 0, static_cast<double>(wide < 0 ? -wide : wide)));
  }
  return static_cast<std::int32_t>(saturate(wide, out == Precision::kInt8 ? 8 : 16));
}

// One value for the layer, one a channel, or one an element: that of the element at `i` (NCHW).
template <typename T>
T pick(const std::vector<T>& values, std::size_t i, const Shape& shape) {
  const std::size_t area = std::size_t{shape.height} * shape.width;
  if (values.empty()) return T{};
  if (values.size() == 1) return values[0];
  if (values.size() == shape.channels) return values[i / area % shape.channels];
  return values[i % values.size()];
}

// What "out" of a network is for "in"; `layers` is how many its program has.
inline Values run_one(const Network& net, const Device& device, const Values& in,
                      std::uint32_t* layers = nullptr) {
  Request request = net.build(device);
  write(request, "in", in);
  request.run();
  if (layers != nullptr) *layers = request.network().layers();
  return read(request, "out");
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_VALUES_HPP
