// SPDX-License-Identifier: MIT
#include "nvdla/lowlevel/weights.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "nvdla/types/device_info.hpp"
#include "nvdla/types/precision.hpp"
#include "packing/weight_stream.hpp"
#include "support/check.hpp"

namespace nvdla {
namespace {

using detail::check_range;
using detail::throw_invalid_argument;

// [channel][tap] to [tap][channel], a tap every `pitch` bytes.
template <typename T>
void put_kernel(const T* from, std::uint32_t channels, std::uint64_t area, std::byte* to,
                std::size_t pitch) {
  if (area == 1) {
    std::memcpy(to, from, channels * sizeof(T));
    return;
  }
  for (std::uint64_t tap = 0; tap < area; ++tap, to += pitch)
    for (std::uint32_t c = 0; c < channels; ++c)
      std::memcpy(to + c * sizeof(T), &from[c * area + tap], sizeof(T));
}

template <typename T>
void pack_direct(const DeviceInfo& info, const WeightsDesc& d, std::span<const T> kcrs,
                 std::span<std::byte> stream) {
  detail::check_weights(d, kcrs);
  const std::uint32_t group = detail::kernel_group(info, d);
  const std::uint32_t block = info.atomic_c;
  const std::uint64_t bytes = weights_bytes(d);
  detail::check_stream(stream, bytes);
  const std::uint64_t area = std::uint64_t{d.kernel_height} * d.kernel_width;
  std::byte* out = stream.data();
  for (std::uint32_t k0 = 0; k0 < d.kernels; k0 += group) {
    const std::uint32_t kernels = std::min(group, d.kernels - k0);
    for (std::uint32_t c0 = 0; c0 < d.channels; c0 += block) {
      // [tap][kernel][channel], a kernel at a time: those lie together.
      const std::uint32_t channels = std::min(block, d.channels - c0);
      const std::size_t line = channels * sizeof(T), pitch = kernels * line;
      for (std::uint32_t k = 0; k < kernels; ++k)
        put_kernel(kcrs.data() + ((std::uint64_t{k0} + k) * d.channels + c0) * area, channels, area,
                   out + k * line, pitch);
      out += area * pitch;
    }
  }
  std::fill(out, stream.data() + bytes, std::byte{0});
}

void check(const OperandDesc& d) {
  check_range("channels", d.channels, 1U, detail::kMaxSide);
  check_range("height", d.height, 1U, detail::kMaxSide);
  check_range("width", d.width, 1U, detail::kMaxSide);
  check_range("parts", d.parts, 1U, 2U);
  check_range("bytes", d.bytes, 1U, 2U);
  if (d.atom != 8 && d.atom != 16 && d.atom != 32) {
    throw_invalid_argument("atom {} is none of 8, 16, 32", d.atom);
  }
  if (!d.per_element && (d.width != 1 || d.height != 1)) {
    throw_invalid_argument("operands per channel have no size, found {}x{}", d.width, d.height);
  }
  if (d.processing != Precision::kInt8 && d.bytes != 2) {
    throw_invalid_argument("operands of 16-bit processing take 2 bytes, found {}", d.bytes);
  }
}

void put(std::byte* out, std::int16_t value, std::uint32_t bytes, const char* part,
         std::uint64_t index) {
  if (bytes == 1) {
    if (value < std::numeric_limits<std::int8_t>::min() ||
        value > std::numeric_limits<std::int8_t>::max()) {
      throw_invalid_argument("{} operand {} is {}, which does not fit 1 byte", part, index, value);
    }
    const auto narrow = static_cast<std::int8_t>(value);
    std::memcpy(out, &narrow, 1);
  } else {
    std::memcpy(out, &value, 2);
  }
}

}  // namespace

namespace detail {

void check_weights(const WeightsDesc& d) {
  check_range("kernels", d.kernels, 1U, detail::kMaxSide);
  check_range("channels", d.channels, 1U, detail::kMaxSide);
  check_range("kernel_height", d.kernel_height, 1U, 32U);
  check_range("kernel_width", d.kernel_width, 1U, 32U);
}

std::uint32_t kernel_group(const DeviceInfo& info, const WeightsDesc& d) {
  const std::uint32_t group = info.atomic_k / precision_bytes(d.precision);
  if (group == 0 || info.atomic_c == 0) {
    throw_invalid_argument("the configuration has atomic_k {} and atomic_c {}: not a device's",
                           info.atomic_k, info.atomic_c);
  }
  return group;
}

}  // namespace detail

std::uint64_t weights_bytes(const WeightsDesc& desc) {
  detail::check_weights(desc);
  return detail::stream_bytes(desc.elements() * precision_bytes(desc.precision));
}

void pack_weights(const DeviceInfo& info, const WeightsDesc& desc,
                  std::span<const std::int8_t> kcrs, std::span<std::byte> stream) {
  pack_direct(info, desc, kcrs, stream);
}

void pack_weights(const DeviceInfo& info, const WeightsDesc& desc,
                  std::span<const std::int16_t> kcrs, std::span<std::byte> stream) {
  pack_direct(info, desc, kcrs, stream);
}

std::uint64_t operand_bytes(const OperandDesc& desc) {
  check(desc);
  const std::uint64_t columns = std::uint64_t{desc.width} * desc.height;
  return (desc.channels + desc.lanes() - 1) / desc.lanes() * columns * desc.column();
}

void pack_operand(const OperandDesc& d, std::span<const std::int16_t> alu,
                  std::span<const std::int16_t> mul, std::span<std::byte> stream) {
  const std::uint64_t need = operand_bytes(d);
  const std::uint64_t columns = std::uint64_t{d.width} * d.height;
  const std::uint64_t elements = columns * d.channels;
  if ((d.parts == 2) != (!alu.empty() && !mul.empty()) || (alu.empty() && mul.empty())) {
    throw_invalid_argument("{} part{} described, {} ALU and {} MUL operands given", d.parts,
                           d.parts == 1 ? "" : "s", alu.size(), mul.size());
  }
  if (!alu.empty() && alu.size() != elements) {
    throw_invalid_argument("{} ALU operands given, {} are needed", alu.size(), elements);
  }
  if (!mul.empty() && mul.size() != elements) {
    throw_invalid_argument("{} MUL operands given, {} are needed", mul.size(), elements);
  }
  if (stream.size() < need) {
    throw_invalid_argument("{} bytes for operands that take {}", stream.size(), need);
  }

  // Lanes beyond the last channel exist and are zero.
  std::fill_n(stream.data(), need, std::byte{0});
  const std::uint32_t unit = d.parts * d.bytes;
  for (std::uint32_t c = 0; c < d.channels; ++c) {
    const std::uint64_t surface = c / d.lanes() * columns * d.column();
    for (std::uint64_t xy = 0; xy < columns; ++xy) {
      std::byte* out = stream.data() + surface + xy * d.column() + c % d.lanes() * unit;
      const std::uint64_t index = c * columns + xy;
      if (!alu.empty()) {
        put(out, alu[index], d.bytes, "ALU", index);
        out += d.bytes;
      }
      if (!mul.empty()) put(out, mul[index], d.bytes, "MUL", index);
    }
  }
}

}  // namespace nvdla
