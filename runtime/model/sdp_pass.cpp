// SPDX-License-Identifier: MIT
#include "model/sdp_pass.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "arith/float.hpp"
#include "arith/integers.hpp"

namespace nvdla::model {
namespace {

constexpr nvdla_dma kClients[3] = {NVDLA_DMA_SDP_BRDMA, NVDLA_DMA_SDP_NRDMA, NVDLA_DMA_SDP_ERDMA};

std::int32_t shift_left(std::int32_t value, unsigned shift) {
  return arith::saturate32(static_cast<arith::Wide>(value) << shift);
}

// EW's converter of memory operands: the shift rounds half away from zero.
std::int32_t convert(std::int32_t value, const OperandConverter& converter) {
  if (converter.bypass) return value;
  const arith::Wide product =
      static_cast<arith::Wide>(std::int64_t{value} - converter.offset) * converter.scale;
  return arith::saturate32(arith::round_shift(product, static_cast<int>(converter.truncate)));
}

// As fp32, which every operand and input is in fp16 processing.
std::int32_t from_fp16(std::uint32_t value, bool flush_nan) {
  return static_cast<std::int32_t>(
      fp::widen<fp::Fp32>(flush_nan ? fp::flush_nan<fp::Fp16>(value) : value));
}

// Calls `row(y, x, at, count)` for each part of a range of positions that lies in one line.
template <typename Row>
void for_each_row(std::uint32_t width, std::uint32_t first, unsigned count, Row row) {
  std::uint32_t y = first / width;
  std::uint32_t x = first % width;
  for (unsigned at = 0; at < count;) {
    const unsigned part = std::min<std::uint32_t>(count - at, width - x);
    row(y, x, at, part);
    at += part;
    x = 0;
    ++y;
  }
}

}  // namespace

SdpPass::SdpPass(const nvdla_hw& hw, Dma& dma, const Kernels& kernels)
    : hw_(hw),
      dma_(dma),
      kernels_(kernels),
      // The widest column: four bytes for each channel of a block.
      raw_(std::size_t{kPositions} * kBlock * 4),
      out8_(std::size_t{kPositions} * kBlock),
      out16_(std::size_t{kPositions} * kBlock),
      values_(std::size_t{kPositions} * kBlock) {}

unsigned SdpPass::lanes(unsigned block) const noexcept {
  return std::min<std::uint32_t>(kBlock, padded_channels_ - block * kBlock);
}

void SdpPass::begin(const SdpLayer& layer, AtomSink* sink) {
  layer_ = layer;
  sink_ = sink;
  column_ = hw_.atom / precision_bytes(layer.proc);
  padded_channels_ = (layer.channels + column_ - 1) / column_ * column_;
  // The second generation has no batches, whatever the register says.
  batches_ = hw_.regmap == NVDLA_REGMAP_NV_FULL ? layer.batches : 1;
  batch_ = 0;
  float_ = layer.proc == Precision::kFp16;
  single_ = layer.width == 1 && layer.height == 1;
  single_output_ = single_ && batches_ == 1;
  counters_ = {};
  prepare(operands_[0], layer.x[0].alu, layer.x[0].mul, 0);
  prepare(operands_[1], layer.x[1].alu, layer.x[1].mul, 1);
  prepare(operands_[2], layer.y.alu, layer.y.mul, 2);
}

void SdpPass::prepare(Operand& operand, const OperandPart& alu, const OperandPart& mul,
                      unsigned index) {
  operand.has_alu = alu.active && alu.from_memory;
  operand.has_mul = mul.active && mul.from_memory;
  operand.alu_shift = index < 2 ? layer_.x[index].alu_shift : 0;
  operand.alu_converter = index == 2 ? &layer_.y.alu_converter : nullptr;
  operand.mul_converter = index == 2 ? &layer_.y.mul_converter : nullptr;
  operand.from_memory = operand.has_alu || operand.has_mul;
  operand.per_element = false;
  const std::size_t channels = std::size_t{blocks()} * kBlock;
  // Operands of the registers are per channel like any others. EW takes its own unconverted.
  const auto from_register = [&](std::int32_t value, unsigned shift) {
    if (!float_) return shift_left(value, shift);
    return index < 2 ? from_fp16(static_cast<std::uint16_t>(value), layer_.flush_nan) : value;
  };
  if (alu.active && !alu.from_memory)
    operand.alu.assign(channels, from_register(alu.value, operand.alu_shift));
  if (mul.active && !mul.from_memory) operand.mul.assign(channels, from_register(mul.value, 0));
  if (!operand.from_memory) return;

  operand.dma = &layer_.rdma.operands[index];
  operand.client = kClients[index];
  operand.components = operand.has_alu && operand.has_mul ? 2 : 1;
  operand.bytes = operand.dma->two_bytes ? 2 : 1;
  operand.per_element = operand.dma->per_element;
  const std::size_t values = operand.per_element ? std::size_t{kPositions} * kBlock : channels;
  if (operand.has_alu) operand.alu.assign(values, 0);
  if (operand.has_mul) operand.mul.assign(values, 0);
  if (operand.per_element) return;
  const std::size_t bytes = std::size_t{padded_channels_} * operand.components * operand.bytes;
  std::vector<std::byte> raw(bytes);
  dma_.read(operand.client, operand.dma->memory.ram, operand.dma->memory.base, raw.data(), bytes);
  decode(operand, raw.data(), padded_channels_, 0);
}

void SdpPass::decode(Operand& operand, const std::byte* raw, unsigned count, std::size_t at) const {
  const auto element = [&](std::size_t index) -> std::int32_t {
    if (operand.bytes == 1) return static_cast<std::int8_t>(raw[index]);
    std::int16_t value;
    std::memcpy(&value, raw + index * 2, sizeof(value));
    if (float_) return from_fp16(static_cast<std::uint16_t>(value), layer_.flush_nan);
    return value;
  };
  // Shifts and converters are for integers.
  const unsigned components = operand.components;
  if (operand.has_alu) {
    std::int32_t* to = operand.alu.data() + at;
    for (unsigned i = 0; i < count; ++i) to[i] = element(std::size_t{i} * components);
    if (operand.alu_shift != 0 && !float_)
      for (unsigned i = 0; i < count; ++i) to[i] = shift_left(to[i], operand.alu_shift);
    if (operand.alu_converter != nullptr && !float_)
      for (unsigned i = 0; i < count; ++i) to[i] = convert(to[i], *operand.alu_converter);
  }
  if (operand.has_mul) {
    std::int32_t* to = operand.mul.data() + at;
    // With two components the addend comes first.
    for (unsigned i = 0; i < count; ++i)
      to[i] = element(std::size_t{i} * components + (components - 1));
    if (operand.mul_converter != nullptr && !float_)
      for (unsigned i = 0; i < count; ++i) to[i] = convert(to[i], *operand.mul_converter);
  }
}

void SdpPass::fetch(Operand& operand, unsigned block, std::uint32_t first, unsigned count) {
  const Surface& memory = operand.dma->memory;
  const unsigned bytes = column_ * operand.components * operand.bytes;
  const unsigned columns = lanes(block) / column_;
  for (unsigned column = 0; column < columns; ++column) {
    const std::uint64_t number = block * (kBlock / column_) + column;
    for_each_row(
        layer_.width, first, count,
        [&](std::uint32_t y, std::uint32_t x, unsigned at, unsigned part) {
          const std::uint64_t address =
              memory.base +
              (single_ ? number * bytes
                       : number * memory.surface + y * memory.line + std::uint64_t{x} * bytes);
          dma_.read(operand.client, memory.ram, address, raw_.data(), std::uint64_t{part} * bytes);
          for (unsigned i = 0; i < part; ++i)
            decode(operand, raw_.data() + std::size_t{i} * bytes, column_,
                   std::size_t{at + i} * kBlock + column * column_);
        });
  }
}

SdpOperand SdpPass::alu_of(const Operand& operand, unsigned block) const noexcept {
  const bool tile = operand.per_element && operand.has_alu;
  const std::size_t at = tile ? 0 : std::size_t{block} * kBlock;
  if (at >= operand.alu.size()) return {nullptr, 0};  // not used by this layer
  return {operand.alu.data() + at, tile ? kBlock : 0};
}

SdpOperand SdpPass::mul_of(const Operand& operand, unsigned block) const noexcept {
  const bool tile = operand.per_element && operand.has_mul;
  const std::size_t at = tile ? 0 : std::size_t{block} * kBlock;
  if (at >= operand.mul.size()) return {nullptr, 0};
  return {operand.mul.data() + at, tile ? kBlock : 0};
}

void SdpPass::tile(std::int32_t* values, unsigned block, std::uint32_t first, unsigned count) {
  const unsigned used = lanes(block);
  for (Operand& operand : operands_)
    if (operand.from_memory && operand.per_element) fetch(operand, block, first, count);

  if (float_ && layer_.flush_nan) sdp_flush_nan(values, count, used);

  for (unsigned i = 0; i < 2; ++i) {
    const OperatorX& x = layer_.x[i];
    if (!x.active) continue;
    const SdpX unit{true,
                    x.algorithm,
                    x.mul.active,
                    x.prelu,
                    x.relu,
                    static_cast<std::uint8_t>(x.mul_shift),
                    alu_of(operands_[i], block),
                    mul_of(operands_[i], block)};
    (float_ ? sdp_x_float : kernels_.sdp_x)(values, count, used, unit);
  }
  if (layer_.y.active) {
    const OperatorY& y = layer_.y;
    const SdpOperand alu = alu_of(operands_[2], block);
    const SdpY unit{true,
                    y.mul.active,
                    y.prelu,
                    static_cast<std::uint16_t>(y.truncate),
                    y.algorithm,
                    alu,
                    mul_of(operands_[2], block)};
    (float_ ? sdp_y_float : kernels_.sdp_y)(values, count, used, unit);
    if (y.equal) {
      for (unsigned position = 0; position < count; ++position)
        for (unsigned lane = 0; lane < used; ++lane)
          counters_.unequal |= values[position * kBlock + lane] !=
                               alu.values[std::size_t{position} * alu.stride + lane];
      return;  // nothing is written
    }
    if (y.lut) (float_ ? sdp_lut_float : sdp_lut)(values, count, used, layer_.table, counters_.lut);
  }
  deliver(values, block, first, count);
}

void SdpPass::deliver(std::int32_t* values, unsigned block, std::uint32_t first, unsigned count) {
  const unsigned used = lanes(block);
  const bool to_fp16 = layer_.out == Precision::kFp16;
  if (float_) {
    if (to_fp16) {
      const SdpOutputCounts counts = sdp_float_to_fp16(values, count, used, out16_.data());
      counters_.nan_out += counts.nan;
      counters_.saturated += counts.largest;
    } else {
      sdp_float_to_int16(values, count, used, out16_.data());
    }
    store(out16_.data(), block, first, count);
    return;
  }
  const bool identity = layer_.offset == 0 && layer_.scale == 1 && layer_.shift == 0;
  const SdpConverter converter{layer_.offset, layer_.scale, static_cast<std::uint8_t>(layer_.shift),
                               layer_.count_saturation && !to_fp16,
                               hw_.regmap == NVDLA_REGMAP_NV_FULL};
  if (layer_.out == Precision::kInt8 && !identity && !layer_.count_saturation) {
    kernels_.convert_to_int8(values, count, converter, out8_.data());
    store(out8_.data(), block, first, count);
    return;
  }
  // Narrowing saturates by itself; without the counter an identity converter changes nothing. To
  // fp16 the 17 bits matter, and what is counted are its results.
  if (!identity || layer_.count_saturation || to_fp16)
    counters_.saturated += kernels_.sdp_convert(values, count, used, converter);
  if (to_fp16) {
    counters_.saturated += sdp_int_to_fp16(values, count, used, out16_.data()).largest;
    store(out16_.data(), block, first, count);
  } else if (layer_.out == Precision::kInt8) {
    kernels_.to_int8(values, count, out8_.data());
    store(out8_.data(), block, first, count);
  } else {
    kernels_.to_int16(values, count, out16_.data());
    store(out16_.data(), block, first, count);
  }
}

template <typename Element>
void SdpPass::store(const Element* elements, unsigned block, std::uint32_t first, unsigned count) {
  const Surface& memory = layer_.destination;
  const unsigned atom_elements = hw_.atom / sizeof(Element);
  const unsigned atoms = lanes(block) / atom_elements;
  for (unsigned atom = 0; atom < atoms; ++atom) {
    const std::uint64_t surface = block * (kBlock / atom_elements) + atom;
    for_each_row(
        layer_.width, first, count,
        [&](std::uint32_t y, std::uint32_t x, unsigned at, unsigned part) {
          const std::uint64_t address =
              memory.base + batch_ * layer_.batch_stride +
              (single_output_
                   ? surface * hw_.atom
                   : surface * memory.surface + y * memory.line + std::uint64_t{x} * hw_.atom);
          const Element* from = elements + std::size_t{at} * kBlock + atom * atom_elements;
          if (atom_elements != kBlock) {
            for (unsigned i = 0; i < part; ++i)
              std::memcpy(raw_.data() + std::size_t{i} * hw_.atom, from + std::size_t{i} * kBlock,
                          hw_.atom);
            from = reinterpret_cast<const Element*>(raw_.data());
          }
          if (sink_ != nullptr) {
            sink_->take(surface, y, x, from, part);
            return;
          }
          dma_.write(NVDLA_DMA_SDP_WDMA, memory.ram, address, from, std::uint64_t{part} * hw_.atom);
        });
  }
}

void SdpPass::load(const std::byte* raw, unsigned count, std::int32_t* to) const {
  if (layer_.rdma.in == Precision::kInt8) {
    for (unsigned lane = 0; lane < count; ++lane) to[lane] = static_cast<std::int8_t>(raw[lane]);
    return;
  }
  for (unsigned lane = 0; lane < count; ++lane) {
    std::int16_t value;
    std::memcpy(&value, raw + lane * 2, sizeof(value));
    // NaNs are flushed later, together with those of a convolution.
    to[lane] = float_ ? from_fp16(static_cast<std::uint16_t>(value), false) : value;
  }
}

// The elements that are in raw_.
void SdpPass::count_input(unsigned count) {
  std::uint16_t elements[kBlock];
  for (unsigned at = 0; at < count; at += kBlock) {
    const unsigned part = std::min(kBlock, count - at);
    std::memcpy(elements, raw_.data() + std::size_t{at} * 2, std::size_t{part} * 2);
    const fp::Specials specials = fp::count_specials({elements, part});
    counters_.nan_in += specials.nan;
    counters_.infinite_in += specials.infinite;
  }
}

void SdpPass::run_from_memory() {
  const Surface& memory = layer_.rdma.source;
  const unsigned bytes = precision_bytes(layer_.rdma.in);
  const unsigned atom_elements = hw_.atom / bytes;
  const std::uint32_t positions = layer_.width * layer_.height;
  for (unsigned block = 0; block < blocks(); ++block) {
    for (std::uint32_t first = 0; first < positions; first += kPositions) {
      const unsigned count = std::min<std::uint32_t>(kPositions, positions - first);
      for (unsigned atom = 0; atom < lanes(block) / atom_elements; ++atom) {
        const std::uint64_t surface = block * (kBlock / atom_elements) + atom;
        for_each_row(layer_.width, first, count,
                     [&](std::uint32_t y, std::uint32_t x, unsigned at, unsigned part) {
                       const std::uint64_t address =
                           memory.base + (single_ ? surface * hw_.atom
                                                  : surface * memory.surface + y * memory.line +
                                                        std::uint64_t{x} * hw_.atom);
                       dma_.read(NVDLA_DMA_SDP_RDMA, memory.ram, address, raw_.data(),
                                 std::uint64_t{part} * hw_.atom);
                       if (layer_.rdma.count_specials && layer_.rdma.in == Precision::kFp16)
                         count_input(part * atom_elements);
                       for (unsigned i = 0; i < part; ++i)
                         load(raw_.data() + std::size_t{i} * hw_.atom, atom_elements,
                              values_.data() + std::size_t{at + i} * kBlock + atom * atom_elements);
                     });
      }
      tile(values_.data(), block, first, count);
    }
  }
}

SdpCounters SdpPass::end() {
  const unsigned atom_elements = hw_.atom / precision_bytes(layer_.out);
  const std::uint64_t surfaces = padded_channels_ / atom_elements;
  const Surface& memory = layer_.destination;
  const std::uint64_t line_bytes = std::uint64_t{layer_.width} * hw_.atom;
  if (layer_.y.equal || sink_ != nullptr) return counters_;
  if (single_output_) {
    dma_.written(memory.ram, memory.base, surfaces * hw_.atom);
    return counters_;
  }
  for (std::uint64_t batch = 0; batch < batches_; ++batch)
    for (std::uint64_t surface = 0; surface < surfaces; ++surface)
      announce_lines(dma_, memory.ram,
                     memory.base + batch * layer_.batch_stride + surface * memory.surface,
                     memory.line, layer_.height, line_bytes);
  return counters_;
}

}  // namespace nvdla::model
