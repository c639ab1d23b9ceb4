// SPDX-License-Identifier: MIT
#include "model/move/rubik.hpp"

#include <algorithm>
#include <cstring>

#include "cost/unit_cycles.hpp"
#include "model/core/counters.hpp"
#include "model/core/thread_pool.hpp"

namespace nvdla::model {
namespace {

constexpr std::uint32_t kRubikDone = NVDLA_GLB_S_INTR_STATUS_RUBIK_DONE_STATUS0_MASK;
// Only the first generation has RUBIK.
constexpr std::uint64_t kAtom = 32;
constexpr std::uint64_t kMostAtoms = 8192;
// Nanoseconds of a byte, roughly.
constexpr double kTurnedByteTime = 0.1;

std::uint64_t surfaces(const RubikLayer& layer, std::uint64_t channels) {
  return (channels * precision_bytes(layer.precision) + kAtom - 1) / kAtom;
}

std::uint64_t planar_bytes(const RubikLayer& layer) {
  return (layer.width * precision_bytes(layer.precision) + kAtom - 1) / kAtom * kAtom;
}

}  // namespace

RubikLayer read_rubik(const GroupView& view) {
  RubikLayer layer;
  layer.mode = static_cast<RubikMode>(NVDLA_VIEW_FIELD(view, RBK_D_MISC_CFG, RUBIK_MODE));
  layer.precision = static_cast<Precision>(NVDLA_VIEW_FIELD(view, RBK_D_MISC_CFG, IN_PRECISION));
  layer.width = NVDLA_VIEW_FIELD(view, RBK_D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
  layer.height = NVDLA_VIEW_FIELD(view, RBK_D_DATAIN_SIZE_0, DATAIN_HEIGHT) + 1;
  layer.channels_in = NVDLA_VIEW_FIELD(view, RBK_D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
  layer.channels_out = NVDLA_VIEW_FIELD(view, RBK_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL) + 1;
  layer.input = {ram_type(NVDLA_VIEW_FIELD(view, RBK_D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE)),
                 NVDLA_VIEW_ADDRESS(view, RBK_D_DAIN), view.word(NVDLA_RBK_D_DAIN_LINE_STRIDE),
                 view.word(NVDLA_RBK_D_DAIN_SURF_STRIDE)};
  layer.output = {ram_type(NVDLA_VIEW_FIELD(view, RBK_D_DAOUT_RAM_TYPE, DATAOUT_RAM_TYPE)),
                  NVDLA_VIEW_ADDRESS(view, RBK_D_DAOUT), view.word(NVDLA_RBK_D_DAOUT_LINE_STRIDE),
                  view.word(NVDLA_RBK_D_DAOUT_SURF_STRIDE)};
  layer.plane_in = view.word(NVDLA_RBK_D_DAIN_PLANAR_STRIDE);
  layer.plane_out = view.word(NVDLA_RBK_D_DAOUT_PLANAR_STRIDE);
  layer.contract_stride[0] = view.word(NVDLA_RBK_D_CONTRACT_STRIDE_0);
  layer.contract_stride[1] = view.word(NVDLA_RBK_D_CONTRACT_STRIDE_1);
  layer.stride_width = NVDLA_VIEW_FIELD(view, RBK_D_DECONV_STRIDE, DECONV_X_STRIDE) + 1;
  layer.stride_height = NVDLA_VIEW_FIELD(view, RBK_D_DECONV_STRIDE, DECONV_Y_STRIDE) + 1;
  return layer;
}

cost::RubikGeometry geometry(const RubikLayer& layer) {
  constexpr cost::RubikMode kModes[] = {cost::RubikMode::kContract, cost::RubikMode::kSplit,
                                        cost::RubikMode::kMerge};
  return {.mode = kModes[static_cast<unsigned>(layer.mode)],
          .width = layer.width,
          .height = layer.height,
          .out_channels = layer.channels_out,
          .stride_width = layer.stride_width,
          .stride_height = layer.stride_height,
          .element_bytes = precision_bytes(layer.precision),
          .source = interface_of(layer.input.ram),
          .destination = interface_of(layer.output.ram)};
}

std::string rubik_fault(const RubikLayer& layer) {
  const unsigned mode = static_cast<unsigned>(layer.mode);
  if (mode > static_cast<unsigned>(RubikMode::kMerge)) return "RUBIK_MODE 3 does not exist";
  if (layer.precision > Precision::kFp16) return "IN_PRECISION 3 does not exist";
  if (layer.mode == RubikMode::kContract) {
    if (layer.width * layer.stride_width > kMostAtoms)
      return "contract writes lines of " + std::to_string(layer.width) + " x " +
             std::to_string(layer.stride_width) + " atoms, more than " + std::to_string(kMostAtoms);
    if (layer.channels_in != layer.channels_out * layer.stride_width * layer.stride_height)
      return "contract of " + std::to_string(layer.channels_in) + " input channels with strides " +
             std::to_string(layer.stride_width) + " x " + std::to_string(layer.stride_height) +
             " does not give " + std::to_string(layer.channels_out) + " output channels";
  } else if (layer.channels_in != layer.channels_out) {
    return "DATAIN_CHANNEL " + std::to_string(layer.channels_in) + " but DATAOUT_CHANNEL " +
           std::to_string(layer.channels_out);
  }
  return {};
}

// Both sides lie open where the bus has a window of them, and neither is part of the other.
void Rubik::open(SdpCube in, SdpCube out) {
  input_ = in.memory;
  output_ = out.memory;
  from_ = nullptr;
  to_ = nullptr;
  in.memory.base = dma_.wrapped(in.memory.base);
  out.memory.base = dma_.wrapped(out.memory.base);
  if (!out.meets(in)) {
    from_ = dma_.window(input_.ram, input_.base, in.extent(), false);
    to_ = dma_.window(output_.ram, output_.base, out.extent(), true);
  }
  shareable_ = from_ != nullptr && to_ != nullptr && out.apart();
}

const std::byte* Rubik::read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t count,
                             std::uint64_t& stride) {
  if (from_ != nullptr) return from_ + offset;
  in_.resize(std::max<std::size_t>(in_.size(), bytes * count));
  for (std::uint64_t i = 0; i < count; ++i)
    dma_.read(NVDLA_DMA_RUBIK_READ, input_.ram, input_.base + offset + i * stride,
              in_.data() + i * bytes, bytes);
  stride = bytes;
  return in_.data();
}

std::byte* Rubik::room(std::uint64_t offset, std::uint64_t bytes, std::uint64_t count,
                       std::uint64_t& stride) {
  if (to_ != nullptr) return to_ + offset;
  out_.resize(std::max<std::size_t>(out_.size(), bytes * count));
  stride = bytes;
  return out_.data();
}

void Rubik::wrote(std::uint64_t offset, std::uint64_t bytes, std::uint64_t count,
                  std::uint64_t stride) {
  if (to_ != nullptr) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    dma_.write(NVDLA_DMA_RUBIK_WRITE, output_.ram, output_.base + offset + i * stride,
               out_.data() + i * bytes, bytes);
    dma_.written(output_.ram, output_.base + offset + i * stride, bytes);
  }
}

// An open output, all lines that follow each other at once.
void Rubik::announce(const SdpCube& out) {
  if (to_ == nullptr) return;
  const bool packed = out.memory.line == out.line_bytes;
  const std::uint64_t bytes = packed ? out.height * out.line_bytes : out.line_bytes;
  for (std::uint64_t surface = 0; surface < out.surfaces; ++surface)
    for (std::uint64_t y = 0; y < (packed ? 1 : out.height); ++y)
      dma_.written(out.memory.ram, out.memory.at(surface, y), bytes);
}

template <typename Line>
void Rubik::for_each_line(std::uint64_t surfaces, std::uint64_t height, std::uint64_t bytes,
                          Line line) {
  const std::uint64_t all = surfaces * height * bytes;
  const double time = kTurnedByteTime * static_cast<double>(all);
  const bool shared = shareable_ && pool_.shares(time);
  const LineTasks tasks(surfaces, static_cast<std::uint32_t>(height), bytes,
                        shared ? all / pool_.in_flight() : all);
  auto execute = [&](unsigned /*thread*/, std::size_t task) {
    const LineTasks::Lines lines = tasks.at(task);
    for (std::uint32_t y = lines.begin; y < lines.end; ++y) line(lines.surface, y);
  };
  if (shared) return run_tasks(pool_, tasks.count(), time, execute);
  for (std::size_t task = 0; task < tasks.count(); ++task) execute(0, task);
}

// Block (j, i) of input channels holds the output positions whose coordinates modulo the strides
// are (j, i).
void Rubik::contract(const RubikLayer& layer) {
  const std::uint64_t sx = layer.stride_width;
  const std::uint64_t line_bytes = layer.width * kAtom, out_bytes = line_bytes * sx;
  const std::uint64_t count = surfaces(layer, layer.channels_out);
  // The logic steps over its own lines; CONTRACT_STRIDE_1 steps only the reference model.
  const std::uint64_t step = quirks_ == Quirks::kCmodel ? layer.contract_stride[1]
                                                        : layer.stride_height * layer.output.line;
  // All blocks of a line of the input lie in its last one, those of the output in batches.
  const SdpCube in{
      .memory = layer.input,
      .surfaces = count,
      .height = layer.height,
      .line_bytes = (layer.stride_height * sx - 1) * layer.contract_stride[0] + line_bytes};
  const SdpCube lines{.memory = layer.output,
                      .surfaces = 1,
                      .height = layer.stride_height,
                      .line_bytes = out_bytes};
  const SdpCube out{.memory = {layer.output.ram, layer.output.base, step, layer.output.surface},
                    .surfaces = count,
                    .height = layer.height,
                    .line_bytes = lines.extent()};
  open(in, out);
  shareable_ = shareable_ && lines.apart();
  for_each_line(count, layer.height, layer.stride_height * out_bytes,
                [&](std::uint64_t surface, std::uint64_t y) {
                  for (std::uint64_t j = 0; j < layer.stride_height; ++j) {
                    const std::uint64_t at =
                        surface * layer.output.surface + y * step + j * layer.output.line;
                    std::uint64_t unused = 0;
                    std::byte* to = room(at, out_bytes, 1, unused);
                    for (std::uint64_t i = 0; i < sx; ++i) {
                      const std::byte* from =
                          read(surface * layer.input.surface + y * layer.input.line +
                                   (j * sx + i) * layer.contract_stride[0],
                               line_bytes, 1, unused);
                      for (std::uint64_t x = 0; x < layer.width; ++x)
                        std::memcpy(to + (x * sx + i) * kAtom, from + x * kAtom, kAtom);
                    }
                    wrote(at, out_bytes, 1, unused);
                  }
                });
  for (std::uint64_t surface = 0; surface < count; ++surface)
    for (std::uint64_t y = 0; y < layer.height; ++y) {
      SdpCube written = lines;
      written.memory.base = out.memory.at(surface, y);
      announce(written);
    }
}

void Rubik::split(const RubikLayer& layer) {
  const unsigned bytes = precision_bytes(layer.precision);
  const std::uint64_t elements = kAtom / bytes;
  const std::uint64_t line_bytes = layer.width * kAtom, plane_bytes = planar_bytes(layer);
  const std::uint64_t used = layer.width * bytes;
  const SdpCube in{.memory = layer.input,
                   .surfaces = surfaces(layer, layer.channels_in),
                   .height = layer.height,
                   .line_bytes = line_bytes};
  SdpCube out{.memory = layer.output,
              .surfaces = layer.channels_out,
              .height = layer.height,
              .line_bytes = plane_bytes};
  out.memory.surface = layer.plane_out;
  open(in, out);
  for_each_line(in.surfaces, layer.height, line_bytes, [&](std::uint64_t surface, std::uint64_t y) {
    std::uint64_t unused = 0, stride = layer.plane_out;
    const std::byte* from =
        read(surface * layer.input.surface + y * layer.input.line, line_bytes, 1, unused);
    const std::uint64_t first = surface * elements;
    const std::uint64_t lanes = std::min(elements, layer.channels_in - first);
    const std::uint64_t at = first * layer.plane_out + y * layer.output.line;
    std::byte* to = room(at, plane_bytes, lanes, stride);
    kernels_.split_atoms(from, static_cast<unsigned>(layer.width), bytes,
                         static_cast<unsigned>(lanes), to, stride);
    // The rest of the line's last atom is written as 0.
    for (std::uint64_t lane = 0; lane < lanes; ++lane)
      std::memset(to + lane * stride + used, 0, plane_bytes - used);
    wrote(at, plane_bytes, lanes, layer.plane_out);
  });
  announce(out);
}

void Rubik::merge(const RubikLayer& layer) {
  const unsigned bytes = precision_bytes(layer.precision);
  const std::uint64_t elements = kAtom / bytes;
  const std::uint64_t line_bytes = layer.width * kAtom, plane_bytes = planar_bytes(layer);
  SdpCube in{.memory = layer.input,
             .surfaces = layer.channels_out,
             .height = layer.height,
             .line_bytes = plane_bytes};
  in.memory.surface = layer.plane_in;
  const SdpCube out{.memory = layer.output,
                    .surfaces = surfaces(layer, layer.channels_out),
                    .height = layer.height,
                    .line_bytes = line_bytes};
  open(in, out);
  for_each_line(
      out.surfaces, layer.height, line_bytes, [&](std::uint64_t surface, std::uint64_t y) {
        std::uint64_t unused = 0, stride = layer.plane_in;
        const std::uint64_t first = surface * elements;
        const std::uint64_t lanes = std::min(elements, layer.channels_out - first);
        const std::byte* from =
            read(first * layer.plane_in + y * layer.input.line, plane_bytes, lanes, stride);
        const std::uint64_t at = surface * layer.output.surface + y * layer.output.line;
        kernels_.merge_atoms(from, stride, static_cast<unsigned>(layer.width), bytes,
                             static_cast<unsigned>(lanes), room(at, line_bytes, 1, unused));
        wrote(at, line_bytes, 1, unused);
      });
  announce(out);
}

bool Rubik::run(std::uint32_t& interrupts) {
  if (!stuck_.empty() || !registers_.running(NVDLA_UNIT_RBK)) return false;
  const RubikLayer layer = read_rubik(registers_.view(NVDLA_UNIT_RBK));
  stuck_ = rubik_fault(layer);
  if (!stuck_.empty()) return false;
  switch (layer.mode) {
    case RubikMode::kContract:
      contract(layer);
      break;
    case RubikMode::kSplit:
      split(layer);
      break;
    case RubikMode::kMerge:
      merge(layer);
      break;
  }
  counters_.count_rubik(
      [&] { return cost::rubik_cycles(counters_.machine(), counters_.memory(), geometry(layer)); });
  interrupts = kRubikDone << registers_.consumer(NVDLA_UNIT_RBK);
  registers_.finish(NVDLA_UNIT_RBK);
  return true;
}

void Rubik::list_blocked(BlockedList& list) const {
  list.add_waiting_group(NVDLA_UNIT_RBK);
  if (!stuck_.empty()) list.add(NVDLA_UNIT_RBK, stuck_);
}

}  // namespace nvdla::model
