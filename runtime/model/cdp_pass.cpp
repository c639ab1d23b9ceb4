// SPDX-License-Identifier: MIT
#include "model/cdp_pass.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

#include "arith/float.hpp"
#include "arith/integers.hpp"
#include "model/lut_tables.hpp"
#include "model/sdp_rows.hpp"
#include "model/thread_pool.hpp"

namespace nvdla::model {
namespace {

using fp::Fp16;
using fp::Fp17;
using fp::Fp32;

constexpr unsigned kColumns = 32;
// Elements that stay in cache from kernel to kernel, and are stored by one before the next loads
// them.
constexpr std::size_t kBatch = 1024;
// Nanoseconds of an element, roughly.
constexpr double kElementTime = 1;
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

void copy_atoms(const std::byte* from, std::size_t from_stride, std::byte* to,
                std::size_t to_stride, std::size_t atom, unsigned count) noexcept {
  // Of a size that is known a copy is two instructions.
  constexpr std::size_t kUsual = 32;
  for (unsigned i = 0; i < count; ++i, from += from_stride, to += to_stride)
    atom == kUsual ? std::memcpy(to, from, kUsual) : std::memcpy(to, from, atom);
}

void count_place(LutSide le, LutSide lo, CdpCounters& counters) noexcept {
  if (le == lo) {
    switch (le) {
      case LutSide::kUnderflow:
        ++counters.underflow;
        return;
      case LutSide::kOverflow:
        ++counters.overflow;
        return;
      case LutSide::kHit:
        ++counters.hybrid;
        return;
    }
  }
  if (le == LutSide::kHit) {
    ++counters.le_hit;
  } else if (lo == LutSide::kHit) {
    ++counters.lo_hit;
  } else {
    ++counters.hybrid;
  }
}

}  // namespace

CdpPass::CdpPass(const nvdla_hw& hw, Dma& dma, const UnitKernels& kernels, ThreadPool& pool)
    : hw_(hw), dma_(dma), kernels_(kernels), pool_(pool), maps_(kernels), workers_(pool.size()) {}

template <typename Element>
void CdpPass::normalise_int(std::byte* column, Worker& worker) const {
  constexpr bool kBytes = sizeof(Element) == 1;
  constexpr unsigned kInBits = kBytes ? 9 : 17;
  constexpr unsigned kOutBits = kBytes ? 8 : 16;
  auto* elements = reinterpret_cast<Element*>(column);
  const std::size_t lanes = column_bytes_ / sizeof(Element);
  const std::size_t channels = layer_.rdma.channels;
  std::int64_t* values = worker.int_values.data() + kCdpReach;
  std::int64_t* squares = worker.int_squares.data() + kCdpReach;
  // Lanes beyond the last channel are zeros after the converter.
  for (std::size_t c = 0; c < channels; ++c)
    values[c] = saturate(arith::round_shift((elements[c] - layer_.in.offset) * layer_.in.scale,
                                            static_cast<int>(layer_.in.shift)),
                         kInBits);
  for (std::size_t c = 0; c < channels; ++c) squares[c] = values[c] * values[c];

  const int reach = static_cast<int>(layer_.reach);
  for (std::size_t c = 0; c < lanes; ++c) {
    std::int64_t index = values[c];
    if (!layer_.bypass_square_sum) {
      index = 0;
      for (int i = -reach; i <= reach; ++i) index += squares[static_cast<std::ptrdiff_t>(c) + i];
    }
    const LutPlace le = lut_find(layer_.lut.le, index);
    const LutPlace lo = lut_find(layer_.lut.lo, index);
    count_place(le.side, lo.side, worker.counters);
    std::int64_t result = lut_choose_lo(layer_.lut, le.side, lo.side)
                              ? interpolate(layer_.lut.lo, lo, index)
                              : interpolate(layer_.lut.le, le, index);
    if (!layer_.bypass_multiplier) result *= values[c];
    // 50 bits at most.
    const std::int64_t product = (result - layer_.out.offset) * layer_.out.scale;
    const std::int64_t rounded = arith::round_shift(product, static_cast<int>(layer_.out.shift));
    const std::int64_t out = saturate(rounded, kOutBits);
    // What is counted is compared with what truncation gives; a difference of one passes.
    const std::int64_t off = (product >> layer_.out.shift) - out;
    worker.counters.saturated += off > 1 || off < -1 ? 1 : 0;
    elements[c] = static_cast<Element>(out);
  }
}

void CdpPass::normalise_fp16(std::byte* column, Worker& worker) const {
  auto* elements = reinterpret_cast<std::uint16_t*>(column);
  const std::size_t lanes = column_bytes_ / sizeof(*elements);
  const fp::Specials in = fp::count_specials({elements, lanes});
  worker.counters.nan_in += in.nan;
  worker.counters.infinite_in += in.infinite;
  const std::size_t channels = layer_.rdma.channels;
  std::uint32_t* values = worker.fp_values.data() + kCdpReach;
  std::uint32_t* squares = worker.fp_squares.data() + kCdpReach;
  for (std::size_t c = 0; c < channels; ++c) {
    const std::uint32_t element = layer_.flush_nan ? fp::flush_nan<Fp16>(elements[c]) : elements[c];
    values[c] = fp::widen<Fp17>(element);
    const std::uint32_t wide = fp::fp17_to_fp32(values[c]);
    squares[c] = fp::mul<Fp32>(wide, wide);
  }

  const int reach = static_cast<int>(layer_.reach);
  for (std::size_t c = 0; c < lanes; ++c) {
    const auto at = static_cast<std::ptrdiff_t>(c);
    std::uint32_t index;
    if (layer_.bypass_square_sum) {
      index = fp::fp17_to_fp32(values[c]);
    } else {
      index = fp::add<Fp32>(fp::add<Fp32>(squares[at - 1], squares[at + 1]), squares[at]);
      for (int i = 2; i <= reach; ++i)
        index = fp::add<Fp32>(index, fp::add<Fp32>(squares[at - i], squares[at + i]));
    }
    const LutPlace le = lut_find_fp(layer_.lut.le, index);
    const LutPlace lo = lut_find_fp(layer_.lut.lo, index);
    count_place(le.side, lo.side, worker.counters);
    std::uint32_t result = lut_choose_lo(layer_.lut, le.side, lo.side)
                               ? interpolate_fp(layer_.lut.lo, lo, index)
                               : interpolate_fp(layer_.lut.le, le, index);
    if (!layer_.bypass_multiplier) {
      // Of two NaNs that of the input stays.
      result = fp::mul<Fp17>(values[c], result);
    } else if (fp::is_nan<Fp17>(values[c])) {
      result = values[c];
    }
    const std::uint16_t out = fp::narrow<Fp17>(result);
    worker.counters.nan_out += fp::is_nan<Fp16>(out) ? 1 : 0;
    elements[c] = out;
  }
}

void CdpPass::gather(std::uint32_t y, std::uint32_t x, unsigned count, Worker& worker) {
  const Surface& source = layer_.rdma.source;
  const std::uint64_t bytes = std::uint64_t{count} * hw_.atom;
  for (std::uint64_t surface = 0; surface < surfaces_; ++surface) {
    const std::uint64_t offset =
        surface * source.surface + y * source.line + std::uint64_t{x} * hw_.atom;
    const std::byte* run = from_ != nullptr
                               ? from_ + offset
                               : dma_.view(NVDLA_DMA_CDP_RDMA, source.ram, source.base + offset,
                                           bytes, worker.run.data());
    copy_atoms(run, hw_.atom, worker.columns.data() + surface * hw_.atom, column_bytes_, hw_.atom,
               count);
  }
}

void CdpPass::scatter(std::uint32_t y, std::uint32_t x, unsigned count, Worker& worker) {
  const Surface& destination = layer_.destination;
  for (std::uint64_t surface = 0; surface < surfaces_; ++surface) {
    const std::uint64_t offset =
        surface * destination.surface + y * destination.line + std::uint64_t{x} * hw_.atom;
    std::byte* run = to_ != nullptr ? to_ + offset : worker.run.data();
    copy_atoms(worker.columns.data() + surface * hw_.atom, column_bytes_, run, hw_.atom, hw_.atom,
               count);
    if (to_ == nullptr)
      dma_.write(NVDLA_DMA_CDP_WDMA, destination.ram, destination.base + offset, run,
                 std::uint64_t{count} * hw_.atom);
  }
}

void CdpPass::normalise_each(std::byte* column, Worker& worker) const {
  switch (layer_.precision) {
    case Precision::kInt8:
      return normalise_int<std::int8_t>(column, worker);
    case Precision::kInt16:
      return normalise_int<std::int16_t>(column, worker);
    case Precision::kFp16:
      return normalise_fp16(column, worker);
  }
}

// Room for a batch of columns; zeros around the channels of a column.
void CdpPass::reserve(Worker& worker) const {
  const std::size_t lanes = column_bytes_ / precision_bytes(layer_.precision);
  const std::size_t padded = lanes + std::size_t{2} * kCdpReach;
  const std::size_t elements = lanes * batch_;
  worker.counters = {};
  worker.columns.resize(column_bytes_ * kColumns);
  worker.run.resize(std::size_t{kColumns} * hw_.atom);
  if (ready_) {
    worker.values.resize(elements);
    worker.results.resize(elements);
    worker.sums.resize(elements);
    worker.squares.assign(padded * batch_, 0);
    if (layer_.precision != Precision::kInt16) return;
    worker.wide_sums.resize(elements);
    worker.wide_squares.assign(padded * batch_, 0);
  } else if (layer_.precision == Precision::kFp16) {
    worker.fp_values.assign(padded, 0);
    worker.fp_squares.assign(padded, 0);
  } else {
    worker.int_values.assign(padded, 0);
    worker.int_squares.assign(padded, 0);
  }
}

// The values of a batch of columns; channels beyond the last are zeros.
bool CdpPass::take(const std::byte* columns, unsigned count, Worker& worker) const {
  const unsigned bytes = precision_bytes(layer_.precision);
  const auto lanes = static_cast<unsigned>(column_bytes_ / bytes);
  const unsigned channels = layer_.rdma.channels, elements = lanes * count;
  std::int32_t* values = worker.values.data();
  bool finite = true;
  if (layer_.precision == Precision::kFp16) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(columns);
    const HalfSpecials in = kernels_.count_specials(halves, elements);
    worker.counters.nan_in += in.nan;
    worker.counters.infinite_in += in.infinite;
    finite = in.nan == 0 && in.infinite == 0;
    kernels_.cdp_in_half(halves, elements, layer_.flush_nan, values);
  } else {
    kernels_.cdp_in(columns, bytes == 1, elements, kernel_converter(layer_.in), values);
  }
  if (channels != lanes)
    for (unsigned i = 0; i < count; ++i)
      std::fill(values + i * lanes + channels, values + (i + 1) * lanes, 0);
  return finite;
}

