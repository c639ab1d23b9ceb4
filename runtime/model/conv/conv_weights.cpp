// SPDX-License-Identifier: MIT
#include "model/conv/conv_weights.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "model/conv/half_operand.hpp"

namespace nvdla::model {
namespace {

// Enough for the weights of a large network, twice (as they came and packed).
constexpr std::size_t kPackedBytes = std::size_t{512} << 20;

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Compares weights of one shape for the loops of bytes, of which each has its place.
bool same_bytes(const PackedWeights& a, const PackedWeights& b) noexcept {
  return a.bytes == b.bytes && a.depthwise == b.depthwise && a.starts == b.starts &&
         a.depthwise_channels == b.depthwise_channels;
}

std::int16_t element(const ConvShape& shape, const std::byte* from) {
  if (shape.element_bytes == 1) return static_cast<std::int8_t>(*from);
  std::int16_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// Calls `place(kernel, row, column, first channel, count, bytes)` in the order of the stream:
// channel, kernel, position in x, in y, block of channels, group; with extended lines channel,
// line, kernel, block of lines, group.
template <typename Place>
void walk_stream(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
                 Place place) {
  const std::uint32_t group = hw.atomic_k / shape.element_bytes;
  const std::byte* from = raw.data();
  const auto emit = [&](std::uint32_t k, std::uint32_t r, std::uint32_t s, std::uint32_t c,
                        std::uint32_t count) {
    place(k, r, s, c, count, from);
    from += std::size_t{count} * shape.element_bytes;
  };
  for (std::uint32_t k0 = 0; k0 < shape.kernels; k0 += group) {
    const std::uint32_t k1 = std::min(shape.kernels, k0 + group);
    if (shape.post_lines > 1) {
      for (std::uint32_t r0 = 0; r0 < shape.kernel_height; r0 += shape.post_lines) {
        const std::uint32_t r1 = std::min(shape.kernel_height, r0 + shape.post_lines);
        for (std::uint32_t k = k0; k < k1; ++k)
          for (std::uint32_t r = r0; r < r1; ++r) emit(k, r, 0, 0, shape.channels);
      }
      continue;
    }
    for (std::uint32_t c0 = 0; c0 < shape.channels; c0 += hw.atomic_c) {
      const std::uint32_t count = std::min(hw.atomic_c, shape.channels - c0);
      for (std::uint32_t r = 0; r < shape.kernel_height; ++r)
        for (std::uint32_t s = 0; s < shape.kernel_width; ++s)
          for (std::uint32_t k = k0; k < k1; ++k) emit(k, r, s, c0, count);
    }
  }
}

// Calls `place(kernel, first channel, position, bytes)` for each four channels of a position.
template <typename Place>
void walk_winograd(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
                   Place place) {
  const std::uint32_t group = hw.atomic_k / shape.element_bytes;
  const std::byte* from = raw.data();
  for (std::uint32_t k0 = 0; k0 < shape.kernels; k0 += group) {
    const std::uint32_t k1 = std::min(shape.kernels, k0 + group);
    for (std::uint32_t c = 0; c < shape.channels; c += 4)
      for (std::uint32_t k = k0; k < k1; ++k)
        for (std::uint32_t position = 0; position < 16; ++position, from += 4 * shape.element_bytes)
          place(k, c, position, from);
  }
}

void pack_bytes(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
                PackedWeights& packed) {
  const std::size_t block = shape.block_elements();
  // Kernels and steps beyond the real ones weigh nothing.
  packed.bytes.assign(block * shape.blocks(), 0);
  packed.starts.assign(std::size_t{shape.blocks()} * kBlock, 0);
  walk_stream(hw, shape, raw,
              [&](std::uint32_t k, std::uint32_t r, std::uint32_t s, std::uint32_t c0,
                  std::uint32_t count, const std::byte* from) {
                const std::size_t first = shape.place(r, s, c0);
                std::int8_t* to = packed.bytes.data() + k / kBlock * block + k % kBlock * kKr;
                std::int32_t sum = 0;
                for (std::uint32_t c = 0; c < count;) {
                  // Copies up to the end of the step.
                  const std::size_t i = first + c;
                  const auto room = static_cast<std::uint32_t>(kKr - i % kKr);
                  const std::uint32_t part = std::min(room, count - c);
                  std::int8_t weights[kKr] = {};
                  part == kKr ? std::memcpy(weights, from + c, kKr)
                              : std::memcpy(weights, from + c, part);
                  std::int8_t* const step = to + i / kKr * kKr * kBlock;
                  part == kKr ? std::memcpy(step, weights, kKr)
                              : std::memcpy(step + i % kKr, weights, part);
                  for (const std::int8_t weight : weights) sum += weight;
                  c += part;
                }
                if (shape.biased) packed.starts[k] -= 128 * sum;
              });
}

// Returns true if, from some channel on, kernel k of each block has weights for channel k only.
// Sets the first such channel of each block.
bool find_depthwise(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
                    std::vector<std::uint32_t>& channels) {
  // Images have their columns in the channels.
  if (shape.post_lines > 1 || shape.channels < 2) return false;
  constexpr std::uint32_t kUnknown = UINT32_MAX;
  // Dense weights are usually detected in the first kernel group.
  ConvShape group = shape;
  group.kernels = std::min(shape.kernels, hw.atomic_k / shape.element_bytes);
  bool diagonal = true;
  for (const ConvShape& part : {group, shape}) {
    channels.assign(shape.blocks(), kUnknown);
    walk_stream(hw, part, raw,
                [&](std::uint32_t k, std::uint32_t, std::uint32_t, std::uint32_t c0,
                    std::uint32_t count, const std::byte* from) {
                  std::uint32_t& first = channels[k / kBlock];
                  for (std::uint32_t c = 0; c < count && diagonal; ++c) {
                    if (from[c] == std::byte{0}) continue;
                    if (first == kUnknown && c0 + c >= k % kBlock) first = c0 + c - k % kBlock;
                    diagonal = first != kUnknown && c0 + c == first + k % kBlock;
                  }
                });
    if (!diagonal) return false;
  }
  std::replace(channels.begin(), channels.end(), kUnknown, std::uint32_t{0});
  return true;
}

void pack_depthwise(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
                    PackedWeights& packed) {
  const std::size_t block = std::size_t{shape.quads()} * 4 * kBlock;
  packed.depthwise.assign(block * shape.blocks(), 0);
  packed.starts.assign(std::size_t{shape.blocks()} * kBlock, 0);
  walk_stream(
      hw, shape, raw,
      [&](std::uint32_t k, std::uint32_t r, std::uint32_t s, std::uint32_t c0, std::uint32_t count,
          const std::byte* from) {
        const std::uint32_t channel = packed.depthwise_channels[k / kBlock] + k % kBlock;
        if (channel < c0 || channel >= c0 + count) return;
        const auto weight = static_cast<std::int8_t>(from[channel - c0]);
        const std::size_t tap = shape.tap(r, s);
        packed.depthwise[k / kBlock * block + (tap / 4 * kBlock + k % kBlock) * 4 + tap % 4] =
            weight;
        if (shape.biased) packed.starts[k] -= 128 * weight;
      });
}

// Packs both bytes of each weight as pack_bytes() does.
void pack_pieces(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
                 PackedWeights& packed) {
  const std::size_t block = shape.block_elements();
  packed.bytes.assign(block * shape.blocks(), 0);
  packed.lower.assign(block * shape.blocks(), 0);
  walk_stream(hw, shape, raw,
              [&](std::uint32_t k, std::uint32_t r, std::uint32_t s, std::uint32_t c0,
                  std::uint32_t count, const std::byte* from) {
                const std::size_t first = shape.place(r, s, c0);
                for (std::size_t i = first; i < first + count; ++i, from += 2) {
                  const std::size_t to =
                      k / kBlock * block + (i / kKr * kBlock + k % kBlock) * kKr + i % kKr;
                  packed.lower[to] = std::to_integer<std::uint8_t>(from[0]);
                  packed.bytes[to] = static_cast<std::int8_t>(from[1]);
                }
              });
}

void pack_wide(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
               PackedWeights& packed) {
  packed.wide = WideWeights(shape.blocks(), 1, std::size_t{shape.run_count()} * shape.run_steps());
  walk_stream(hw, shape, raw,
              [&](std::uint32_t k, std::uint32_t r, std::uint32_t s, std::uint32_t c0,
                  std::uint32_t count, const std::byte* from) {
                const std::size_t first = shape.place(r, s, c0);
                for (std::uint32_t c = 0; c < count; ++c, from += shape.element_bytes)
                  packed.wide.at(k, 0, first + c) = element(shape, from);
              });
  packed.wide.finish();
}

void pack_half(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
               PackedWeights& packed) {
  const std::size_t steps = shape.half_steps(hw.atomic_c);
  packed.half.assign(shape.kernels * steps * kLanes, 0);
  walk_stream(hw, shape, raw,
              [&](std::uint32_t k, std::uint32_t r, std::uint32_t s, std::uint32_t c0,
                  std::uint32_t count, const std::byte* from) {
                std::size_t step =
                    (std::size_t{c0 / hw.atomic_c} * shape.kernel_height + r) * shape.kernel_width +
                    s;
                std::size_t lane = 0;
                if (shape.post_lines > 1) {
                  step = r / shape.post_lines;
                  lane = std::size_t{r % shape.post_lines} * shape.channels;
                }
                std::memcpy(packed.half.data() + (k * steps + step) * kLanes + lane, from,
                            std::size_t{count} * 2);
              });
}

void pack_half_tiles(const nvdla_hw& hw, const ConvShape& shape, PackedWeights& packed) {
  const std::size_t lanes = std::size_t{shape.half_steps(hw.atomic_c)} * kLanes;
  packed.half_mantissas.assign(shape.blocks() * lanes * kBlock, 0);
  packed.half_groups.assign(packed.half_mantissas.size(), kNoGroup);
  for (std::size_t k = 0; k < shape.kernels; ++k)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const HalfOperand operand = half_operand(packed.half[k * lanes + lane]);
      const std::size_t to = (k / kBlock * lanes + lane) * kBlock + k % kBlock;
      packed.half_mantissas[to] = operand.mantissa;
      packed.half_groups[to] = operand.group;
    }
}

void pack_floats(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
                 PackedWeights& packed) {
  const std::size_t block = std::size_t{shape.run_count()} * shape.run_elements() * kBlock;
  packed.floats.assign(block * shape.blocks(), 0);
  walk_stream(hw, shape, raw,
              [&](std::uint32_t k, std::uint32_t r, std::uint32_t s, std::uint32_t c0,
                  std::uint32_t count, const std::byte* from) {
                const std::uint32_t run = shape.rows ? r : r * shape.kernel_width + s;
                const std::uint32_t at = shape.rows ? s * shape.channels + c0 : c0;
                float* to = packed.floats.data() + k / kBlock * block +
                            (std::size_t{run} * shape.run_elements() + at) * kBlock + k % kBlock;
                for (std::uint32_t c = 0; c < count; ++c, from += 2, to += kBlock)
                  *to = half_value(static_cast<std::uint16_t>(element(shape, from)));
              });
}

void pack_winograd(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
                   PackedWeights& packed) {
  packed.wide = WideWeights(shape.blocks(), 16, shape.channels / kKr);
  walk_winograd(
      hw, shape, raw,
      [&](std::uint32_t k, std::uint32_t c, std::uint32_t position, const std::byte* from) {
        for (unsigned i = 0; i < 4; ++i, from += shape.element_bytes)
          packed.wide.at(k, position, c + i) = element(shape, from);
      });
  packed.wide.finish();
}

void pack_winograd_half(const nvdla_hw& hw, const ConvShape& shape, std::span<const std::byte> raw,
                        PackedWeights& packed) {
  const std::size_t steps = shape.half_steps(hw.atomic_c);
  packed.half.assign(shape.kernels * steps * kLanes, 0);
  walk_winograd(
      hw, shape, raw,
      [&](std::uint32_t k, std::uint32_t c, std::uint32_t position, const std::byte* from) {
        std::memcpy(packed.half.data() + (k * steps + c / 4) * kLanes + position * 4, from, 8);
      });
}

}  // namespace

PackedWeights pack_weights(const nvdla_hw& hw, const ConvShape& shape,
                           std::span<const std::byte> raw) {
  PackedWeights packed;
  switch (shape.mac) {
    case Mac::kBytes:
      if (find_depthwise(hw, shape, raw, packed.depthwise_channels))
        pack_depthwise(hw, shape, raw, packed);
      else
        pack_bytes(hw, shape, raw, packed);
      break;
    case Mac::kWide:
      pack_wide(hw, shape, raw, packed);
      break;
    case Mac::kPieces:
      pack_pieces(hw, shape, raw, packed);
      break;
    case Mac::kHalf:
      pack_half(hw, shape, raw, packed);
      pack_half_tiles(hw, shape, packed);
      break;
    case Mac::kHalfFast:
      pack_half(hw, shape, raw, packed);
      pack_floats(hw, shape, raw, packed);
      break;
    case Mac::kWinograd:
      pack_winograd(hw, shape, raw, packed);
      break;
    case Mac::kWinogradHalf:
      pack_winograd_half(hw, shape, raw, packed);
      break;
  }
  return packed;
}

template <typename Matches>
WeightCache::Entry* WeightCache::find(Matches matches) {
  const std::size_t at = search_.find([&](std::size_t place) { return matches(entries_[place]); });
  return at == RecurringSearch::kNone ? nullptr : &entries_[at];
}

WeightCache::Entry& WeightCache::append(Entry entry) {
  std::size_t bytes = entry.bytes();
  for (const Entry& other : entries_) bytes += other.bytes();
  if (bytes > kPackedBytes) {
    entries_.clear();
    search_.clear();
  }
  entries_.push_back(std::move(entry));
  search_.append();
  return entries_.back();
}

void WeightCache::fill(Entry& entry, RawWeights raw) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
    return other.shape == entry.shape && other.raw != nullptr && same_bytes(*other.raw, *raw);
  });
  if (found != entries_.end()) {
    entry.raw = found->raw;
    entry.packed = found->packed;
    return;
  }
  pack(entry, *raw);
  entry.raw = std::move(raw);
}

