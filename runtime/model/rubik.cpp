// SPDX-License-Identifier: MIT
#include "model/rubik.hpp"

#include <algorithm>
#include <cstring>

#include "model/cycles/counters.hpp"

namespace nvdla::model {
namespace {

constexpr std::uint32_t kRubikDone = NVDLA_GLB_S_INTR_STATUS_RUBIK_DONE_STATUS0_MASK;
// Only the first generation has RUBIK.
constexpr std::uint64_t kAtom = 32;
constexpr std::uint64_t kMostAtoms = 8192;

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
  layer.input = {
      ram_type(NVDLA_VIEW_FIELD(view, RBK_D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE)),
      join_address(view.word(NVDLA_RBK_D_DAIN_ADDR_HIGH), view.word(NVDLA_RBK_D_DAIN_ADDR_LOW)),
      view.word(NVDLA_RBK_D_DAIN_LINE_STRIDE), view.word(NVDLA_RBK_D_DAIN_SURF_STRIDE)};
  layer.output = {
      ram_type(NVDLA_VIEW_FIELD(view, RBK_D_DAOUT_RAM_TYPE, DATAOUT_RAM_TYPE)),
      join_address(view.word(NVDLA_RBK_D_DAOUT_ADDR_HIGH), view.word(NVDLA_RBK_D_DAOUT_ADDR_LOW)),
      view.word(NVDLA_RBK_D_DAOUT_LINE_STRIDE), view.word(NVDLA_RBK_D_DAOUT_SURF_STRIDE)};
  layer.plane_in = view.word(NVDLA_RBK_D_DAIN_PLANAR_STRIDE);
  layer.plane_out = view.word(NVDLA_RBK_D_DAOUT_PLANAR_STRIDE);
  layer.contract_stride[0] = view.word(NVDLA_RBK_D_CONTRACT_STRIDE_0);
  layer.contract_stride[1] = view.word(NVDLA_RBK_D_CONTRACT_STRIDE_1);
  layer.stride_x = NVDLA_VIEW_FIELD(view, RBK_D_DECONV_STRIDE, DECONV_X_STRIDE) + 1;
  layer.stride_y = NVDLA_VIEW_FIELD(view, RBK_D_DECONV_STRIDE, DECONV_Y_STRIDE) + 1;
  return layer;
}

std::string rubik_fault(const RubikLayer& layer) {
  const unsigned mode = static_cast<unsigned>(layer.mode);
  if (mode > static_cast<unsigned>(RubikMode::kMerge)) return "RUBIK_MODE 3 does not exist";
  if (layer.precision > Precision::kFp16) return "IN_PRECISION 3 does not exist";
  if (layer.mode == RubikMode::kContract) {
    if (layer.width * layer.stride_x > kMostAtoms)
      return "contract writes lines of " + std::to_string(layer.width) + " x " +
             std::to_string(layer.stride_x) + " atoms, more than " + std::to_string(kMostAtoms);
    if (layer.channels_in != layer.channels_out * layer.stride_x * layer.stride_y)
      return "contract of " + std::to_string(layer.channels_in) + " input channels with strides " +
             std::to_string(layer.stride_x) + " x " + std::to_string(layer.stride_y) +
             " does not give " + std::to_string(layer.channels_out) + " output channels";
  } else if (layer.channels_in != layer.channels_out) {
    return "DATAIN_CHANNEL " + std::to_string(layer.channels_in) + " but DATAOUT_CHANNEL " +
           std::to_string(layer.channels_out);
  }
  return {};
}

// Both sides lie open where the bus has a window of them, and neither is part of the other.
void Rubik::open(const RubikLayer& layer, std::uint64_t in_bytes, std::uint64_t out_bytes) {
  input_ = layer.input;
  output_ = layer.output;
  const bool apart = input_.ram != output_.ram || input_.base >= output_.base + out_bytes ||
                     output_.base >= input_.base + in_bytes;
  from_ = apart ? dma_.window(input_.ram, input_.base, in_bytes, false) : nullptr;
  to_ = apart ? dma_.window(output_.ram, output_.base, out_bytes, true) : nullptr;
}

const std::byte* Rubik::read(std::uint64_t offset, std::uint64_t bytes) {
  if (from_ != nullptr) return from_ + offset;
  in_.resize(std::max<std::size_t>(in_.size(), bytes));
  dma_.read(NVDLA_DMA_RUBIK_READ, input_.ram, input_.base + offset, in_.data(), bytes);
  return in_.data();
}

std::byte* Rubik::room(std::uint64_t offset, std::uint64_t bytes) {
  if (to_ != nullptr) return to_ + offset;
  out_.resize(std::max<std::size_t>(out_.size(), bytes));
  return out_.data();
}

void Rubik::wrote(std::uint64_t offset, std::uint64_t bytes) {
  if (to_ != nullptr) return;
  dma_.write(NVDLA_DMA_RUBIK_WRITE, output_.ram, output_.base + offset, out_.data(), bytes);
  dma_.written(output_.ram, output_.base + offset, bytes);
}

// Lines of an open output, all that follow each other at once.
void Rubik::announce(std::uint64_t offset, std::uint64_t stride, std::uint64_t lines,
                     std::uint64_t bytes) {
  if (to_ == nullptr) return;
  const bool packed = stride == bytes;
  for (std::uint64_t y = 0; y < (packed ? 1 : lines); ++y)
    dma_.written(output_.ram, output_.base + offset + y * stride, packed ? lines * bytes : bytes);
}

// Block (j, i) of input channels holds the output positions whose coordinates modulo the strides
// are (j, i).
void Rubik::contract(const RubikLayer& layer) {
  const std::uint64_t sx = layer.stride_x;
  const std::uint64_t line_bytes = layer.width * kAtom, out_bytes = line_bytes * sx;
  const std::uint64_t count = surfaces(layer, layer.channels_out);
  // The logic steps over its own lines; CONTRACT_STRIDE_1 steps only the reference model.
  const std::uint64_t step =
      quirks_ == Quirks::kCmodel ? layer.contract_stride[1] : layer.stride_y * layer.output.line;
  open(layer,
       (count - 1) * layer.input.surface + (layer.height - 1) * layer.input.line +
           (layer.stride_y * sx - 1) * layer.contract_stride[0] + line_bytes,
       (count - 1) * layer.output.surface + (layer.height - 1) * step +
           (layer.stride_y - 1) * layer.output.line + out_bytes);
  for (std::uint64_t surface = 0; surface < count; ++surface)
    for (std::uint64_t y = 0; y < layer.height; ++y)
      for (std::uint64_t j = 0; j < layer.stride_y; ++j) {
        const std::uint64_t at = surface * layer.output.surface + y * step + j * layer.output.line;
        std::byte* out = room(at, out_bytes);
        for (std::uint64_t i = 0; i < sx; ++i) {
          const std::byte* in = read(surface * layer.input.surface + y * layer.input.line +
                                         (j * sx + i) * layer.contract_stride[0],
                                     line_bytes);
          for (std::uint64_t x = 0; x < layer.width; ++x)
            std::memcpy(out + (x * sx + i) * kAtom, in + x * kAtom, kAtom);
        }
        wrote(at, out_bytes);
      }
  for (std::uint64_t surface = 0; surface < count; ++surface)
    for (std::uint64_t y = 0; y < layer.height; ++y)
      announce(surface * layer.output.surface + y * step, layer.output.line, layer.stride_y,
               out_bytes);
}

template <typename Element>
void Rubik::split(const RubikLayer& layer) {
  constexpr std::uint64_t kElements = kAtom / sizeof(Element);
  const std::uint64_t line_bytes = layer.width * kAtom, plane_bytes = planar_bytes(layer);
  const std::uint64_t count = surfaces(layer, layer.channels_in);
  open(layer,
       (count - 1) * layer.input.surface + (layer.height - 1) * layer.input.line + line_bytes,
       (layer.channels_in - 1) * layer.plane_out + (layer.height - 1) * layer.output.line +
           plane_bytes);
  for (std::uint64_t surface = 0; surface < count; ++surface)
    for (std::uint64_t y = 0; y < layer.height; ++y) {
      const std::byte* in = read(surface * layer.input.surface + y * layer.input.line, line_bytes);
      const std::uint64_t first = surface * kElements;
      for (std::uint64_t lane = 0; lane < std::min(kElements, layer.channels_in - first); ++lane) {
        const std::uint64_t at = (first + lane) * layer.plane_out + y * layer.output.line;
        std::byte* out = room(at, plane_bytes);
        const std::byte* from = in + lane * sizeof(Element);
        for (std::uint64_t x = 0; x < layer.width; ++x)
          std::memcpy(out + x * sizeof(Element), from + x * kAtom, sizeof(Element));
        // What follows the line in its last atom is written as 0.
        const std::uint64_t used = layer.width * sizeof(Element);
        std::memset(out + used, 0, plane_bytes - used);
        wrote(at, plane_bytes);
      }
    }
  for (std::uint64_t plane = 0; plane < layer.channels_out; ++plane)
    announce(plane * layer.plane_out, layer.output.line, layer.height, plane_bytes);
}

template <typename Element>
void Rubik::merge(const RubikLayer& layer) {
  constexpr std::uint64_t kElements = kAtom / sizeof(Element);
  const std::uint64_t line_bytes = layer.width * kAtom, plane_bytes = planar_bytes(layer);
  const std::uint64_t count = surfaces(layer, layer.channels_out);
  open(layer,
       (layer.channels_out - 1) * layer.plane_in + (layer.height - 1) * layer.input.line +
           plane_bytes,
       (count - 1) * layer.output.surface + (layer.height - 1) * layer.output.line + line_bytes);
  for (std::uint64_t surface = 0; surface < count; ++surface)
    for (std::uint64_t y = 0; y < layer.height; ++y) {
      const std::uint64_t at = surface * layer.output.surface + y * layer.output.line;
      std::byte* out = room(at, line_bytes);
      const std::uint64_t first = surface * kElements;
      const std::uint64_t lanes = std::min(kElements, layer.channels_out - first);
      // Lanes without a plane are written as 0.
      if (lanes != kElements) std::memset(out, 0, line_bytes);
      for (std::uint64_t lane = 0; lane < lanes; ++lane) {
        const std::byte* in =
            read((first + lane) * layer.plane_in + y * layer.input.line, plane_bytes);
        std::byte* to = out + lane * sizeof(Element);
        for (std::uint64_t x = 0; x < layer.width; ++x)
          std::memcpy(to + x * kAtom, in + x * sizeof(Element), sizeof(Element));
      }
      wrote(at, line_bytes);
    }
  for (std::uint64_t surface = 0; surface < count; ++surface)
    announce(surface * layer.output.surface, layer.output.line, layer.height, line_bytes);
}

bool Rubik::run(std::uint32_t& interrupts) {
  if (!stuck_.empty() || !registers_.running(NVDLA_UNIT_RBK)) return false;
  const RubikLayer layer = read_rubik(registers_.view(NVDLA_UNIT_RBK));
  stuck_ = rubik_fault(layer);
  if (!stuck_.empty()) return false;
  const bool bytes = layer.precision == Precision::kInt8;
  switch (layer.mode) {
    case RubikMode::kContract:
      contract(layer);
      break;
    case RubikMode::kSplit:
      bytes ? split<std::uint8_t>(layer) : split<std::uint16_t>(layer);
      break;
    case RubikMode::kMerge:
      bytes ? merge<std::uint8_t>(layer) : merge<std::uint16_t>(layer);
      break;
  }
  counters_.count(layer);
  interrupts = kRubikDone << registers_.consumer(NVDLA_UNIT_RBK);
  registers_.finish(NVDLA_UNIT_RBK);
  return true;
}

void Rubik::list_blocked(BlockedList& list) const {
  list.add_waiting_group(NVDLA_UNIT_RBK);
  if (!stuck_.empty()) list.add(NVDLA_UNIT_RBK, stuck_);
}

}  // namespace nvdla::model
