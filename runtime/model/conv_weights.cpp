// SPDX-License-Identifier: MIT
#include "model/conv_weights.hpp"

#include <algorithm>
#include <cstring>

namespace nvdla::model {
namespace {

// Enough for the weights of a large network, twice (as they came and packed).
constexpr std::size_t kBudgetBytes = std::size_t{512} << 20;

}  // namespace

PackedWeights pack_weights(const nvdla_hw& hw, const ConvShape& shape,
                           const std::vector<std::byte>& raw) {
  PackedWeights packed;
  const std::size_t block = shape.block_elements();
  if (shape.wide) {
    packed.words.assign(block * shape.blocks(), 0);
  } else {
    // Kernels and steps beyond the real ones weigh nothing, and nothing is 128 here.
    packed.bytes.assign(block * shape.blocks(), 128);
  }
  const std::uint32_t group = hw.atomic_k / shape.element_bytes;
  const std::byte* from = raw.data();
  // The order of the stream: channel, kernel, position in x, in y, block of channels, group.
  for (std::uint32_t k0 = 0; k0 < shape.kernels; k0 += group) {
    const std::uint32_t k1 = std::min(shape.kernels, k0 + group);
    for (std::uint32_t c0 = 0; c0 < shape.channels; c0 += hw.atomic_c) {
      const std::uint32_t count = std::min(hw.atomic_c, shape.channels - c0);
      for (std::uint32_t r = 0; r < shape.kernel_height; ++r) {
        for (std::uint32_t s = 0; s < shape.kernel_width; ++s) {
          const std::uint32_t run = shape.rows ? r : r * shape.kernel_width + s;
          const std::uint32_t at = shape.rows ? s * shape.channels + c0 : c0;
          for (std::uint32_t k = k0; k < k1; ++k) {
            const std::uint32_t lane = k % kBlock;
            const std::size_t base = k / kBlock * block;
            if (shape.wide) {
              std::int16_t* to = packed.words.data() + base +
                                 (std::size_t{run} * shape.run_elements() + at) * kBlock + lane;
              for (std::uint32_t c = 0; c < count; ++c, from += shape.element_bytes) {
                std::int16_t value;
                if (shape.element_bytes == 1) {
                  value = static_cast<std::int8_t>(*from);
                } else {
                  std::memcpy(&value, from, sizeof(value));
                }
                to[std::size_t{c} * kBlock] = value;
              }
            } else {
              std::uint8_t* to = packed.bytes.data() + base +
                                 std::size_t{run} * shape.run_steps() * kStep * kBlock +
                                 lane * kStep;
              for (std::uint32_t c = 0; c < count; ++c, ++from) {
                const std::uint32_t element = at + c;
                to[std::size_t{element / kStep} * kStep * kBlock + element % kStep] =
                    std::to_integer<std::uint8_t>(*from) ^ 0x80;
              }
            }
          }
        }
      }
    }
  }
  return packed;
}

WeightCache::Entry& WeightCache::front(std::list<Entry>::iterator entry) {
  entries_.splice(entries_.begin(), entries_, entry);
  return entries_.front();
}

void WeightCache::trim() {
  std::size_t total = 0;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    total += entry->raw->size() + entry->packed.bytes.size() + entry->packed.words.size() * 2;
    if (total > kBudgetBytes && entry != entries_.begin()) {
      entries_.erase(entry, entries_.end());
      return;
    }
  }
}

const WeightCache::Entry& WeightCache::fetch(const ConvLayer& layer, const ConvShape& shape) {
  // Whole atoms, as the unit asks for them; the check has seen to it that nothing is left over.
  const std::uint64_t size = layer.weight_bytes / hw_.atom * hw_.atom;
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.shape == shape && entry.ram == layer.weight_ram &&
           entry.address == layer.weight_address && entry.size == size;
  });
  // Asked before the bytes are read, so a change in between is seen next time.
  const std::uint64_t generation = dma_.generation(layer.weight_ram, layer.weight_address, size);
  if (found != entries_.end() && generation != 0 && found->generation == generation)
    return front(found);

  auto raw =
      std::make_shared<std::vector<std::byte>>(std::max<std::size_t>(size, layer.weight_bytes));
  dma_.read(NVDLA_DMA_CDMA_WEIGHT, layer.weight_ram, layer.weight_address, raw->data(), size);
  if (found != entries_.end()) {
    Entry& entry = front(found);
    entry.generation = generation;
    if (*entry.raw == *raw) return entry;
    entry.packed = pack_weights(hw_, shape, *raw);
    entry.raw = std::move(raw);
    return entry;
  }
  PackedWeights packed = pack_weights(hw_, shape, *raw);
  entries_.push_front({shape, layer.weight_ram, layer.weight_address, size, generation,
                       std::move(raw), std::move(packed)});
  trim();
  return entries_.front();
}

const WeightCache::Entry& WeightCache::kept(const RawWeights& raw, const ConvShape& shape) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.shape == shape && (entry.raw == raw || *entry.raw == *raw);
  });
  if (found != entries_.end()) return front(found);
  // No address and generation 0: never taken for what is in memory without a comparison.
  entries_.push_front(
      {shape, Ram::kPrimary, ~std::uint64_t{0}, 0, 0, raw, pack_weights(hw_, shape, *raw)});
  trim();
  return entries_.front();
}

}  // namespace nvdla::model
