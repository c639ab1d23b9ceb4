// SPDX-License-Identifier: MIT
#include "model/pdp_pass.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "arith/float.hpp"

namespace nvdla::model {
namespace {

// A rule says how elements become values of a reduced line, how values are combined, and what
// becomes of them. Widths that do not change inside a loop come as constants where it pays.

template <typename ElementOf, bool kMax>
struct ExtremeRule {
  using Element = ElementOf;
  using Value = ElementOf;
  static constexpr bool kAverages = false;

  Value load(Element element) const { return element; }
  Value along(Value so_far, Value next) const {
    return kMax ? std::max(so_far, next) : std::min(so_far, next);
  }
  Value across(Value so_far, Value next) const { return along(so_far, next); }
  Element store(Value value) const { return value; }
};

// A NaN wins: in a line the leftmost, between lines that of the lowest. Written without branches,
// so that it vectorises; what fp::max and fp::min say.
template <bool kMax>
struct ExtremeFp16Rule {
  using Element = std::uint16_t;
  using Value = std::uint16_t;
  static constexpr bool kAverages = false;

  static std::int16_t key(Value value) {
    const auto bits = static_cast<std::int16_t>(value);
    return static_cast<std::int16_t>(bits ^ (bits >> 15 & 0x7fff));
  }
  static Value of(Value a, Value b) {
    const bool a_nan = (a & fp::Fp16::kMagnitude) > fp::Fp16::kExponent;
    const bool b_nan = (b & fp::Fp16::kMagnitude) > fp::Fp16::kExponent;
    const bool a_wins = kMax ? key(a) >= key(b) : key(a) <= key(b);
    return a_nan | (!b_nan & a_wins) ? a : b;
  }
  Value load(Element element) const { return element; }
  Value along(Value so_far, Value next) const { return of(so_far, next); }
  Value across(Value so_far, Value next) const { return of(next, so_far); }
  Element store(Value value) const { return value; }
};

template <typename ElementOf>
struct AverageRule {
  using Element = ElementOf;
  using Value = std::int32_t;
  static constexpr bool kAverages = true;

  std::int64_t reciprocal_width, reciprocal_height;
  bool saturates;
  // What n missing columns of a line, or n missing rows of a window, add.
  std::int32_t columns[8], rows[8];

