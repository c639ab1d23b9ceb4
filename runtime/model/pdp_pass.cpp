// SPDX-License-Identifier: MIT
#include "model/pdp_pass.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "arith/float.hpp"

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

// Of an entry of the padding table.
constexpr unsigned kEntryBits = 19;

// The signed number that the low bits are.
std::int32_t low_bits(std::uint32_t value, unsigned bits) noexcept {
  return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

// One input line of `lanes` channels to one reduced line.
template <typename Rule>
void reduce_line(const Rule& rule, const PdpLayer& layer, unsigned width, unsigned lanes,
                 const typename Rule::Element* in, typename Rule::Value* out) {
  for (unsigned ox = 0; ox < layer.out_width; ++ox, out += lanes) {
    const int from = static_cast<int>(ox * layer.stride_x) - static_cast<int>(layer.left);
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

  void along(const std::byte* in, std::byte* reduced) const {
    reduce_line(rule, layer, width, lanes, reinterpret_cast<const std::uint16_t*>(in),
                reinterpret_cast<std::uint32_t*>(reduced));
  }
  void across(const std::byte* row, std::byte* sums) const {
    const auto* from = reinterpret_cast<const std::uint32_t*>(row);
    auto* to = reinterpret_cast<std::uint32_t*>(sums);
    for (std::size_t i = 0; i < values; ++i) to[i] = rule.across(to[i], from[i]);
  }
  void store(const std::byte* sums, unsigned missing, std::byte* out) const {
    const auto* from = reinterpret_cast<const std::uint32_t*>(sums);
    auto* to = reinterpret_cast<std::uint16_t*>(out);
    for (std::size_t i = 0; i < values; ++i)
      to[i] = rule.store(missing == 0 ? from[i] : rule.pad_rows(from[i], missing));
  }
};

// Memory that stays from layer to layer.
std::byte* scratch(std::vector<std::byte>& memory, std::size_t bytes) {
  memory.resize(std::max(memory.size(), bytes));
  return memory.data();
}

}  // namespace

// What an integer average adds for so many columns. In int8 the reference model takes as many bits
// of an entry as the sum of so many elements has, the logic those of all. Entries that are such a
// sum are the same to both, and no others compile.
std::int32_t PdpPass::missing_columns(unsigned count) const noexcept {
  constexpr unsigned kBitsOfSum[8] = {1, 8, 9, 10, 10, 11, 11, 11};
  if (layer_.precision != Precision::kInt8) return low_bits(layer_.padding[count], kEntryBits);
  return low_bits(layer_.padding[count], quirks_ == Quirks::kCmodel ? kBitsOfSum[count] : 11);
}

// Of so many rows; in int8 the logic takes this many bits of the product.
std::int32_t PdpPass::missing_rows(unsigned count) const noexcept {
  const auto width = static_cast<std::int32_t>(layer_.kernel_width);
  if (layer_.precision != Precision::kInt8 || quirks_ == Quirks::kCmodel)
    return missing_columns(count) * width;
  const std::int32_t product = low_bits(layer_.padding[count], kEntryBits) * width;
  return low_bits(static_cast<std::uint32_t>(product), 14);
}

void PdpPass::begin(const PdpLayer& layer) {
  layer_ = layer;
  counters_ = {};
  planes_.clear();
  columns_.clear();
  if (layer.from_memory) input_columns(layer.rdma, columns_);
  ready_ = prepare();
}

// Counts what is read: columns that two bands share are read, and so counted, twice. True if there
// is something to flush.
bool PdpPass::look_at(const std::byte* atoms, std::size_t bytes) noexcept {
  if (layer_.precision != Precision::kFp16) return false;
  const auto* values = reinterpret_cast<const std::uint16_t*>(atoms);
  const fp::Specials specials = fp::count_specials({values, bytes / sizeof(*values)});
  counters_.nan_in += specials.nan;
  counters_.infinite_in += specials.infinite;
  return layer_.flush_nan && specials.nan != 0;
}

void PdpPass::flush(std::byte* atoms, std::size_t bytes) noexcept {
  auto* values = reinterpret_cast<std::uint16_t*>(atoms);
  for (std::size_t i = 0; i < bytes / sizeof(*values); ++i)
    values[i] = static_cast<std::uint16_t>(fp::flush_nan<fp::Fp16>(values[i]));
}

// `line(y)` gives the input line; it is called once for every line, from the top. Lines go through
// a pooler: along(in, reduced), across(row, sums) and store(sums, missing rows, out).
template <typename Pooler, typename Line>
void PdpPass::pool_by(const Pooler& pooler, std::uint64_t surface, Line line) {
  const std::size_t line_bytes = std::size_t{layer_.out_width} * hw_.atom;
  const std::size_t value_bytes = line_bytes / precision_bytes(layer_.precision) * pooler.bytes;
  // Reduced lines that are still needed, line y at y modulo the kernel's height.
  std::byte* const reduced = scratch(reduced_, value_bytes * layer_.kernel_height);
  std::byte* const sums = scratch(sums_, value_bytes);
  std::byte* const out = scratch(out_, line_bytes);
  const auto at = [&](unsigned y) { return reduced + value_bytes * (y % layer_.kernel_height); };
  unsigned next = 0;
  for (unsigned oy = 0; oy < layer_.out_height; ++oy) {
    const int from = static_cast<int>(oy * layer_.stride_y) - static_cast<int>(layer_.top);
    const unsigned begin = static_cast<unsigned>(std::max(from, 0));
    const unsigned end = std::min(
        static_cast<unsigned>(from + static_cast<int>(layer_.kernel_height)), layer_.height);
    for (; next < end; ++next) {
      const std::byte* in = line(next);
      // Lines between windows are read for nothing.
      if (next >= begin) pooler.along(in, at(next));
    }
    std::memcpy(sums, at(begin), value_bytes);
    for (unsigned y = begin + 1; y < end; ++y) pooler.across(at(y), sums);
    pooler.store(sums, layer_.kernel_height - (end - begin), out);
    if (layer_.precision == Precision::kFp16)
      counters_.nan_out +=
          fp::count_specials({reinterpret_cast<const std::uint16_t*>(out), line_bytes / 2}).nan;
    dma_.write(NVDLA_DMA_PDP_WDMA, layer_.destination.ram, layer_.destination.at(surface, oy), out,
               line_bytes);
  }
  announce_lines(dma_, layer_.destination.ram, layer_.destination.at(surface, 0),
                 layer_.destination.line, layer_.out_height, line_bytes);
}

// Split layers ignore CUBE_IN_WIDTH.
unsigned PdpPass::in_width() const noexcept {
  return columns_.empty() ? layer_.width : columns_.back().begin + columns_.back().count;
}

template <typename Line>
void PdpPass::pool(std::uint64_t surface, Line line) {
  const auto lanes = static_cast<unsigned>(hw_.atom / precision_bytes(layer_.precision));
  const std::size_t values = std::size_t{layer_.out_width} * lanes;
  if (!ready_) return pool_by(DefinedAverage{layer_, in_width(), lanes, values}, surface, line);
  struct Kernel {
    const UnitKernels& kernels;
    const PoolRule& rule;
    const PoolLine line;
    const std::int32_t* rows;  // or null
    std::size_t values;
    unsigned bytes;

    void along(const std::byte* in, std::byte* reduced) const {
      kernels.pool_along(rule, line, in, reduced);
    }
    void across(const std::byte* row, std::byte* sums) const {
      kernels.pool_across(rule, row, values, sums);
    }
    void store(std::byte* sums, unsigned missing, std::byte* out) const {
      kernels.pool_store(rule, rows == nullptr || missing == 0 ? nullptr : rows + missing, values,
                         sums, out);
    }
  };
  const bool average = layer_.method == Pooling::kAverage;
  pool_by(Kernel{kernels_,
                 rule_,
                 {lanes, in_width(), layer_.out_width, layer_.left, layer_.kernel_width,
                  layer_.stride_x, average ? missing_columns_ : nullptr},
                 average ? missing_rows_ : nullptr,
                 values,
                 average ? 4u : precision_bytes(layer_.precision)},
          surface, line);
}

// What the kernels take of the layer; false where a register holds a pattern that fp17 does not
// have.
bool PdpPass::prepare() noexcept {
  constexpr PoolKind kFirst[] = {PoolKind::kAverageInt8, PoolKind::kAverageInt16,
                                 PoolKind::kAverageHalf};
  rule_.kind =
      static_cast<PoolKind>(static_cast<unsigned>(kFirst[static_cast<unsigned>(layer_.precision)]) +
                            static_cast<unsigned>(layer_.method));
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
  const std::uint32_t kernel_width =
      fp::widen<Fp17>(fp::int_to_fp16(static_cast<std::int32_t>(layer_.kernel_width)));
  for (unsigned n = 1; n < 8; ++n) {
    const std::uint32_t entry = layer_.padding[n] & 0x1ffff;
    missing_columns_[n] = take(entry);
    missing_rows_[n] = take(fp::mul<Fp17>(entry, kernel_width));
  }
  rule_.reciprocal_width = take(layer_.reciprocal_width);
  rule_.reciprocal_height = take(layer_.reciprocal_height);
  return regular;
}

void PdpPass::run_from_memory() {
  const Surface& source = layer_.rdma.source;
  const std::uint64_t surfaces =
      (std::uint64_t{layer_.channels} * precision_bytes(layer_.precision) + hw_.atom - 1) /
      hw_.atom;
  const Columns& last = columns_.back();
  line_.assign((std::size_t{last.begin} + last.count) * hw_.atom, std::byte{0});
  for (std::uint64_t surface = 0; surface < surfaces; ++surface)
    pool(surface, [&](unsigned y) -> const std::byte* {
      const std::byte* seen = nullptr;
      for (const Columns& columns : columns_) {
        std::byte* atoms = line_.data() + std::size_t{columns.begin} * hw_.atom;
        const std::size_t bytes = std::size_t{columns.count} * hw_.atom;
        seen = dma_.view(NVDLA_DMA_PDP_RDMA, source.ram,
                         source.at(surface, y) + std::uint64_t{columns.begin} * hw_.atom, bytes,
                         atoms);
        const bool flushes = look_at(seen, bytes);
        // A line in one piece stays where it is, if that is as good.
        if (seen != atoms && (columns_.size() > 1 || flushes)) {
          std::memcpy(atoms, seen, bytes);
          seen = atoms;
        }
        if (flushes) flush(atoms, bytes);
      }
      return columns_.size() > 1 ? line_.data() : seen;
    });
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
  // What SDP hands on is neither counted nor flushed: that is done to what is read.
  pool(surface,
       [&](unsigned row) -> const std::byte* { return plane.atoms.data() + line_bytes * row; });
  free_planes_.push_back(std::move(plane.atoms));
  plane.received = 0;
}

PdpCounters PdpPass::end() { return counters_; }

}  // namespace nvdla::model
