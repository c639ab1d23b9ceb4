// SPDX-License-Identifier: MIT
#include "loadable/emulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.hpp"
#include "nvdla/half.hpp"

namespace nvdla::loadable {
namespace {

// How elements lie, by format code.
struct Format {
  std::uint32_t bytes;  // of an element
  std::uint32_t lanes;  // elements of an atom

  std::uint32_t atom() const { return bytes * lanes; }
};

constexpr std::uint16_t kInt8 = 0, kInt8Small = 1, kFp16 = 3;

bool executed(std::uint16_t format) {
  return format == kInt8 || format == kInt8Small || format == kFp16;
}

Format format_of(std::uint16_t code) {
  if (code == kInt8Small) return {1, 8};
  if (code == kFp16) return {2, 16};
  return {1, 32};
}

std::uint64_t element(const EmuBuffer& b, const Format& f, std::uint32_t c, std::uint32_t y,
                      std::uint32_t x) {
  return std::uint64_t{c / f.lanes} * b.surf_stride + std::uint64_t{y} * b.line_stride +
         std::uint64_t{x} * f.atom() + std::uint64_t{c % f.lanes} * f.bytes;
}

struct At {
  std::uint16_t memory;
  std::uint64_t offset;
};

At check_buffer(const Container& c, const TaskEntry& entry, const EmuBuffer& b,
                const std::string& what) {
  const auto refuse = [&](const std::string& text) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("loadable: {}: {}", what, text));
  };
  const Place at = resolve_address(c, entry, b.address, what);
  const MemoryEntry& memory = c.memories[at.memory];
  if (memory.domain == kDomainSram) refuse("it lies in SRAM, which the CPU does not reach");
  if (b.width == 0 || b.height == 0 || b.channel == 0) {
    refuse(fmt::format("its size is {}x{}x{}", b.channel, b.height, b.width));
  }
  const Format f = format_of(b.format);
  // Strides are 32 bits and sizes 16: no sum overflows.
  const std::uint64_t end =
      at.offset + b.offset + element(b, f, b.channel - 1U, b.height - 1U, b.width - 1U) + f.bytes;
  const std::uint64_t widest =
      at.offset + b.offset +
      element(b, f, std::min<std::uint32_t>(b.channel, f.lanes) - 1, b.height - 1U, b.width - 1U) +
      f.bytes;
  if (std::max(end, widest) > memory.size) {
    refuse(fmt::format("it ends at {}, memory {} has {} bytes", std::max(end, widest), at.memory,
                       memory.size));
  }
  // The last lane of a surface before the last one lies further than the last element.
  if (b.channel > f.lanes) {
    const std::uint32_t full = b.channel / f.lanes * f.lanes - 1;
    const std::uint64_t lane =
        at.offset + b.offset + element(b, f, full, b.height - 1U, b.width - 1U) + f.bytes;
    if (lane > memory.size) {
      refuse(fmt::format("it ends at {}, memory {} has {} bytes", lane, at.memory, memory.size));
    }
  }
  return {at.memory, at.offset + b.offset};
}

class Cube {
 public:
  Cube(const EmuBuffer& buffer, const std::byte* data)
      : buffer_(buffer), format_(format_of(buffer.format)), data_(data) {}

  float get(std::uint32_t c, std::uint32_t y, std::uint32_t x, float scale) const {
    const std::byte* at = data_ + element(buffer_, format_, c, y, x);
    if (format_.bytes == 1) return static_cast<float>(static_cast<std::int8_t>(*at)) * scale;
    std::uint16_t half;
    std::memcpy(&half, at, sizeof(half));
    return from_half(half);
  }

  std::uint64_t place(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
    return element(buffer_, format_, c, y, x);
  }

  bool integer() const { return format_.bytes == 1; }

 private:
  const EmuBuffer& buffer_;
  Format format_;
  const std::byte* data_;
};

// Towards zero, as the conversion of the old runtime; NaN is 0.
std::int8_t to_int8(float real, float scale) {
  const float value = real / scale;
  if (std::isnan(value)) return 0;
  return static_cast<std::int8_t>(std::clamp(value, -128.0F, 127.0F));
}

void put(const Cube& cube, std::byte* data, std::uint32_t c, std::uint32_t y, std::uint32_t x,
         float value, float scale) {
  std::byte* at = data + cube.place(c, y, x);
  if (cube.integer()) {
    *at = static_cast<std::byte>(to_int8(value, scale));
  } else {
    const std::uint16_t half = float_to_half(value);
    std::memcpy(at, &half, sizeof(half));
  }
}

}  // namespace

