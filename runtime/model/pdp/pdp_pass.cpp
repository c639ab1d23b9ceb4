// SPDX-License-Identifier: MIT
#include "model/pdp/pdp_pass.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "model/core/cube_rows.hpp"
#include "support/float.hpp"

namespace nvdla::model {
namespace {

// Averages in fp16 by the definition of the operations, for what the kernels do not take.
struct AverageFp16Rule {
  using Element = std::uint16_t;
  using Value = std::uint32_t;

  std::uint32_t reciprocal_width, reciprocal_height;
  std::uint32_t columns[8], rows[8];

  Value load(Element element) const { return fp::widen<fp::Fp17>(element); }
  Value along(Value so_far, Value next) const { return fp::add<fp::Fp17>(so_far, next); }
  Value across(Value so_far, Value next) const { return fp::add<fp::Fp17>(next, so_far); }
  Value pad_columns(Value sum, unsigned missing) const {
    return fp::add<fp::Fp17>(sum, columns[missing]);
  }
  Value pad_rows(Value sum, unsigned missing) const {
    return fp::add<fp::Fp17>(sum, rows[missing]);
  }
  Element store(Value sum) const {
    return fp::narrow<fp::Fp17>(
        fp::mul<fp::Fp17>(fp::mul<fp::Fp17>(sum, reciprocal_width), reciprocal_height));
  }
};

// Approximate nanoseconds per byte of the input.
constexpr double kPoolTime = 0.15;

// The bits of an entry of the padding table.
constexpr unsigned kEntryBits = 19;

// Returns the low bits as a signed number.
std::int32_t low_bits(std::uint32_t value, unsigned bits) noexcept {
  return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

// Reduces one input line of `lanes` channels along x.
template <typename Rule>
void reduce_line(const Rule& rule, const PdpLayer& layer, unsigned width, unsigned lanes,
                 const typename Rule::Element* in, typename Rule::Value* out) {
  for (unsigned ox = 0; ox < layer.out_width; ++ox, out += lanes) {
    const int from = static_cast<int>(ox * layer.stride_width) - static_cast<int>(layer.left);
    const unsigned begin = static_cast<unsigned>(std::max(from, 0));
    const unsigned end =
        std::min(static_cast<unsigned>(from + static_cast<int>(layer.kernel_width)), width);
    const typename Rule::Element* at = in + std::size_t{begin} * lanes;
    for (unsigned lane = 0; lane < lanes; ++lane) out[lane] = rule.load(at[lane]);
    for (unsigned x = begin + 1; x < end; ++x) {
      at += lanes;
      for (unsigned lane = 0; lane < lanes; ++lane)
        out[lane] = rule.along(out[lane], rule.load(at[lane]));
    }
    const unsigned missing = layer.kernel_width - (end - begin);
    if (missing != 0)
      for (unsigned lane = 0; lane < lanes; ++lane)
        out[lane] = rule.pad_columns(out[lane], missing);
  }
}

// AverageFp16Rule line by line.
struct DefinedAverage {
  AverageFp16Rule rule;
  const PdpLayer& layer;
  unsigned width, lanes;
  std::size_t values;
  unsigned bytes = sizeof(AverageFp16Rule::Value);

  DefinedAverage(const PdpLayer& of, unsigned in_width, unsigned atom_lanes, std::size_t count)
      : rule{of.reciprocal_width, of.reciprocal_height, {}, {}},
        layer(of),
        width(in_width),
        lanes(atom_lanes),
        values(count) {
    const std::uint32_t kernel_width =
        fp::widen<fp::Fp17>(fp::int_to_fp16(static_cast<std::int32_t>(of.kernel_width)));
    for (unsigned n = 1; n < 8; ++n) {
      rule.columns[n] = of.padding[n] & 0x1ffff;
      rule.rows[n] = fp::mul<fp::Fp17>(rule.columns[n], kernel_width);
    }
  }

  PoolElements along(const std::byte* in, PoolElements /*at_most*/, std::byte* reduced) const {
    reduce_line(rule, layer, width, lanes, reinterpret_cast<const std::uint16_t*>(in),
                reinterpret_cast<std::uint32_t*>(reduced));
    return PoolElements::kAny;
  }
  void down(const PoolRows& rows, unsigned missing, PoolElements /*elements*/,
            std::byte* out) const {
    const auto row = [&](unsigned y) { return static_cast<const std::uint32_t*>(rows.values[y]); };
    auto* to = reinterpret_cast<std::uint16_t*>(out);
    for (std::size_t i = 0; i < values; ++i) {
      std::uint32_t sum = row(0)[i];
      for (unsigned y = 1; y < rows.rows; ++y) sum = rule.across(sum, row(y)[i]);
      to[i] = rule.store(missing == 0 ? sum : rule.pad_rows(sum, missing));
    }
  }
};

// Memory that stays from layer to layer; no vector in it lies across lines of the cache.
std::byte* scratch(std::vector<std::byte>& memory, std::size_t bytes) {
  constexpr std::size_t kCacheLine = 64;
  std::size_t space = bytes + kCacheLine;
  memory.resize(std::max(memory.size(), space));
  void* begin = memory.data();
  return static_cast<std::byte*>(std::align(kCacheLine, bytes, begin, space));
}

}  // namespace

// Returns what an integer average adds for `count` missing columns. In int8, the reference model
// uses only as many bits of an entry as a sum of `count` elements has; the logic uses the bits of
// the longest sum. They agree on entries that are such sums, and the compiler accepts no others.
std::int32_t PdpPass::missing_columns(unsigned count) const noexcept {
  constexpr unsigned kBitsOfSum[8] = {1, 8, 9, 10, 10, 11, 11, 11};
  if (layer_.precision != Precision::kInt8) return low_bits(layer_.padding[count], kEntryBits);
  return low_bits(layer_.padding[count], quirks_ == Quirks::kCmodel ? kBitsOfSum[count] : 11);
}

// Does the same for missing rows. In int8, the logic keeps 14 bits of the product.
std::int32_t PdpPass::missing_rows(unsigned count) const noexcept {
  const auto width = static_cast<std::int32_t>(layer_.kernel_width);
  if (layer_.precision != Precision::kInt8 || quirks_ == Quirks::kCmodel)
    return missing_columns(count) * width;
  const std::int32_t product = low_bits(layer_.padding[count], kEntryBits) * width;
  return low_bits(static_cast<std::uint32_t>(product), 14);
}

void PdpPass::begin(const PdpLayer& layer) {
  layer_ = layer;
  for (Worker& worker : workers_) worker.counters = {};
  from_ = nullptr;
  to_ = nullptr;
  planes_.clear();
  columns_.clear();
  if (layer.from_memory) input_columns(layer.rdma, columns_);
  ready_ = prepare();
}

// Looks for NaNs and infinities in what is read, and counts them if `counts`. Columns that two
// bands share are read, and so counted, twice.
HalfSpecials PdpPass::look_at(const std::byte* atoms, std::size_t bytes, bool counts,
                              PdpCounters& counters) const noexcept {
  if (layer_.precision != Precision::kFp16) return {};
  const HalfSpecials specials =
      kernels_.count_specials(reinterpret_cast<const std::uint16_t*>(atoms), bytes / 2);
  if (counts) {
    counters.nan_in += specials.nan;
    counters.infinite_in += specials.infinite;
  }
  return specials;
}

void PdpPass::flush(std::byte* atoms, std::size_t bytes) noexcept {
  auto* values = reinterpret_cast<std::uint16_t*>(atoms);
  for (std::size_t i = 0; i < bytes / sizeof(*values); ++i)
    values[i] = static_cast<std::uint16_t>(fp::flush_nan<fp::Fp16>(values[i]));
}

// The lines of a window that there are, begin to end.
PdpPass::Lines PdpPass::lines_of(unsigned oy) const noexcept {
  const int from = static_cast<int>(oy * layer_.stride_height) - static_cast<int>(layer_.top);
  return {static_cast<unsigned>(std::max(from, 0)),
          std::min(static_cast<unsigned>(from + static_cast<int>(layer_.kernel_height)),
                   layer_.height)};
}

// `line(y)` gives an input line; it is called once for every line that the output lines need, from
// the top. Lines go through a pooler: along(in, what it may be taken for, reduced), which returns
// what is known of the reduced line, and down(rows, missing rows, what is known of them all, out).
template <typename Pooler, typename Line>
void PdpPass::pool_by(const Pooler& pooler, std::uint64_t surface, Lines lines, Worker& worker,
                      Line line) {
  const std::size_t line_bytes = std::size_t{layer_.out_width} * hw_.atom;
  const std::size_t value_bytes = line_bytes / precision_bytes(layer_.precision) * pooler.bytes;
  // Reduced lines that are still needed, line y at y modulo the kernel's height.
  std::byte* const reduced = scratch(worker.reduced, value_bytes * layer_.kernel_height);
  PoolElements known[8] = {};
  // Once a line has negative elements, later lines are not checked for signs.
  PoolElements plain = PoolElements::kUnsigned;
  unsigned next = first_line(lines.begin);
  for (unsigned oy = lines.begin; oy < lines.end; ++oy) {
    const Lines window = lines_of(oy);
    for (; next < window.end; ++next) {
      const InputLine in = line(next);
      // Lines between windows are read for nothing.
      if (next < window.begin) continue;
      const unsigned at = next % layer_.kernel_height;
      known[at] =
          pooler.along(in.atoms, in.plain ? plain : PoolElements::kAny, reduced + value_bytes * at);
      if (in.plain) plain = known[at];
    }
    PoolRows rows{};
    rows.rows = window.end - window.begin;
    rows.count = value_bytes / pooler.bytes;
    PoolElements elements = PoolElements::kUnsigned;
    for (unsigned y = 0; y < rows.rows; ++y) {
      const unsigned at = (window.begin + y) % layer_.kernel_height;
      rows.values[y] = reduced + value_bytes * at;
      elements = std::min(elements, known[at]);
    }
    std::byte* const out =
        to_ != nullptr ? to_ + surface * layer_.destination.surface + oy * layer_.destination.line
                       : scratch(worker.out, line_bytes);
    pooler.down(rows, layer_.kernel_height - rows.rows, elements, out);
    // Plain elements never produce a NaN.
    if (layer_.precision == Precision::kFp16 && elements == PoolElements::kAny)
      worker.counters.nan_out +=
          kernels_.count_specials(reinterpret_cast<const std::uint16_t*>(out), line_bytes / 2).nan;
    if (to_ == nullptr)
      dma_.write(NVDLA_DMA_PDP_WDMA, layer_.destination.ram, layer_.destination.at(surface, oy),
                 out, line_bytes);
  }
}

// Split layers ignore CUBE_IN_WIDTH.
unsigned PdpPass::in_width() const noexcept {
  return columns_.empty() ? layer_.width : columns_.back().begin + columns_.back().count;
}

template <typename Line>
void PdpPass::pool(std::uint64_t surface, Lines lines, Worker& worker, Line line) {
  const auto lanes = static_cast<unsigned>(hw_.atom / precision_bytes(layer_.precision));
  const std::size_t values = std::size_t{layer_.out_width} * lanes;
  if (!ready_)
    return pool_by(DefinedAverage{layer_, in_width(), lanes, values}, surface, lines, worker, line);
  struct Kernel {
    const UnitKernels& kernels;
    const PoolRule& rule;
    const PoolLine line;
    const std::int32_t* missing_rows;  // or null
    unsigned bytes;

    PoolElements along(const std::byte* in, PoolElements at_most, std::byte* reduced) const {
      return kernels.pool_along(rule, line, at_most, in, reduced);
    }
    void down(PoolRows& rows, unsigned missing, PoolElements elements, std::byte* out) const {
      rows.missing = missing_rows == nullptr || missing == 0 ? nullptr : missing_rows + missing;
      kernels.pool_down(rule, rows, elements, out);
    }
  };
  const bool average = layer_.method == Pooling::kAverage;
  pool_by(Kernel{kernels_,
                 rule_,
                 {lanes, in_width(), layer_.out_width, layer_.left, layer_.kernel_width,
                  layer_.stride_width, average ? missing_columns_ : nullptr},
                 average ? missing_rows_ : nullptr,
                 !average                               ? precision_bytes(layer_.precision)
                 : layer_.precision == Precision::kInt8 ? 2u
                                                        : 4u},
          surface, lines, worker, line);
}

// Prepares the layer for the kernels. Returns false if a register has a pattern that fp17 does not
// have.
bool PdpPass::prepare() noexcept {
  constexpr PoolKind kFirst[] = {PoolKind::kAverageInt8, PoolKind::kAverageInt16,
                                 PoolKind::kAverageHalf};
  rule_.kind =
      static_cast<PoolKind>(static_cast<unsigned>(kFirst[static_cast<unsigned>(layer_.precision)]) +
                            static_cast<unsigned>(layer_.method));
  moderate_ = true;
  if (layer_.method != Pooling::kAverage) return true;
  rule_.saturates = quirks_ != Quirks::kCmodel;
  missing_columns_[0] = missing_rows_[0] = 0;
  if (layer_.precision == Precision::kFp16) return prepare_half();
  std::int64_t most = 0;
  for (unsigned n = 1; n < 8; ++n) {
    missing_columns_[n] = missing_columns(n);
    missing_rows_[n] = missing_rows(n);
    most = std::max<std::int64_t>(
        most, std::abs(std::int64_t{missing_columns_[n]}) * layer_.kernel_height +
                  std::abs(std::int64_t{missing_rows_[n]}));
  }
  rule_.reciprocal_width = static_cast<std::int32_t>(layer_.reciprocal_width);
  rule_.reciprocal_height = static_cast<std::int32_t>(layer_.reciprocal_height);
  const std::int64_t element = layer_.precision == Precision::kInt8 ? 128 : 32768;
  const std::int64_t first =
      (element * layer_.kernel_width * layer_.kernel_height + most) * rule_.reciprocal_width;
  const std::int64_t second = ((first >> 16) + 1) * rule_.reciprocal_height;
  rule_.narrow = std::max(first, second) < (1 << 29);
  return true;
}

bool PdpPass::prepare_half() noexcept {
  using fp::Fp17;
  bool regular = true;
  const auto take = [&](std::uint32_t fp17) {
    regular = regular && fp::is_regular<Fp17>(fp17);
    return static_cast<std::int32_t>(fp::fp17_to_fp32(fp17));
  };
  const auto moderate = [](std::int32_t bits) {
    const double places = std::abs(std::ldexp(std::bit_cast<float>(bits), 24));
    return places <= 0x1p44 && places == std::trunc(places);
  };
  const auto reciprocal = [](std::int32_t bits) {
    const auto factor = std::bit_cast<float>(bits);
    return factor >= 0x1p-3F && factor <= 1;
  };
  const std::uint32_t kernel_width =
      fp::widen<Fp17>(fp::int_to_fp16(static_cast<std::int32_t>(layer_.kernel_width)));
  for (unsigned n = 1; n < 8; ++n) {
    const std::uint32_t entry = layer_.padding[n] & 0x1ffff;
    missing_columns_[n] = take(entry);
    missing_rows_[n] = take(fp::mul<Fp17>(entry, kernel_width));
    moderate_ = moderate_ && moderate(missing_columns_[n]) && moderate(missing_rows_[n]);
  }
  rule_.reciprocal_width = take(layer_.reciprocal_width);
  rule_.reciprocal_height = take(layer_.reciprocal_height);
  moderate_ =
      moderate_ && reciprocal(rule_.reciprocal_width) && reciprocal(rule_.reciprocal_height);
  return regular;
}

// A line from memory. What is not fresh has been counted with another band of lines.
PdpPass::InputLine PdpPass::read(std::uint64_t surface, unsigned y, bool fresh, Worker& worker) {
  const Surface& source = layer_.rdma.source;
  const bool one_piece = columns_.size() == 1;
  InputLine line{nullptr, moderate_};
  for (const Columns& columns : columns_) {
    const std::uint64_t offset =
        surface * source.surface + y * source.line + std::uint64_t{columns.begin} * hw_.atom;
    std::byte* atoms = worker.line.data() + std::size_t{columns.begin} * hw_.atom;
    const std::size_t bytes = std::size_t{columns.count} * hw_.atom;
    const std::byte* seen = from_ != nullptr ? from_ + offset
                                             : dma_.view(NVDLA_DMA_PDP_RDMA, source.ram,
                                                         source.base + offset, bytes, atoms);
    const HalfSpecials specials = look_at(seen, bytes, fresh, worker.counters);
    const bool flushes = layer_.flush_nan && specials.nan != 0;
    line.plain &= specials.infinite == 0 && (specials.nan == 0 || flushes);
    // A line in one piece stays where it is, if that is as good.
    if (seen != atoms && (!one_piece || flushes)) {
      std::memcpy(atoms, seen, bytes);
      seen = atoms;
    }
    if (flushes) flush(atoms, bytes);
    line.atoms = one_piece ? seen : worker.line.data();
  }
  return line;
}

// Returns the first line to read for output lines from `oy` on: the first one that earlier lines
// have not read, or that they share.
unsigned PdpPass::first_line(unsigned oy) const noexcept {
  return oy == 0 ? 0 : std::min(lines_of(oy - 1).end, lines_of(oy).begin);
}

// Maps both cubes. Returns false if Bus::window() cannot, or if a line of the output overlaps
// another line.
bool PdpPass::open_windows(std::uint64_t surfaces) {
  const Columns& last = columns_.back();
  const SdpCube in{.memory = layer_.rdma.source,
                   .surfaces = surfaces,
                   .height = layer_.height,
                   .line_bytes = (std::uint64_t{last.begin} + last.count) * hw_.atom};
  const SdpCube out{.memory = layer_.destination,
                    .surfaces = surfaces,
                    .height = layer_.out_height,
                    .line_bytes = std::uint64_t{layer_.out_width} * hw_.atom};
  if (!out.apart() || out.meets(in)) return false;
  from_ = dma_.window(in.memory.ram, in.memory.base, in.extent(), false);
  to_ = dma_.window(out.memory.ram, out.memory.base, out.extent(), true);
  if (from_ != nullptr && to_ != nullptr) return true;
  from_ = to_ = nullptr;
  return false;
}

void PdpPass::run_from_memory() {
  const std::uint64_t surfaces =
      (std::uint64_t{layer_.channels} * precision_bytes(layer_.precision) + hw_.atom - 1) /
      hw_.atom;
  const Columns& last = columns_.back();
  const std::size_t line_bytes = (std::size_t{last.begin} + last.count) * hw_.atom;
  for (Worker& worker : workers_) worker.line.assign(line_bytes, std::byte{0});
  const auto run = [&](std::uint64_t surface, Lines lines, Worker& worker) {
    // Lines that the band above reads, too.
    const unsigned seen = lines.begin == 0 ? 0 : lines_of(lines.begin - 1).end;
    pool(surface, lines, worker, [&](unsigned y) { return read(surface, y, y >= seen, worker); });
  };
  if (open_windows(surfaces)) {
    const std::uint64_t bytes = surfaces * layer_.height * line_bytes;
    const double time = kPoolTime * static_cast<double>(bytes);
    const LineTasks tasks(surfaces, layer_.out_height, line_bytes * layer_.stride_height,
                          pool_.shares(time) ? bytes / pool_.in_flight() : bytes);
    auto execute = [&](unsigned thread, std::size_t task) {
      const LineTasks::Lines at = tasks.at(task);
      run(at.surface, {at.begin, at.end}, workers_[thread]);
    };
    run_tasks(pool_, tasks.count(), time, execute);
  } else {
    for (std::uint64_t surface = 0; surface < surfaces; ++surface)
      run(surface, {0, layer_.out_height}, workers_[0]);
  }
  for (std::uint64_t surface = 0; surface < surfaces; ++surface) announce(surface);
}

void PdpPass::announce(std::uint64_t surface) noexcept {
  dma_.written_lines(layer_.destination.ram, layer_.destination.at(surface, 0),
                     layer_.destination.line, layer_.out_height,
                     std::uint64_t{layer_.out_width} * hw_.atom);
}

void PdpPass::take(std::uint64_t surface, std::uint32_t y, std::uint32_t x, const void* atoms,
                   unsigned count) {
  const std::size_t line_bytes = std::size_t{layer_.width} * hw_.atom;
  if (planes_.size() <= surface) planes_.resize(surface + 1);
  Plane& plane = planes_[surface];
  if (plane.received == 0) {
    if (!free_planes_.empty()) {
      plane.atoms = std::move(free_planes_.back());
      free_planes_.pop_back();
    }
    plane.atoms.resize(line_bytes * layer_.height);
  }
  std::memcpy(plane.atoms.data() + line_bytes * y + std::size_t{x} * hw_.atom, atoms,
              std::size_t{count} * hw_.atom);
  plane.received += count;
  if (plane.received < std::uint64_t{layer_.width} * layer_.height) return;
  // PDP counts and flushes what PDP_RDMA reads, but not what SDP hands over.
  Worker& worker = workers_[0];
  pool(surface, {0, layer_.out_height}, worker, [&](unsigned row) -> InputLine {
    const std::byte* line = plane.atoms.data() + line_bytes * row;
    const HalfSpecials specials = look_at(line, line_bytes, false, worker.counters);
    return {line, moderate_ && specials.nan == 0 && specials.infinite == 0};
  });
  announce(surface);
  free_planes_.push_back(std::move(plane.atoms));
  plane.received = 0;
}

PdpCounters PdpPass::end() {
  PdpCounters sum;
  for (const Worker& worker : workers_) sum += worker.counters;
  return sum;
}

}  // namespace nvdla::model