void WeightCache::pack(Entry& entry, std::span<const std::byte> raw) const {
  PackedWeights packed = pack_weights(hw_, entry.shape, raw);
  if (!packed.half.empty())
    packed.specials =
        fp::count_specials({reinterpret_cast<const std::uint16_t*>(raw.data()), raw.size() / 2});
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
    return other.shape == entry.shape && other.raw == nullptr && same_bytes(*other.packed, packed);
  });
  entry.packed = found != entries_.end() ? found->packed
                                         : std::make_shared<const PackedWeights>(std::move(packed));
}

RawWeights WeightCache::read(const ConvLayer& layer) const {
  auto raw = std::make_shared<std::vector<std::byte>>(layer.weight_bytes);
  dma_.read(NVDLA_DMA_CDMA_WEIGHT, layer.weight_ram, layer.weight_address, raw->data(),
            raw->size());
  return raw;
}

const WeightCache::Entry& WeightCache::fetch(const ConvLayer& layer, const ConvShape& shape,
                                             bool needs_raw) {
  // Whole entries: the check has seen to it.
  const std::uint64_t size = layer.weight_bytes;
  Entry* const found = find([&](const Entry& entry) {
    return entry.shape == shape && entry.ram == layer.weight_ram &&
           entry.address == layer.weight_address && entry.size == size;
  });
  // Asked before the bytes are read, so a change in between is seen next time.
  const std::uint64_t generation = dma_.generation(layer.weight_ram, layer.weight_address, size);
  if (found != nullptr) {
    if (generation == 0 || found->generation != generation) look_again(*found, layer, generation);
    if (needs_raw && found->raw == nullptr) found->raw = read(layer);
    return *found;
  }
  Entry entry{shape, layer.weight_ram, layer.weight_address, size, generation, {}, {}};
  const std::byte* const window =
      needs_raw || generation == 0 || shape.mac != Mac::kBytes
          ? nullptr
          : dma_.window(layer.weight_ram, layer.weight_address, size, false);
  if (window != nullptr) {
    pack(entry, {window, static_cast<std::size_t>(size)});
  } else {
    fill(entry, read(layer));
  }
  return append(std::move(entry));
}