std::uint16_t float_to_half(float value) noexcept {
  // From half a step beyond the greatest number on.
  const bool finite = std::isnan(value) || std::fabs(value) < 65520.0F;
  return to_half(finite ? value : std::copysign(std::numeric_limits<float>::infinity(), value));
}

std::vector<EmuStep> resolve_emu(const Container& c, const Task& task) {
  const TaskEntry& entry = c.tasks[task.index];
  std::vector<EmuStep> steps;
  const auto& operations = std::get<EmuTask>(task.work).operations;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    EmuOperation op = operations[i];
    const std::string what =
        fmt::format("task {}, operation {} ({})", task.index, i, emu_name({op, 0, 0, 0, 0}));
    EmuBuffer& s = op.source;
    EmuBuffer& d = op.destination;
    if (s.format != d.format) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("loadable: {}: format {} of the source is not {} of the destination",
                              what, s.format, d.format));
    }
    if (!executed(s.format)) {
      throw Error(ErrorCode::kNotAvailable,
                  fmt::format("loadable: {}: format {} is not executed; 0, 1 (int8) and 3 (fp16) "
                              "are",
                              what, s.format));
    }
    if (s.width != d.width || s.height != d.height || s.channel != d.channel) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("loadable: {}: the source is {}x{}x{}, the destination {}x{}x{}",
                              what, s.channel, s.height, s.width, d.channel, d.height, d.width));
    }
    // The channels of one position are a run, as SDP leaves them, whatever the strides are.
    if (op.type == kSoftmax && s.width == 1 && s.height == 1) {
      s.surf_stride = d.surf_stride = format_of(s.format).atom();
    }
    const At from = check_buffer(c, entry, s, what + ", source");
    const At to = check_buffer(c, entry, d, what + ", destination");
    steps.push_back({op, from.memory, to.memory, from.offset, to.offset});
  }
  return steps;
}

const char* emu_name(const EmuStep& step) {
  return step.operation.type == kPower ? "power" : "softmax";
}

std::optional<detail::LayerOutput> emu_output(const EmuStep& step, std::uint64_t bytes) {
  const EmuBuffer& b = step.operation.destination;
  const Format f = format_of(b.format);
  TensorDesc desc;
  desc.shape = {.channels = b.channel, .height = b.height, .width = b.width};
  desc.precision = f.bytes == 1 ? Precision::kInt8 : Precision::kFp16;
  desc.atom = f.atom();
  if (b.height > 1) desc.line_stride = b.line_stride;
  if (desc.surfaces() > 1) desc.surface_stride = b.surf_stride;
  try {
    desc = resolve(desc);
    if (step.destination_offset + tensor_bytes(desc) > bytes) return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
  return detail::LayerOutput{"cpu", 0, step.destination_offset, desc};
}

void run_emu(const EmuStep& step, std::span<const std::byte> source,
             std::span<std::byte> destination) {
  const EmuOperation& op = step.operation;
  const Cube in(op.source, source.data() + step.source_offset);
  std::byte* out_data = destination.data() + step.destination_offset;
  const Cube out(op.destination, out_data);
  const EmuBuffer& size = op.source;
  // All channels of a position are read before one is written: source and destination may be one.
  std::vector<float> column(size.channel);
  for (std::uint32_t y = 0; y < size.height; ++y) {
    for (std::uint32_t x = 0; x < size.width; ++x) {
      for (std::uint32_t c = 0; c < size.channel; ++c) {
        column[c] = in.get(c, y, x, op.input_scale);
      }
      if (op.type == kPower) {
        for (float& value : column) {
          const float base = op.shift + op.scale * value;
          value = op.power == 1.0F ? base : std::pow(base, op.power);
        }
      } else {
        const float greatest = *std::max_element(column.begin(), column.end());
        double sum = 0;
        for (float& value : column) {
          value = std::exp(value - greatest);
          sum += value;
        }
        for (float& value : column) value = static_cast<float>(value / sum);
      }
      for (std::uint32_t c = 0; c < size.channel; ++c) {
        put(out, out_data, c, y, x, column[c], op.output_scale);
      }
    }
  }
}

}  // namespace nvdla::loadable
