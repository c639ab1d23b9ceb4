// SPDX-License-Identifier: MIT
#include "model/cdp_pass.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "arith/float.hpp"
#include "arith/integers.hpp"
#include "model/lut_tables.hpp"

namespace nvdla::model {
namespace {

using fp::Fp16;
using fp::Fp17;
using fp::Fp32;

constexpr unsigned kColumns = 32;
constexpr unsigned kMostReach = 4;
// Of a fraction only these bits take part.
constexpr unsigned kFractionBits = 16;

template <typename Integer>
std::int64_t saturate(Integer value, unsigned bits) {
  const Integer limit = Integer{1} << (bits - 1);
  return static_cast<std::int64_t>(std::clamp<Integer>(value, -limit, limit - 1));
}

std::uint64_t short_fraction(std::uint64_t fraction) { return fraction >> (64 - kFractionBits); }

// Documented OFFSETs of integer tables end at 36. From here on every slope but 0 saturates, and
// what it is a slope of fits the arithmetic.
constexpr int kMostBias = 62;

std::int64_t interpolate(const LutTable& table, const LutPlace& place, std::int64_t x) {
  if (place.side == LutSide::kHit) {
    const std::int64_t low = table.entries[place.index];
    const std::int64_t high = table.entries[place.index + 1];
    const auto fraction = static_cast<std::int64_t>(short_fraction(place.fraction));
    return saturate(low + arith::round_shift((high - low) * fraction, kFractionBits), 16);
  }
  const bool under = place.side == LutSide::kUnderflow;
  arith::Wide distance = arith::Wide{x} - (under ? table.start : table.end);
  if (under && table.exponential && table.offset >= 0)
    distance -= arith::Wide{1} << std::min(table.offset, kMostBias);
  const arith::Wide slope = under ? table.underflow_scale : table.overflow_scale;
  const int shift = under ? table.underflow_shift : table.overflow_shift;
  const std::int64_t step = saturate(arith::round_shift(distance * slope, shift), 56);
  return saturate(arith::Wide{table.entries[under ? 0 : table.last]} + step, 16);
}

std::uint32_t half_bits(std::int16_t entry) { return static_cast<std::uint16_t>(entry); }

// `x` is fp32, the result fp17.
std::uint32_t interpolate_fp(const LutTable& table, const LutPlace& place, std::uint32_t x) {
  if (place.side == LutSide::kHit) {
    const std::uint32_t low = half_bits(table.entries[place.index]);
    const std::uint32_t high = half_bits(table.entries[place.index + 1]);
    const std::uint32_t rise =
        fp::fp32_to_fp17(fp::sub<Fp32>(fp::widen<Fp32>(high), fp::widen<Fp32>(low)));
    const std::uint32_t fraction =
        fp::from_integer<Fp17>(short_fraction(place.fraction), -static_cast<int>(kFractionBits));
    // The product is the first operand, which decides the sign of an exact zero.
    return fp::add<Fp17>(fp::mul<Fp17>(rise, fraction), fp::widen<Fp17>(low));
  }
  const bool under = place.side == LutSide::kUnderflow;
  std::uint32_t anchor = static_cast<std::uint32_t>(under ? table.start : table.end);
  if (under && table.exponential)
    anchor = fp::add<Fp32>(anchor, fp::from_integer<Fp32>(1, table.offset));
  const std::uint32_t distance = fp::fp32_to_fp17(fp::sub<Fp32>(x, anchor));
  const std::uint32_t slope =
      fp::widen<Fp17>(half_bits(under ? table.underflow_scale : table.overflow_scale));
  return fp::add<Fp17>(fp::widen<Fp17>(half_bits(table.entries[under ? 0 : table.last])),
                       fp::mul<Fp17>(distance, slope));
}

CdpConverter kernel_converter(const Converter& converter) noexcept {
  return {converter.offset, converter.scale, converter.shift};
}

}  // namespace

void CdpPass::count_place(LutSide le, LutSide lo) noexcept {
  if (le == lo) {
    switch (le) {
      case LutSide::kUnderflow:
        ++counters_.underflow;
        return;
      case LutSide::kOverflow:
        ++counters_.overflow;
        return;
      case LutSide::kHit:
        ++counters_.hybrid;
        return;
    }
  }
  if (le == LutSide::kHit) {
    ++counters_.le_hit;
  } else if (lo == LutSide::kHit) {
    ++counters_.lo_hit;
  } else {
    ++counters_.hybrid;
  }
}

template <typename Element>
void CdpPass::normalise_int(const CdpLayer& layer, std::byte* column) {
  constexpr bool kBytes = sizeof(Element) == 1;
  constexpr unsigned kInBits = kBytes ? 9 : 17;
  constexpr unsigned kOutBits = kBytes ? 8 : 16;
  auto* elements = reinterpret_cast<Element*>(column);
  const std::size_t lanes = column_bytes_ / sizeof(Element);
  const std::size_t channels = layer.rdma.channels;
  std::int64_t* values = values_.data() + kMostReach;
  std::int64_t* squares = squares_.data() + kMostReach;
  // Lanes beyond the last channel are zeros after the converter.
  for (std::size_t c = 0; c < channels; ++c)
    values[c] = saturate(arith::round_shift((elements[c] - layer.in.offset) * layer.in.scale,
                                            static_cast<int>(layer.in.shift)),
                         kInBits);
  for (std::size_t c = 0; c < channels; ++c) squares[c] = values[c] * values[c];

  const int reach = static_cast<int>(layer.reach);
  for (std::size_t c = 0; c < lanes; ++c) {
    std::int64_t index = values[c];
    if (!layer.bypass_square_sum) {
      index = 0;
      for (int i = -reach; i <= reach; ++i) index += squares[static_cast<std::ptrdiff_t>(c) + i];
    }
    const LutPlace le = lut_find(layer.lut.le, index);
    const LutPlace lo = lut_find(layer.lut.lo, index);
    count_place(le.side, lo.side);
    std::int64_t result = lut_choose_lo(layer.lut, le.side, lo.side)
                              ? interpolate(layer.lut.lo, lo, index)
                              : interpolate(layer.lut.le, le, index);
    if (!layer.bypass_multiplier) result *= values[c];
    // 50 bits at most.
    const std::int64_t product = (result - layer.out.offset) * layer.out.scale;
    const std::int64_t rounded = arith::round_shift(product, static_cast<int>(layer.out.shift));
    const std::int64_t out = saturate(rounded, kOutBits);
    // What is counted is compared with what truncation gives; a difference of one passes.
    const std::int64_t off = (product >> layer.out.shift) - out;
    counters_.saturated += off > 1 || off < -1 ? 1 : 0;
    elements[c] = static_cast<Element>(out);
  }
}

void CdpPass::normalise_fp16(const CdpLayer& layer, std::byte* column) {
  auto* elements = reinterpret_cast<std::uint16_t*>(column);
  const std::size_t lanes = column_bytes_ / sizeof(*elements);
  const fp::Specials in = fp::count_specials({elements, lanes});
  counters_.nan_in += in.nan;
  counters_.infinite_in += in.infinite;
  const std::size_t channels = layer.rdma.channels;
  std::uint32_t* values = fp_values_.data() + kMostReach;
  std::uint32_t* squares = fp_squares_.data() + kMostReach;
  for (std::size_t c = 0; c < channels; ++c) {
    const std::uint32_t element = layer.flush_nan ? fp::flush_nan<Fp16>(elements[c]) : elements[c];
    values[c] = fp::widen<Fp17>(element);
    const std::uint32_t wide = fp::fp17_to_fp32(values[c]);
    squares[c] = fp::mul<Fp32>(wide, wide);
  }

  const int reach = static_cast<int>(layer.reach);
  for (std::size_t c = 0; c < lanes; ++c) {
    const auto at = static_cast<std::ptrdiff_t>(c);
    std::uint32_t index;
    if (layer.bypass_square_sum) {
      index = fp::fp17_to_fp32(values[c]);
    } else {
      index = fp::add<Fp32>(fp::add<Fp32>(squares[at - 1], squares[at + 1]), squares[at]);
      for (int i = 2; i <= reach; ++i)
        index = fp::add<Fp32>(index, fp::add<Fp32>(squares[at - i], squares[at + i]));
    }
    const LutPlace le = lut_find_fp(layer.lut.le, index);
    const LutPlace lo = lut_find_fp(layer.lut.lo, index);
    count_place(le.side, lo.side);
    std::uint32_t result = lut_choose_lo(layer.lut, le.side, lo.side)
                               ? interpolate_fp(layer.lut.lo, lo, index)
                               : interpolate_fp(layer.lut.le, le, index);
    if (!layer.bypass_multiplier) {
      // Of two NaNs that of the input stays.
      result = fp::mul<Fp17>(values[c], result);
    } else if (fp::is_nan<Fp17>(values[c])) {
      result = values[c];
    }
    const std::uint16_t out = fp::narrow<Fp17>(result);
    counters_.nan_out += fp::is_nan<Fp16>(out) ? 1 : 0;
    elements[c] = out;
  }
}

void CdpPass::gather(const CdpLayer& layer, std::uint32_t y, std::uint32_t x, unsigned count) {
  const Surface& source = layer.rdma.source;
  for (std::uint64_t surface = 0; surface < surfaces_; ++surface) {
    dma_.read(NVDLA_DMA_CDP_RDMA, source.ram, source.at(surface, y) + std::uint64_t{x} * hw_.atom,
              run_.data(), std::uint64_t{count} * hw_.atom);
    for (unsigned i = 0; i < count; ++i)
      std::memcpy(columns_.data() + i * column_bytes_ + surface * hw_.atom,
                  run_.data() + std::size_t{i} * hw_.atom, hw_.atom);
  }
}

void CdpPass::scatter(const CdpLayer& layer, std::uint32_t y, std::uint32_t x, unsigned count) {
  const Surface& destination = layer.destination;
  for (std::uint64_t surface = 0; surface < surfaces_; ++surface) {
    for (unsigned i = 0; i < count; ++i)
      std::memcpy(run_.data() + std::size_t{i} * hw_.atom,
                  columns_.data() + i * column_bytes_ + surface * hw_.atom, hw_.atom);
    dma_.write(NVDLA_DMA_CDP_WDMA, destination.ram,
               destination.at(surface, y) + std::uint64_t{x} * hw_.atom, run_.data(),
               std::uint64_t{count} * hw_.atom);
  }
}

void CdpPass::normalise_each(const CdpLayer& layer, std::byte* column) {
  switch (layer.precision) {
    case Precision::kInt8:
      return normalise_int<std::int8_t>(layer, column);
    case Precision::kInt16:
      return normalise_int<std::int16_t>(layer, column);
    case Precision::kFp16:
      return normalise_fp16(layer, column);
  }
}

// What a batch of columns is, and room for it; zeros around the channels of a column.
void CdpPass::reserve(const CdpLayer& layer) {
  const std::size_t lanes = column_bytes_ / precision_bytes(layer.precision);
  const std::size_t padded = lanes + std::size_t{2} * kMostReach;
  batch_ = static_cast<unsigned>(std::clamp<std::size_t>(kTableRun / lanes, 1, kColumns));
  const std::size_t elements = lanes * batch_;
  if (ready_) {
    ready_values_.resize(elements);
    results_.resize(elements);
    sums_.resize(elements);
    narrow_squares_.assign(padded, 0);
  }
  if (layer.precision == Precision::kFp16) {
    if (ready_) return;
    fp_values_.assign(padded, 0);
    fp_squares_.assign(padded, 0);
  } else {
    if (ready_ && layer.precision == Precision::kInt8) return;
    wide_sums_.resize(elements);
    values_.assign(padded, 0);
    squares_.assign(padded, 0);
  }
}

// The values of a batch of columns; channels beyond the last are zeros.
void CdpPass::take(const CdpLayer& layer, const std::byte* columns, unsigned count) {
  const unsigned bytes = precision_bytes(layer.precision);
  const auto lanes = static_cast<unsigned>(column_bytes_ / bytes);
  const unsigned channels = layer.rdma.channels, elements = lanes * count;
  std::int32_t* values = ready_values_.data();
  if (layer.precision == Precision::kFp16) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(columns);
    const fp::Specials in = fp::count_specials({halves, elements});
    counters_.nan_in += in.nan;
    counters_.infinite_in += in.infinite;
    kernels_.cdp_in_half(halves, elements, layer.flush_nan, values);
  } else {
    kernels_.cdp_in(columns, bytes == 1, elements, kernel_converter(layer.in), values);
  }
  if (channels != lanes)
    for (unsigned i = 0; i < count; ++i)
      std::fill(values + i * lanes + channels, values + (i + 1) * lanes, 0);
}