// What the tables answer to so many values or sums.
void CdpPass::look_up(unsigned count, bool plain, Worker& worker) const {
  const bool wide = layer_.precision == Precision::kInt16;
  const std::int32_t* index = layer_.bypass_square_sum ? worker.values.data() : worker.sums.data();
  std::int32_t* results = worker.results.data();
  if (map_ != nullptr) return kernels_.cdp_map(map_, index, count, results);
  if (layer_.precision == Precision::kInt8)
    return count_places(kernels_.cdp_look_up(ints_, index, count, results), count, worker.counters);
  if (plain)
    return count_places(kernels_.cdp_look_up_plain(floats_, index, count, results), count,
                        worker.counters);
  TableRun run;
  for (unsigned at = 0; at < count; at += run.count) {
    run.count = std::min(kTableRun, count - at);
    if (wide) {
      kernels_.table_find_wide(ints_, worker.wide_sums.data() + at, run);
      kernels_.cdp_table_wide(ints_, run, worker.wide_sums.data() + at, results + at);
    } else {
      kernels_.table_find_float(floats_, index + at, run);
      kernels_.cdp_table_float(floats_, run, index + at, results + at);
    }
    const TableCounts counts = kernels_.table_count(run);
    count_places(
        {counts.le_hit, counts.lo_hit, counts.both_under, counts.both_hit, counts.both_over},
        run.count, worker.counters);
  }
}