  Value load(Element element) const { return element; }
  Value along(Value so_far, Value next) const { return so_far + next; }
  Value across(Value so_far, Value next) const { return so_far + next; }
  Value pad_columns(Value sum, unsigned missing) const { return sum + columns[missing]; }
  Value pad_rows(Value sum, unsigned missing) const { return sum + rows[missing]; }
  static std::int64_t scale(std::int64_t value, std::int64_t reciprocal) {
    const std::int64_t product = value * reciprocal;
    // Half away from zero.
    return (product + 0x8000 - (product < 0 ? 1 : 0)) >> 16;
  }
  Element store(Value sum) const {
    const std::int64_t value = scale(scale(sum, reciprocal_width), reciprocal_height);
    // Only reciprocals that are too large get there; the reference model wraps.
    if (!saturates) return static_cast<Element>(value);
    return static_cast<Element>(std::clamp<std::int64_t>(value, std::numeric_limits<Element>::min(),
                                                         std::numeric_limits<Element>::max()));
  }
};

struct AverageFp16Rule {
  using Element = std::uint16_t;
  using Value = std::uint32_t;
  static constexpr bool kAverages = true;

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
    if constexpr (Rule::kAverages) {
      // One look-up and one addition, whether they are missing on the left, on the right or on
      // both.
      const unsigned missing = layer.kernel_width - (end - begin);
      if (missing != 0)
        for (unsigned lane = 0; lane < lanes; ++lane)
          out[lane] = rule.pad_columns(out[lane], missing);
    }
  }
}

// Zeroes in memory that stays from layer to layer.
template <typename Value>
Value* scratch(std::vector<std::byte>& memory, std::size_t count) {
  memory.assign(count * sizeof(Value), std::byte{0});
  return reinterpret_cast<Value*>(memory.data());
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
}

// Counts and flushes what is read: columns that two bands share are read, and so counted, twice.
void PdpPass::look_at(std::byte* atoms, std::size_t bytes) {
  if (layer_.precision != Precision::kFp16) return;
  auto* values = reinterpret_cast<std::uint16_t*>(atoms);
  const std::span<std::uint16_t> elements(values, bytes / sizeof(*values));
  const fp::Specials specials = fp::count_specials(elements);
  counters_.nan_in += specials.nan;
  counters_.infinite_in += specials.infinite;
  if (!layer_.flush_nan || specials.nan == 0) return;
  for (std::uint16_t& element : elements)
    element = static_cast<std::uint16_t>(fp::flush_nan<fp::Fp16>(element));
}

// `line(y)` gives the input line; it is called once for every line, from the top.
template <typename Rule, typename Line>
void PdpPass::pool_as(const Rule& rule, std::uint64_t surface, Line line) {
  using Element = typename Rule::Element;
  using Value = typename Rule::Value;
  const unsigned lanes = static_cast<unsigned>(hw_.atom / sizeof(Element));
  const std::size_t values = std::size_t{layer_.out_width} * lanes;
  const std::size_t line_bytes = std::size_t{layer_.out_width} * hw_.atom;
  // Split layers ignore CUBE_IN_WIDTH.
  const unsigned width =
      columns_.empty() ? layer_.width : columns_.back().begin + columns_.back().count;
  // Reduced lines that are still needed, line y at y modulo the kernel's height.
  Value* const reduced = scratch<Value>(reduced_, values * layer_.kernel_height);
  Value* const sums = scratch<Value>(sums_, values);
  out_.resize(line_bytes);
  unsigned next = 0;
  for (unsigned oy = 0; oy < layer_.out_height; ++oy) {
    const int from = static_cast<int>(oy * layer_.stride_y) - static_cast<int>(layer_.top);
    const unsigned begin = static_cast<unsigned>(std::max(from, 0));
    const unsigned end = std::min(
        static_cast<unsigned>(from + static_cast<int>(layer_.kernel_height)), layer_.height);
    for (; next < end; ++next) {
      const auto* in = reinterpret_cast<const Element*>(line(next));
      // Lines between windows are read for nothing.
      if (next < begin) continue;
      reduce_line(rule, layer_, width, lanes, in, reduced + values * (next % layer_.kernel_height));
    }
    const auto at = [&](unsigned y) { return reduced + values * (y % layer_.kernel_height); };
    std::copy_n(at(begin), values, sums);
    for (unsigned y = begin + 1; y < end; ++y) {
      const Value* row = at(y);
      for (std::size_t i = 0; i < values; ++i) sums[i] = rule.across(sums[i], row[i]);
    }
    if constexpr (Rule::kAverages) {
      const unsigned missing = layer_.kernel_height - (end - begin);
      if (missing != 0)
        for (std::size_t i = 0; i < values; ++i) sums[i] = rule.pad_rows(sums[i], missing);
    }
    auto* out = reinterpret_cast<Element*>(out_.data());
    for (std::size_t i = 0; i < values; ++i) out[i] = rule.store(sums[i]);
    if (layer_.precision == Precision::kFp16)
      counters_.nan_out +=
          fp::count_specials({reinterpret_cast<const std::uint16_t*>(out), values}).nan;
    dma_.write(NVDLA_DMA_PDP_WDMA, layer_.destination.ram, layer_.destination.at(surface, oy),
               out_.data(), line_bytes);
  }
  announce_lines(dma_, layer_.destination.ram, layer_.destination.at(surface, 0),
                 layer_.destination.line, layer_.out_height, line_bytes);
}

template <typename Line>
void PdpPass::pool(std::uint64_t surface, Line line) {
  const auto average = [&]<typename Element>(Element) {
    AverageRule<Element> rule{
        layer_.reciprocal_width, layer_.reciprocal_height, quirks_ != Quirks::kCmodel, {}, {}};
    for (unsigned n = 1; n < 8; ++n) {
      rule.columns[n] = missing_columns(n);
      rule.rows[n] = missing_rows(n);
    }
    pool_as(rule, surface, line);
  };
  const bool max = layer_.method == Pooling::kMax;
  switch (layer_.precision) {
    case Precision::kInt8:
      if (layer_.method == Pooling::kAverage) return average(std::int8_t{});
      return max ? pool_as(ExtremeRule<std::int8_t, true>{}, surface, line)
                 : pool_as(ExtremeRule<std::int8_t, false>{}, surface, line);
    case Precision::kInt16:
      if (layer_.method == Pooling::kAverage) return average(std::int16_t{});
      return max ? pool_as(ExtremeRule<std::int16_t, true>{}, surface, line)
                 : pool_as(ExtremeRule<std::int16_t, false>{}, surface, line);
    case Precision::kFp16:
      break;
  }
  if (layer_.method != Pooling::kAverage)
    return max ? pool_as(ExtremeFp16Rule<true>{}, surface, line)
               : pool_as(ExtremeFp16Rule<false>{}, surface, line);
  AverageFp16Rule rule{layer_.reciprocal_width, layer_.reciprocal_height, {}, {}};
  const std::uint32_t kernel_width =
      fp::widen<fp::Fp17>(fp::int_to_fp16(static_cast<std::int32_t>(layer_.kernel_width)));
  for (unsigned n = 1; n < 8; ++n) {
    rule.columns[n] = layer_.padding[n] & 0x1ffff;
    rule.rows[n] = fp::mul<fp::Fp17>(rule.columns[n], kernel_width);
  }
  pool_as(rule, surface, line);
}

void PdpPass::run_from_memory() {
  const Surface& source = layer_.rdma.source;
  const std::uint64_t surfaces =
      (std::uint64_t{layer_.channels} * precision_bytes(layer_.precision) + hw_.atom - 1) /
      hw_.atom;
  const Columns& last = columns_.back();
  line_.assign((std::size_t{last.begin} + last.count) * hw_.atom, std::byte{0});
  for (std::uint64_t surface = 0; surface < surfaces; ++surface)
    pool(surface, [&](unsigned y) {
      for (const Columns& columns : columns_) {
        std::byte* atoms = line_.data() + std::size_t{columns.begin} * hw_.atom;
        const std::size_t bytes = std::size_t{columns.count} * hw_.atom;
        dma_.read(NVDLA_DMA_PDP_RDMA, source.ram,
                  source.at(surface, y) + std::uint64_t{columns.begin} * hw_.atom, atoms, bytes);
        look_at(atoms, bytes);
      }
      return line_.data();
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
  pool(surface, [&](unsigned row) { return plane.atoms.data() + line_bytes * row; });
  free_planes_.push_back(std::move(plane.atoms));
  plane.received = 0;
}

PdpCounters PdpPass::end() { return counters_; }

}  // namespace nvdla::model