void CdpPass::normalise(const CdpLayer& layer, std::byte* columns, unsigned count) {
  take(layer, columns, count);
  const bool real = layer.precision == Precision::kFp16;
  const bool wide = layer.precision == Precision::kInt16;
  const unsigned bytes = precision_bytes(layer.precision);
  const auto lanes = static_cast<unsigned>(column_bytes_ / bytes);
  const std::int32_t* values = ready_values_.data();
  const std::int32_t* index = layer.bypass_square_sum ? values : sums_.data();
  if (wide && layer.bypass_square_sum)
    std::copy_n(values, std::size_t{lanes} * count, wide_sums_.data());
  for (unsigned i = 0; i < count && !layer.bypass_square_sum; ++i) {
    const std::size_t at = std::size_t{i} * lanes;
    if (wide) {
      kernels_.cdp_sums_wide(values + at, lanes, layer.reach, squares_.data() + kMostReach,
                             wide_sums_.data() + at);
    } else {
      (real ? kernels_.cdp_sums_float : kernels_.cdp_sums)(
          values + at, lanes, layer.reach, narrow_squares_.data() + kMostReach, sums_.data() + at);
    }
  }
  const unsigned elements = lanes * count;
  TableRun run;
  for (unsigned at = 0; at < elements; at += run.count) {
    run.count = std::min(kTableRun, elements - at);
    std::int32_t* results = results_.data() + at;
    if (real) {
      kernels_.table_find_float(floats_, index + at, run);
      kernels_.cdp_table_float(floats_, run, index + at, results);
    } else if (wide) {
      kernels_.table_find_wide(ints_, wide_sums_.data() + at, run);
      kernels_.cdp_table_wide(ints_, run, wide_sums_.data() + at, results);
    } else {
      kernels_.table_find(ints_, index + at, run);
      kernels_.cdp_table(ints_, run, index + at, results);
    }
    count_places(kernels_.table_count(run), run.count);
  }
  if (real) {
    counters_.nan_out +=
        kernels_.cdp_out_half(results_.data(), values, elements, !layer.bypass_multiplier,
                              reinterpret_cast<std::uint16_t*>(columns));
  } else {
    counters_.saturated +=
        kernels_.cdp_out(results_.data(), layer.bypass_multiplier ? nullptr : values, elements,
                         kernel_converter(layer.out), bytes == 1, columns);
  }
}