void WeightCache::look_again(Entry& entry, const ConvLayer& layer, std::uint64_t generation) {
  entry.generation = generation;
  // Bytes may be the same in a new generation: from now on that can be found out.
  if (entry.raw == nullptr) return fill(entry, read(layer));
  scratch_.resize(std::max<std::size_t>(scratch_.size(), entry.size));
  const std::byte* const now = dma_.view(NVDLA_DMA_CDMA_WEIGHT, layer.weight_ram,
                                         layer.weight_address, entry.size, scratch_.data());
  if (!same_bytes(*entry.raw, {now, static_cast<std::size_t>(entry.size)}))
    fill(entry, std::make_shared<const std::vector<std::byte>>(now, now + entry.size));
}

const WeightCache::Entry& WeightCache::kept(const RawWeights& raw, const ConvShape& shape) {
  const Entry* found =
      find([&](const Entry& entry) { return entry.raw == raw && entry.shape == shape; });
  // Equal bytes of others, which nothing but a comparison knows.
  if (found == nullptr)
    found = find([&](const Entry& entry) {
      return entry.shape == shape && entry.raw != nullptr && same_bytes(*entry.raw, *raw);
    });
  if (found != nullptr) return *found;
  // No address and generation 0: never taken for what is in memory without a comparison.
  Entry entry{shape, Ram::kPrimary, ~std::uint64_t{0}, 0, 0, {}, {}};
  fill(entry, raw);
  return append(std::move(entry));
}

}  // namespace nvdla::model
