// SPDX-License-Identifier: MIT
//
// Maps for SDP layers from memory to memory whose results depend on one element only, such as
// layers with a table. There are no more results than patterns of an element, so the operators
// compute each result once, and this layer and later ones look it up.
#include <algorithm>
#include <cstring>

#include "model/lut/lut_search.hpp"
#include "model/sdp/sdp_pass.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

// Returns true if all values are equal.
bool all_alike(std::span<const std::int32_t> values) {
  return std::all_of(values.begin(), values.end(),
                     [&](std::int32_t value) { return value == values.front(); });
}

}  // namespace

void SdpPass::add_map_key() {
  std::vector<std::byte>& key = map_key_;
  key.clear();
  append_key(key, layer_.proc, layer_.flush_nan, layer_.offset, layer_.scale, layer_.shift,
             layer_.count_saturation, layer_.count_lut);
  for (const SdpOperands& operands : plan_->operands)
    for (const std::span<const std::int32_t> values :
         {operands.alu_channels(), operands.mul_channels()})
      append_key(key, values.empty() ? 0 : values.front());
  for (const OperatorX& x : layer_.x)
    append_key(key, x.active, x.algorithm, x.alu.active, x.mul.active, x.mul_shift, x.prelu,
               x.relu);
  const OperatorY& y = layer_.y;
  append_key(key, y.active, y.lut, y.algorithm, y.alu.active, y.mul.active, y.truncate, y.prelu);
  if (y.lut) append_key(key, layer_.table);
}

// Returns the map of the layer's key, which may not be made yet.
SdpMap& SdpPass::find_map() {
  if (layer_.proc != Precision::kInt8) {
    if (word_map_.key != map_key_) {
      word_map_.key = map_key_;
      word_map_.seen = 0;
      word_map_.made = false;
    }
    return word_map_;
  }
  const auto found = std::find_if(byte_maps_.begin(), byte_maps_.end(),
                                  [&](const SdpMap& map) { return map.key == map_key_; });
  if (found != byte_maps_.end()) return *found;
  if (byte_maps_.size() == kMostByteMaps) byte_maps_.clear();
  SdpMap& map = byte_maps_.emplace_back();
  map.key = map_key_;
  return map;
}

// Decides on a map, which pays once such layers have had more elements than there are patterns.
bool SdpPass::plan_map(std::uint64_t elements) {
  const bool bytes = layer_.proc == Precision::kInt8;
  const bool counts = layer_.count_saturation || (layer_.y.lut && layer_.count_lut) ||
                      (float_ && layer_.rdma.count_specials);
  if (layer_.rdma.in != layer_.proc || layer_.out != layer_.proc || layer_.y.equal ||
      (counts && !bytes))
    return false;
  for (const SdpOperands& operands : plan_->operands)
    if (operands.per_element() || !all_alike(operands.alu_channels()) ||
        !all_alike(operands.mul_channels()))
      return false;
  add_map_key();
  map_ = &find_map();
  map_->seen += elements;
  const std::uint64_t patterns = std::uint64_t{1} << (8 * precision_bytes(layer_.proc));
  if (!map_->made && map_->seen <= patterns) return false;
  if (!map_->made) {
    make_map();
    if (bytes && counts) make_flags();
    map_->made = true;
  }
  return true;
}

void SdpPass::make_map() {
  const unsigned bytes = precision_bytes(layer_.proc);
  const unsigned patterns = 1u << (8 * bytes);
  Worker& worker = workers_[0];
  // The operators would count patterns here, not elements.
  const SdpCounters kept = worker.counters;
  bytes == 1 ? map_->bytes.resize(patterns) : map_->words.resize(patterns);
  constexpr unsigned kPatterns = kPositions * kBlock;
  for (unsigned first = 0; first < patterns; first += kPatterns) {
    const unsigned number = std::min(kPatterns, patterns - first), count = number / kBlock;
    for (unsigned i = 0; i < number; ++i) {
      const auto pattern = static_cast<std::uint16_t>(first + i);
      std::memcpy(worker.raw.data() + std::size_t{i} * bytes, &pattern, bytes);
    }
    std::int32_t* values = worker.values.data();
    const SdpElements from{worker.raw.data(), count, kBlock, 1, 0, bytes == 2};
    float_ ? kernels_.units->sdp_load_half(from, values, false) : kernels_.sdp_widen(from, values);
    operate(values, 0, count, kBlock, worker);
    convert(values, count, kBlock, worker);
    if (bytes == 1) {
      std::memcpy(map_->bytes.data() + first, worker.out8.data(), number);
    } else {
      std::memcpy(map_->words.data() + first, worker.out16.data(), std::size_t{number} * 2);
    }
  }
  worker.counters = kept;
}

