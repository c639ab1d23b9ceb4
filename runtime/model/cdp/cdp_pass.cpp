// SPDX-License-Identifier: MIT
#include "model/cdp/cdp_pass.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "model/core/cube_rows.hpp"
#include "model/core/thread_pool.hpp"
#include "model/lut/lut_tables.hpp"

namespace nvdla::model {
namespace {

constexpr unsigned kColumns = 32;
// Elements that stay in cache from kernel to kernel, and are stored by one before the next loads
// them.
constexpr std::size_t kBatch = 1024;
// Nanoseconds of an element, roughly.
constexpr double kElementTime = 1;

CdpConverter kernel_converter(const Converter& converter) noexcept {
  return {converter.offset, converter.scale, converter.shift};
}

void copy_atoms(const std::byte* from, std::size_t from_stride, std::byte* to,
                std::size_t to_stride, std::size_t atom, unsigned count) noexcept {
  // A copy of a constant size is two instructions.
  constexpr std::size_t kUsual = 32;
  for (unsigned i = 0; i < count; ++i, from += from_stride, to += to_stride)
    atom == kUsual ? std::memcpy(to, from, kUsual) : std::memcpy(to, from, atom);
}

}  // namespace

CdpPass::CdpPass(const nvdla_hw& hw, Dma& dma, const UnitKernels& kernels, ThreadPool& pool)
    : hw_(hw), dma_(dma), kernels_(kernels), pool_(pool), maps_(kernels), workers_(pool.size()) {}

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

// Room for a batch of columns; zeros around the channels of a column.
void CdpPass::reserve(Worker& worker) const {
  const std::size_t lanes = column_bytes_ / precision_bytes(layer_.precision);
  const std::size_t padded = lanes + std::size_t{2} * kCdpReach;
  const std::size_t elements = lanes * batch_;
  worker.counters = {};
  worker.columns.resize(column_bytes_ * kColumns);
  worker.run.resize(std::size_t{kColumns} * hw_.atom);
  if (takes_atoms_) {
    worker.words.assign(padded * batch_, 0);
    worker.sums.resize(elements);
    worker.answers.resize(elements);
  } else if (ready_) {
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
    finite = kernels_.cdp_in_half(halves, elements, layer_.flush_nan, values);
    if (!finite) {
      const HalfSpecials in = kernels_.count_specials(halves, elements);
      worker.counters.nan_in += in.nan;
      worker.counters.infinite_in += in.infinite;
    }
  } else {
    kernels_.cdp_in(columns, bytes == 1, elements, kernel_converter(layer_.in), values);
  }
  if (channels != lanes)
    for (unsigned i = 0; i < count; ++i)
      std::fill(values + i * lanes + channels, values + (i + 1) * lanes, 0);
  return finite;
}

// Looks `count` values or sums up in the tables.
void CdpPass::look_up(unsigned count, bool plain, Worker& worker) const {
  const bool wide = layer_.precision == Precision::kInt16;
  const std::int32_t* index = layer_.bypass_square_sum ? worker.values.data() : worker.sums.data();
  std::int32_t* results = worker.results.data();
  if (map_ != nullptr) return kernels_.cdp_map(map_, index, count, results);
  if (layer_.precision == Precision::kInt8)
    return count_places(kernels_.cdp_look_up(ints_, index, count, results), count, worker.counters);
  if (plain)
    return count_places(kernels_.cdp_look_up_plain(floats_, index, count, counts_, results), count,
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

// Columns from atoms to atoms, a batch at a time.
void CdpPass::normalise_atoms(CdpSource from, CdpTarget to, unsigned count, Worker& worker) const {
  const CdpRoom room{worker.words.data(), worker.sums.data(), worker.answers.data()};
  const auto* source = static_cast<const std::byte*>(from.first);
  auto* target = static_cast<std::byte*>(to.first);
  for (unsigned i = 0; i < count; i += batch_) {
    from.first = source + i * from.column;
    to.first = target + i * to.column;
    worker.counters.saturated +=
        kernels_.cdp_bytes(bytes_, from, std::min(batch_, count - i), to, room);
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

// Counts many lookups at once, as count_place() counts one.
void CdpPass::count_places(const SideCounts& counts, unsigned count,
                           CdpCounters& counters) noexcept {
  counters.underflow += counts.both_under;
  counters.overflow += counts.both_over;
  const std::uint32_t le = counts.le_hit - counts.both_hit, lo = counts.lo_hit - counts.both_hit;
  counters.le_hit += le;
  counters.lo_hit += lo;
  counters.hybrid += count - counts.both_under - counts.both_over - le - lo;
}

// Uses a map in int8, unless the layer counts which table answers.
void CdpPass::plan_map() {
  map_ = nullptr;
  if (!ready_ || counts_ || layer_.precision != Precision::kInt8) return;
  // The converter is monotonic, and lanes that do not exist are 0.
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

// Returns true if one kernel executes all steps of the layer on atoms of int8.
bool CdpPass::plan_bytes() {
  const Converter &in = layer_.in, &out = layer_.out;
  const bool fits = in.scale == 1 && in.shift == 0 && out.scale >= 0 &&
                    out.shift >= kCdpLeastShift && out.shift <= kCdpMostShift;
  if (map_ == nullptr || kernels_.cdp_bytes == nullptr || hw_.atom != kCdpAtom || !fits ||
      layer_.bypass_square_sum || layer_.bypass_multiplier)
    return false;
  bytes_ = {static_cast<std::int32_t>(in.offset),
            kernel_converter(out),
            layer_.reach,
            layer_.rdma.channels,
            static_cast<unsigned>(column_bytes_),
            map_};
  return true;
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

// Returns true if one kernel executes all steps of the layer on atoms of finite fp16 numbers.
bool CdpPass::takes_halves() const noexcept {
  return ready_ && layer_.precision == Precision::kFp16 && floats_.plain && !counts_ &&
         kernels_.cdp_halves != nullptr && hw_.atom == kCdpAtom && !layer_.bypass_square_sum &&
         !layer_.bypass_multiplier && from_ != nullptr;
}

// Normalises a batch of columns; returns false, with nothing done, if a number is not finite.
bool CdpPass::normalise_halves(const CdpSource& from, const CdpTarget& to, unsigned count,
                               Worker& worker) const {
  const auto lanes = static_cast<unsigned>(column_bytes_ / sizeof(std::uint16_t));
  return kernels_.cdp_halves({&floats_, layer_.reach, layer_.rdma.channels, lanes}, from, count, to,
                             {worker.values.data(), worker.sums.data(), worker.results.data()});
}

// Normalises columns of a line after it has gathered their atoms.
void CdpPass::collect(std::uint32_t y, std::uint32_t x, unsigned count, Worker& worker) {
  gather(y, x, count, worker);
  if (takes_atoms_) {
    std::byte* columns = worker.columns.data();
    normalise_atoms({columns, column_bytes_, hw_.atom}, {columns, column_bytes_, hw_.atom}, count,
                    worker);
  }
  for (unsigned i = 0; !takes_atoms_ && i < count; i += batch_) {
    std::byte* columns = worker.columns.data() + i * column_bytes_;
    ready_ ? normalise(columns, std::min(batch_, count - i), worker)
           : normalise_each(columns, worker);
  }
  scatter(y, x, count, worker);
}

void CdpPass::line(std::uint32_t y, Worker& worker) {
  const Surface &in = layer_.rdma.source, &out = layer_.destination;
  const unsigned most = takes_halves_ ? batch_ : kColumns;
  for (std::uint32_t x = 0; x < layer_.rdma.width; x += most) {
    const unsigned count = std::min(most, layer_.rdma.width - x);
    if (from_ != nullptr && (takes_atoms_ || takes_halves_)) {
      const std::uint64_t at = std::uint64_t{x} * hw_.atom;
      const CdpSource from{from_ + y * in.line + at, hw_.atom, in.surface};
      const CdpTarget to{to_ + y * out.line + at, hw_.atom, out.surface};
      if (takes_atoms_) normalise_atoms(from, to, count, worker);
      if (takes_atoms_ || normalise_halves(from, to, count, worker)) continue;
    }
    collect(y, x, count, worker);
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
  plan_map();
  takes_atoms_ = plan_bytes();
  for (Worker& worker : workers_) reserve(worker);
  open_windows();
  takes_halves_ = takes_halves();
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
    dma_.written_lines(layer.destination.ram, layer.destination.at(surface, 0),
                       layer.destination.line, rdma.height, line_bytes);
  CdpCounters sum;
  for (const Worker& worker : workers_) sum += worker.counters;
  return sum;
}

}  // namespace nvdla::model