void CdpPass::normalise(std::byte* columns, unsigned count, Worker& worker) const {
  const bool finite = take(columns, count, worker);
  const bool real = layer_.precision == Precision::kFp16;
  const bool wide = layer_.precision == Precision::kInt16;
  const unsigned bytes = precision_bytes(layer_.precision);
  const auto lanes = static_cast<unsigned>(column_bytes_ / bytes);
  const unsigned elements = lanes * count;
  const std::int32_t* values = worker.values.data();
  if (wide && layer_.bypass_square_sum) std::copy_n(values, elements, worker.wide_sums.data());
  if (!layer_.bypass_square_sum) {
    if (wide) {
      kernels_.cdp_sums_wide(values, count, lanes, layer_.reach, worker.wide_squares.data(),
                             worker.wide_sums.data());
    } else if (real) {
      kernels_.cdp_sums_float(values, count, lanes, layer_.reach, finite, worker.squares.data(),
                              worker.sums.data());
    } else {
      kernels_.cdp_sums(values, count, lanes, layer_.reach, worker.squares.data(),
                        worker.sums.data());
    }
  }
  const bool plain = finite && floats_.plain;
  look_up(elements, real && plain, worker);
  const std::int32_t* results = worker.results.data();
  if (real) {
    worker.counters.nan_out +=
        kernels_.cdp_out_half(results, values, elements, !layer_.bypass_multiplier, plain,
                              reinterpret_cast<std::uint16_t*>(columns));
  } else {
    worker.counters.saturated +=
        kernels_.cdp_out(results, layer_.bypass_multiplier ? nullptr : values, elements,
                         kernel_converter(layer_.out), bytes == 1, columns);
  }
}

