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

// Block (j, i) of input channels holds the output positions whose coordinates modulo the strides
// are (j, i).
void Rubik::contract(const RubikLayer& layer) {
  const std::uint64_t sx = layer.stride_x;
  const std::uint64_t line_bytes = layer.width * kAtom;
  in_.resize(line_bytes);
  out_.resize(line_bytes * sx);
  const std::uint64_t count = surfaces(layer, layer.channels_out);
  for (std::uint64_t surface = 0; surface < count; ++surface) {
    for (std::uint64_t y = 0; y < layer.height; ++y)
      for (std::uint64_t j = 0; j < layer.stride_y; ++j) {
        for (std::uint64_t i = 0; i < sx; ++i) {
          dma_.read(NVDLA_DMA_RUBIK_READ, layer.input.ram,
                    layer.input.at(surface, y) + (j * sx + i) * layer.contract_stride[0],
                    in_.data(), line_bytes);
          for (std::uint64_t x = 0; x < layer.width; ++x)
            std::memcpy(out_.data() + (x * sx + i) * kAtom, in_.data() + x * kAtom, kAtom);
        }
        // The logic steps over its own lines; CONTRACT_STRIDE_1 steps only the reference model.
        const std::uint64_t from_top = quirks_ == Quirks::kCmodel
                                           ? y * layer.contract_stride[1] + j * layer.output.line
                                           : (y * layer.stride_y + j) * layer.output.line;
        const std::uint64_t address = layer.output.at(surface, 0) + from_top;
        dma_.write(NVDLA_DMA_RUBIK_WRITE, layer.output.ram, address, out_.data(), out_.size());
        dma_.written(layer.output.ram, address, out_.size());
      }
  }
}

template <typename Element>
void Rubik::split(const RubikLayer& layer) {
  constexpr std::uint64_t kElements = kAtom / sizeof(Element);
  in_.resize(layer.width * kAtom);
  // What follows the line in its last atom is written as 0.
  out_.assign(planar_bytes(layer), std::byte{0});
  auto* out = reinterpret_cast<Element*>(out_.data());
  for (std::uint64_t surface = 0; surface < surfaces(layer, layer.channels_in); ++surface)
    for (std::uint64_t y = 0; y < layer.height; ++y) {
      dma_.read(NVDLA_DMA_RUBIK_READ, layer.input.ram, layer.input.at(surface, y), in_.data(),
                in_.size());
      const auto* in = reinterpret_cast<const Element*>(in_.data());
      const std::uint64_t first = surface * kElements;
      for (std::uint64_t lane = 0; lane < std::min(kElements, layer.channels_in - first); ++lane) {
        for (std::uint64_t x = 0; x < layer.width; ++x) out[x] = in[x * kElements + lane];
        const std::uint64_t address =
            layer.output.base + (first + lane) * layer.plane_out + y * layer.output.line;
        dma_.write(NVDLA_DMA_RUBIK_WRITE, layer.output.ram, address, out_.data(), out_.size());
        dma_.written(layer.output.ram, address, out_.size());
      }
    }
}

template <typename Element>
void Rubik::merge(const RubikLayer& layer) {
  constexpr std::uint64_t kElements = kAtom / sizeof(Element);
  in_.resize(planar_bytes(layer));
  const auto* in = reinterpret_cast<const Element*>(in_.data());
  for (std::uint64_t surface = 0; surface < surfaces(layer, layer.channels_out); ++surface)
    for (std::uint64_t y = 0; y < layer.height; ++y) {
      // Lanes without a plane are written as 0.
      out_.assign(layer.width * kAtom, std::byte{0});
      auto* out = reinterpret_cast<Element*>(out_.data());
      const std::uint64_t first = surface * kElements;
      for (std::uint64_t lane = 0; lane < std::min(kElements, layer.channels_out - first); ++lane) {
        dma_.read(NVDLA_DMA_RUBIK_READ, layer.input.ram,
                  layer.input.base + (first + lane) * layer.plane_in + y * layer.input.line,
                  in_.data(), in_.size());
        for (std::uint64_t x = 0; x < layer.width; ++x) out[x * kElements + lane] = in[x];
      }
      const std::uint64_t address = layer.output.at(surface, y);
      dma_.write(NVDLA_DMA_RUBIK_WRITE, layer.output.ram, address, out_.data(), out_.size());
      dma_.written(layer.output.ram, address, out_.size());
    }
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
