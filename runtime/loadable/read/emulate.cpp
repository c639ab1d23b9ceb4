// SPDX-License-Identifier: MIT
#include "loadable/read/emulate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host_ops/compute.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "support/check.hpp"

namespace nvdla::loadable {
namespace {

// A format code tells how elements lie.
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

cpu::CubeLayout layout_of(const EmuBuffer& b) {
  const Format f = format_of(b.format);
  cpu::CubeLayout layout;
  layout.shape = {.channels = b.channel, .height = b.height, .width = b.width};
  layout.lanes = f.lanes;
  layout.element_bytes = f.bytes;
  layout.line_stride = b.line_stride;
  layout.surface_stride = b.surf_stride;
  return layout;
}

struct At {
  std::uint16_t memory;
  std::uint64_t offset;
};

At check_buffer(const Container& c, const TaskEntry& entry, const EmuBuffer& b,
                const std::string& what) {
  const auto throw_error = [&](const std::string& text) { throw_in_file("{}: {}", what, text); };
  const Place at = resolve_address(c, entry, b.address, what);
  const MemoryEntry& memory = c.memories[at.memory];
  if (memory.domain == kDomainSram) throw_error("it lies in SRAM, which the CPU does not reach");
  if (b.width == 0 || b.height == 0 || b.channel == 0) {
    throw_error(fmt::format("its size is {}x{}x{}", b.channel, b.height, b.width));
  }
  const Format f = format_of(b.format);
  // The last element of so many channels. Strides are 32 bits and sizes 16: no sum overflows.
  const auto last = [&](std::uint32_t channels) {
    return layout_of(b).at({0, channels - 1, b.height - 1U, b.width - 1U});
  };
  const std::uint64_t end = at.offset + b.offset + last(b.channel) + f.bytes;
  const std::uint64_t widest =
      at.offset + b.offset + last(std::min<std::uint32_t>(b.channel, f.lanes)) + f.bytes;
  if (std::max(end, widest) > memory.size) {
    throw_error(fmt::format("it ends at {}, memory {} has {} bytes", std::max(end, widest),
                            at.memory, memory.size));
  }
  // The last lane of a surface before the last one lies further than the last element.
  if (b.channel > f.lanes) {
    const std::uint64_t lane = at.offset + b.offset + last(b.channel / f.lanes * f.lanes) + f.bytes;
    if (lane > memory.size) {
      throw_error(
          fmt::format("it ends at {}, memory {} has {} bytes", lane, at.memory, memory.size));
    }
  }
  return {at.memory, at.offset + b.offset};
}

cpu::Elements elements_of(const EmuBuffer& b, float scale) {
  return {b.format == kFp16 ? Precision::kFp16 : Precision::kInt8,
          {.scale = scale},
          cpu::Elements::Rounding::kLoadable};
}

}  // namespace

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
      throw_in_file("{}: format {} of the source is not {} of the destination", what, s.format,
                    d.format);
    }
    if (!executed(s.format)) {
      throw Error(ErrorCode::kNotAvailable,
                  fmt::format("loadable: {}: format {} is not executed; 0, 1 (int8) and 3 (fp16) "
                              "are",
                              what, s.format));
    }
    if (s.width != d.width || s.height != d.height || s.channel != d.channel) {
      throw_in_file("{}: the source is {}x{}x{}, the destination {}x{}x{}", what, s.channel,
                    s.height, s.width, d.channel, d.height, d.width);
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

cpu::Operation emu_operation(const EmuOperation& operation) {
  constexpr auto kRounding = cpu::Elements::Rounding::kLoadable;
  const Quantization from = {.scale = operation.input_scale};
  const Quantization to = {.scale = operation.output_scale};
  if (operation.type != kPower) return {cpu::SoftmaxOperation{kRounding, from, to}};
  return {cpu::PowerOperation{
      kRounding, from, to, {operation.power, operation.scale, operation.shift}}};
}

TensorDesc emu_desc(const EmuBuffer& buffer) {
  const Format f = format_of(buffer.format);
  TensorDesc desc;
  desc.shape = {.channels = buffer.channel, .height = buffer.height, .width = buffer.width};
  desc.precision = f.bytes == 1 ? Precision::kInt8 : Precision::kFp16;
  desc.atom = f.atom();
  desc.line_stride = buffer.line_stride;
  desc.surface_stride = buffer.surf_stride;
  return desc;
}

std::optional<detail::LayerOutput> emu_output(const EmuStep& step, std::uint64_t bytes) {
  const EmuBuffer& b = step.operation.destination;
  TensorDesc desc = emu_desc(b);
  desc.line_stride = desc.surface_stride = 0;
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
  const cpu::Source from(layout_of(op.source), elements_of(op.source, op.input_scale),
                         source.subspan(static_cast<std::size_t>(step.source_offset)));
  const cpu::Target to(layout_of(op.destination), elements_of(op.destination, op.output_scale),
                       destination.subspan(static_cast<std::size_t>(step.destination_offset)));
  if (op.type == kPower) {
    cpu::power(from, to, {op.power, op.scale, op.shift});
  } else {
    cpu::softmax(from, to);
  }
}

}  // namespace nvdla::loadable