// As count_place() does, of many.
void CdpPass::count_places(const SideCounts& counts, unsigned count,
                           CdpCounters& counters) noexcept {
  counters.underflow += counts.both_under;
  counters.overflow += counts.both_over;
  const std::uint32_t le = counts.le_hit - counts.both_hit, lo = counts.lo_hit - counts.both_hit;
  counters.le_hit += le;
  counters.lo_hit += lo;
  counters.hybrid += count - counts.both_under - counts.both_over - le - lo;
}

// In int8, where nobody asks which table answers.
void CdpPass::plan_map() {
  map_ = nullptr;
  if (!ready_ || counts_ || layer_.precision != Precision::kInt8) return;
  // The converter keeps or turns the order, and lanes that do not exist are 0.
  constexpr std::int8_t kEnds[] = {-128, 127};
  std::int32_t ends[std::size(kEnds)];
  kernels_.cdp_in(kEnds, true, std::size(kEnds), kernel_converter(layer_.in), ends);
  std::int32_t low = std::min({ends[0], ends[1], 0}), high = std::max({ends[0], ends[1], 0});
  if (!layer_.bypass_square_sum) {
    high = std::max(-low, high);
    high = high * high * static_cast<std::int32_t>(2 * layer_.reach + 1);
    low = 0;
  }
  const CdpRdma& rdma = layer_.rdma;
  map_ = maps_.plan(layer_.lut, ints_, low, high,
                    std::uint64_t{rdma.width} * rdma.height * column_bytes_);
}

void CdpPass::open_windows() {
  const std::uint64_t line_bytes = std::uint64_t{layer_.rdma.width} * hw_.atom;
  const auto cube = [&](const Surface& memory) {
    return SdpCube{.memory = {memory.ram, dma_.wrapped(memory.base), memory.line, memory.surface},
                   .surfaces = surfaces_,
                   .height = layer_.rdma.height,
                   .line_bytes = line_bytes};
  };
  const SdpCube in = cube(layer_.rdma.source), out = cube(layer_.destination);
  from_ = nullptr;
  to_ = nullptr;
  if (!out.apart() || out.meets(in)) return;
  from_ = dma_.window(in.memory.ram, in.memory.base, in.extent(), false);
  to_ = dma_.window(out.memory.ram, out.memory.base, out.extent(), true);
  if (from_ == nullptr || to_ == nullptr) from_ = to_ = nullptr;
}

void CdpPass::line(std::uint32_t y, Worker& worker) {
  for (std::uint32_t x = 0; x < layer_.rdma.width; x += kColumns) {
    const unsigned count = std::min(kColumns, layer_.rdma.width - x);
    gather(y, x, count, worker);
    for (unsigned i = 0; i < count; i += batch_) {
      std::byte* columns = worker.columns.data() + i * column_bytes_;
      ready_ ? normalise(columns, std::min(batch_, count - i), worker)
             : normalise_each(columns, worker);
    }
    scatter(y, x, count, worker);
  }
}

CdpCounters CdpPass::run(const CdpLayer& layer, bool counts) {
  layer_ = layer;
  counts_ = counts;
  ready_ = layer.precision == Precision::kFp16
               ? make_tables(layer.lut, LutUnit::kCdp, floats_)
               : make_tables(layer.lut, LutUnit::kCdp, layer.precision == Precision::kInt16, ints_);
  const CdpRdma& rdma = layer.rdma;
  const unsigned bytes = precision_bytes(layer.precision);
  surfaces_ = (std::uint64_t{rdma.channels} * bytes + hw_.atom - 1) / hw_.atom;
  column_bytes_ = surfaces_ * hw_.atom;
  const std::size_t lanes = column_bytes_ / bytes;
  batch_ = ready_ ? static_cast<unsigned>(std::clamp<std::size_t>(kBatch / lanes, 1, kColumns)) : 1;
  for (Worker& worker : workers_) reserve(worker);
  plan_map();
  open_windows();
  const double time =
      kElementTime * static_cast<double>(lanes) * rdma.width * static_cast<double>(rdma.height);
  auto execute = [&](unsigned thread, std::size_t y) {
    line(static_cast<std::uint32_t>(y), workers_[thread]);
  };
  if (from_ != nullptr) {
    run_tasks(pool_, rdma.height, time, execute);
  } else {
    for (std::uint32_t y = 0; y < rdma.height; ++y) execute(0, y);
  }
  const std::uint64_t line_bytes = std::uint64_t{rdma.width} * hw_.atom;
  for (std::uint64_t surface = 0; surface < surfaces_; ++surface)
    announce_lines(dma_, layer.destination.ram, layer.destination.at(surface, 0),
                   layer.destination.line, rdma.height, line_bytes);
  CdpCounters sum;
  for (const Worker& worker : workers_) sum += worker.counters;
  return sum;
}

}  // namespace nvdla::model
