// SPDX-License-Identifier: MIT
#include "model/sdp/sdp_operands.hpp"

#include <algorithm>

#include "model/simd/unit_kernels.hpp"
#include "support/float.hpp"
#include "support/integers.hpp"

namespace nvdla::model {
namespace {

using arith::magnitude;

constexpr nvdla_dma kClients[3] = {NVDLA_DMA_SDP_BRDMA, NVDLA_DMA_SDP_NRDMA, NVDLA_DMA_SDP_ERDMA};

std::uint64_t largest(const std::vector<std::int32_t>& values) noexcept {
  std::int32_t low = 0, high = 0;
  for (const std::int32_t value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return std::max(magnitude(low), magnitude(high));
}

}  // namespace

void SdpOperands::begin(const SdpLayer& layer, unsigned index, std::uint32_t padded_channels) {
  const OperandPart& alu = index < 2 ? layer.x[index].alu : layer.y.alu;
  const OperandPart& mul = index < 2 ? layer.x[index].mul : layer.y.mul;
  layer_ = &layer;
  index_ = index;
  padded_channels_ = padded_channels;
  column_ = hw_.atom / precision_bytes(layer.proc);
  float_ = layer.proc == Precision::kFp16;
  has_alu_ = alu.active && alu.from_memory;
  has_mul_ = mul.active && mul.from_memory;
  alu_shift_ = index < 2 ? layer.x[index].alu_shift : 0;
  dma_layer_ = has_alu_ || has_mul_ ? &layer.rdma.operands[index] : nullptr;

  const std::size_t channels = (std::size_t{padded_channels} + kBlock - 1) / kBlock * kBlock;
  // Operands of the registers are per channel like any others. EW takes its own unconverted.
  const auto fill = [&](std::vector<std::int32_t>& values, std::int32_t value, unsigned shift) {
    if (float_ && index < 2)
      value = static_cast<std::int32_t>(fp::widen<fp::Fp32>(
          layer.flush_nan ? fp::flush_nan<fp::Fp16>(static_cast<std::uint16_t>(value))
                          : static_cast<std::uint16_t>(value)));
    values.assign(channels, value);
    if (!float_ && shift != 0)
      kernels_.sdp_shift(values.data(), static_cast<unsigned>(channels), shift);
  };
  alu_.clear();
  mul_.clear();
  if (alu.active && !alu.from_memory) fill(alu_, alu.value, alu_shift_);
  if (mul.active && !mul.from_memory) fill(mul_, mul.value, 0);
  if (dma_layer_ != nullptr && !dma_layer_->per_element) {
    const Range range = channel_range(layer, index, padded_channels);
    raw_.resize(std::max<std::size_t>(raw_.size(), range.size));
    dma_.read(kClients[index], range.ram, range.base, raw_.data(), range.size);
    // Channels of whole blocks are positions for once.
    const auto widen = [&](std::vector<std::int32_t>& values, unsigned part) {
      values.resize(channels);
      SdpElements from{raw_.data(), padded_channels / kBlock, kBlock, parts(),
                       part,        dma_layer_->two_bytes};
      load(from, values.data());
      const std::size_t done = std::size_t{from.count} * kBlock;
      for (std::size_t at = done; at < padded_channels; at += column_) {
        from.data = raw_.data() + at * parts() * (dma_layer_->two_bytes ? 2 : 1);
        from.count = 1;
        from.lanes = column_;
        load(from, values.data() + at);
      }
      std::fill(values.begin() + padded_channels, values.end(), 0);
    };
    if (has_alu_) {
      widen(alu_, 0);
      finish_alu(alu_.data(), padded_channels);
    }
    if (has_mul_) {
      widen(mul_, parts() - 1);
      finish_mul(mul_.data(), padded_channels);
    }
  }

  // The values of per-element operands are not known yet, only their range.
  const auto limit = [&](const OperandConverter* converter, unsigned shift) -> std::uint64_t {
    constexpr std::uint64_t kAny = std::uint64_t{1} << 31;
    const auto value = static_cast<std::uint64_t>(element_limit());
    if (converter == nullptr || converter->bypass)
      return shift > 31 ? kAny : std::min(kAny, value << shift);
    const std::uint64_t product =
        (value + magnitude(converter->offset)) * magnitude(converter->scale);
    return std::min<std::uint64_t>(
        kAny, static_cast<std::uint64_t>(arith::round_shift(
                  static_cast<std::int64_t>(product), static_cast<int>(converter->truncate))));
  };
  const bool elements = per_element();
  largest_alu_ = elements && has_alu_
                     ? limit(index == 2 ? &layer.y.alu_converter : nullptr, alu_shift_)
                     : largest(alu_);
  largest_mul_ = elements && has_mul_ ? limit(index == 2 ? &layer.y.mul_converter : nullptr, 0)
                                      : largest(mul_);
}

void SdpOperands::open() {
  window_ = nullptr;
  if (!per_element()) return;
  // A cube of one position has meaningless strides.
  cube_ = {.memory = dma_layer_->memory,
           .surfaces = padded_channels_ / column_,
           .height = layer_->height,
           .line_bytes = std::uint64_t{layer_->width} * position_bytes(),
           .single = layer_->width == 1 && layer_->height == 1};
  window_ = dma_.window(cube_.memory.ram, cube_.memory.base, cube_.extent(), false);
}

SdpOperands::Range SdpOperands::channel_range(const SdpLayer& layer, unsigned index,
                                              std::uint32_t padded_channels) noexcept {
  const OperandPart& alu = index < 2 ? layer.x[index].alu : layer.y.alu;
  const OperandPart& mul = index < 2 ? layer.x[index].mul : layer.y.mul;
  const std::uint64_t parts = (alu.active && alu.from_memory) + (mul.active && mul.from_memory);
  const OperandDma& dma = layer.rdma.operands[index];
  if (parts == 0 || dma.per_element) return {};
  return {dma.memory.ram, dma.memory.base, padded_channels * parts * (dma.two_bytes ? 2 : 1)};
}

void SdpOperands::load(const SdpElements& from, std::int32_t* to) const {
  float_ ? kernels_.units->sdp_load_half(from, to, layer_->flush_nan)
         : kernels_.sdp_widen(from, to);
}

void SdpOperands::finish_alu(std::int32_t* values, unsigned count) const {
  if (float_) return;  // shifts and converters are for integers
  if (alu_shift_ != 0) kernels_.sdp_shift(values, count, alu_shift_);
  if (index_ == 2) convert(values, count, layer_->y.alu_converter);
}

void SdpOperands::finish_mul(std::int32_t* values, unsigned count) const {
  if (!float_ && index_ == 2) convert(values, count, layer_->y.mul_converter);
}

void SdpOperands::convert(std::int32_t* values, unsigned count,
                          const OperandConverter& converter) const {
  if (converter.bypass) return;
  kernels_.sdp_operand(values, count,
                       {converter.offset, converter.scale,
                        static_cast<std::uint8_t>(converter.truncate), element_limit()});
}

void SdpOperands::fetch(unsigned block, unsigned columns, std::uint32_t first, unsigned count,
                        Tile& tile) {
  const Surface& memory = dma_layer_->memory;
  const unsigned bytes = position_bytes();
  const std::size_t values = std::size_t{count} * kBlock;
  const auto prepare = [&](std::vector<std::int32_t>& operands) {
    operands.resize(std::max(operands.size(), values));
    // Lanes that no column fills are shifted and converted like the others.
    if (columns * column_ != kBlock) std::fill_n(operands.begin(), values, 0);
  };
  if (has_alu_) prepare(tile.alu);
  if (has_mul_) prepare(tile.mul);
  tile.raw.resize(std::max(tile.raw.size(), std::size_t{count} * bytes));
  const bool packed = memory.line == std::uint64_t{layer_->width} * bytes;
  for (unsigned column = 0; column < columns; ++column) {
    const std::uint64_t number = block * (kBlock / column_) + column;
    const std::uint64_t surface = number * (cube_.single ? bytes : memory.surface);
    for_each_row(
        layer_->width, packed, first, count,
        [&](std::uint32_t y, std::uint32_t x, unsigned at, unsigned part) {
          const std::uint64_t offset = surface + y * memory.line + std::uint64_t{x} * bytes;
          SdpElements from{window_ != nullptr
                               ? window_ + offset
                               : dma_.view(kClients[index_], memory.ram, memory.base + offset,
                                           std::uint64_t{part} * bytes, tile.raw.data()),
                           part,
                           column_,
                           parts(),
                           0,
                           dma_layer_->two_bytes};
          const std::size_t to = std::size_t{at} * kBlock + column * column_;
          if (has_alu_) load(from, tile.alu.data() + to);
          from.part = parts() - 1;
          if (has_mul_) load(from, tile.mul.data() + to);
        });
  }
  if (has_alu_) finish_alu(tile.alu.data(), static_cast<unsigned>(values));
  if (has_mul_) finish_mul(tile.mul.data(), static_cast<unsigned>(values));
}

SdpOperand SdpOperands::operand(const std::vector<std::int32_t>& channels, bool in_memory,
                                const std::vector<std::int32_t>& elements,
                                unsigned block) const noexcept {
  if (in_memory && dma_layer_->per_element) return {elements.data(), kBlock};
  const std::size_t at = std::size_t{block} * kBlock;
  if (at >= channels.size()) return {nullptr, 0};  // not used by this layer
  return {channels.data() + at, 0};
}

}  // namespace nvdla::model