// As count_place() does, of many.
void CdpPass::count_places(const TableCounts& counts, unsigned count) noexcept {
  counters_.underflow += counts.both_under;
  counters_.overflow += counts.both_over;
  const std::uint32_t le = counts.le_hit - counts.both_hit, lo = counts.lo_hit - counts.both_hit;
  counters_.le_hit += le;
  counters_.lo_hit += lo;
  counters_.hybrid += count - counts.both_under - counts.both_over - le - lo;
}

CdpCounters CdpPass::run(const CdpLayer& layer) {
  counters_ = {};
  ready_ = layer.precision == Precision::kFp16
               ? make_tables(layer.lut, LutUnit::kCdp, floats_)
               : make_tables(layer.lut, LutUnit::kCdp, layer.precision == Precision::kInt16, ints_);
  const CdpRdma& rdma = layer.rdma;
  surfaces_ =
      (std::uint64_t{rdma.channels} * precision_bytes(layer.precision) + hw_.atom - 1) / hw_.atom;
  column_bytes_ = surfaces_ * hw_.atom;
  columns_.resize(column_bytes_ * kColumns);
  run_.resize(std::size_t{kColumns} * hw_.atom);
  reserve(layer);
  for (std::uint32_t y = 0; y < rdma.height; ++y)
    for (std::uint32_t x = 0; x < rdma.width; x += kColumns) {
      const unsigned count = std::min(kColumns, rdma.width - x);
      gather(layer, y, x, count);
      if (ready_) {
        for (unsigned i = 0; i < count; i += batch_)
          normalise(layer, columns_.data() + i * column_bytes_, std::min(batch_, count - i));
      } else {
        for (unsigned i = 0; i < count; ++i)
          normalise_each(layer, columns_.data() + i * column_bytes_);
      }
      scatter(layer, y, x, count);
    }
  const std::uint64_t line_bytes = std::uint64_t{rdma.width} * hw_.atom;
  for (std::uint64_t surface = 0; surface < surfaces_; ++surface)
    announce_lines(dma_, layer.destination.ram, layer.destination.at(surface, 0),
                   layer.destination.line, rdma.height, line_bytes);
  return counters_;
}

}  // namespace nvdla::model