// Counts each pattern as the operators do, in as many lanes as they count at once.
void SdpPass::make_flags() {
  constexpr unsigned kPatterns = 256, kLanesOfPattern = 8;
  Worker& worker = workers_[0];
  const SdpCounters kept = worker.counters;
  map_->flags.resize(kPatterns);
  for (unsigned pattern = 0; pattern < kPatterns; ++pattern) {
    worker.counters = {};
    std::int32_t* values = worker.values.data();
    std::fill_n(values, kBlock, std::int32_t{static_cast<std::int8_t>(pattern)});
    operate(values, 0, 1, kLanesOfPattern, worker);
    convert(values, 1, kLanesOfPattern, worker);
    const SdpCounters& counted = worker.counters;
    unsigned flags = 0, bit = 1;
    for (const std::uint64_t number :
         {std::uint64_t{counted.saturated}, counted.lut.underflow, counted.lut.overflow,
          counted.lut.le_hit, counted.lut.lo_hit}) {
      if (number != 0) flags |= bit;
      bit <<= 1;
    }
    map_->flags[pattern] = static_cast<std::uint8_t>(flags);
  }
  map_->flags_alike = std::equal(map_->flags.begin() + 1, map_->flags.end(), map_->flags.begin());
  worker.counters = kept;
}

void SdpPass::count_patterns(const std::byte* from, std::size_t size, SdpCounters& counters) const {
  std::uint64_t counts[kPatternFlags] = {};
  if (map_->flags_alike) {
    for (unsigned i = 0; i < kPatternFlags; ++i)
      counts[i] = (map_->flags.front() >> i & 1) != 0 ? size : 0;
  } else {
    kernels_.units->sdp_count_flags(map_->flags.data(), from, size, counts);
  }
  counters.saturated += static_cast<std::uint32_t>(counts[0]);
  SdpLutCounters lut;
  lut.underflow = counts[1];
  lut.overflow = counts[2];
  lut.le_hit = counts[3];
  lut.lo_hit = counts[4];
  // Each element has an answer from somewhere.
  if (layer_.y.lut && layer_.count_lut) lut.hit = size - lut.underflow - lut.overflow;
  counters.lut += lut;
}

void SdpPass::map(const LineTasks::Lines& lines, unsigned thread) {
  const bool bytes = layer_.proc == Precision::kInt8;
  const Surface &in = layer_.rdma.source, &out = layer_.destination;
  const bool packed = in.line == cube_.line_bytes && out.line == cube_.line_bytes;
  const std::uint32_t step = packed ? lines.end - lines.begin : 1;
  const std::size_t size = std::size_t{step} * cube_.line_bytes;
  SdpCounters& counters = workers_[thread].counters;
  for (std::uint32_t y = lines.begin; y < lines.end; y += step) {
    const std::byte* from = source_ + lines.surface * in.surface + y * in.line;
    std::byte* to = window_ + lines.surface * out.surface + y * out.line;
    if (bytes) {
      // Results may take the place of what is counted.
      if (!map_->flags.empty()) count_patterns(from, size, counters);
      kernels_.units->sdp_map_bytes(map_->bytes.data(), from, size, to);
      continue;
    }
    const HalfCounts counts = kernels_.units->sdp_map_words(map_->words.data(), from, size / 2, to);
    if (!float_) continue;
    counters.nan_out += counts.nan;
    counters.saturated += counts.largest;
  }
}

}  // namespace nvdla::model
