// SPDX-License-Identifier: MIT
#include "model/conv/conv_expand.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "support/integers.hpp"

namespace nvdla::model {
namespace {

// The limit on the expanded weights that are kept.
constexpr std::size_t kExpandedBytes = std::size_t{128} << 20;

bool mask_bit(const std::vector<std::byte>& mask, std::uint64_t index) {
  return (std::to_integer<unsigned>(mask[index / 8]) >> (index % 8) & 1) != 0;
}

}  // namespace

std::uint32_t WeightExpander::group_kernels(const ConvLayer& layer) const noexcept {
  return hw_.atomic_k / precision_bytes(layer.proc);
}

std::uint32_t WeightExpander::groups(const ConvLayer& layer) const noexcept {
  return static_cast<std::uint32_t>(arith::ceil_div(layer.kernels, group_kernels(layer)));
}

WeightExpander::Key WeightExpander::key_of(const ConvLayer& layer) const noexcept {
  // The table of group sizes is read in whole atoms.
  return {layer.proc,
          layer.kernels,
          layer.weight_banks,
          layer.kernel_bytes,
          layer.weight_ram,
          {layer.weight_address, layer.mask_address, layer.group_address},
          {layer.weight_bytes, layer.mask_bytes,
           arith::round_up(groups(layer) * sizeof(std::uint32_t), std::uint64_t{hw_.atom})}};
}

std::array<std::uint64_t, 3> WeightExpander::generations(const Key& key) const noexcept {
  std::array<std::uint64_t, 3> found{};
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] = dma_.generation(key.ram, key.addresses[i], key.sizes[i]);
  return found;
}

std::string WeightExpander::expand(const ConvLayer& layer) {
  const Key key = key_of(layer);
  // Asked before the bytes are read, so a change in between is seen next time.
  const auto now = generations(key);
  const std::size_t at =
      search_.find([&](std::size_t place) { return entries_[place].key == key; });
  const bool known = at != RecurringSearch::kNone;
  if (known && entries_[at].generations == now && std::find(now.begin(), now.end(), 0) == now.end())
    return {};
  Entry entry{key, now, {}, {}};
  std::string fault = expand(layer, key, entry);
  if (!fault.empty()) return fault;
  if (!known) {
    std::size_t bytes = entry.stream->size();
    for (const Entry& other : entries_) bytes += other.stream->size();
    if (bytes > kExpandedBytes) {
      entries_.clear();
      search_.clear();
    }
    entries_.push_back(std::move(entry));
    search_.append();
  } else {
    entries_[at] = std::move(entry);
  }
  return fault;
}

std::string WeightExpander::expand(const ConvLayer& layer, const Key& key, Entry& entry) const {
  const unsigned bytes = precision_bytes(layer.proc);
  const std::uint64_t kernel = layer.kernel_bytes / bytes;
  const std::uint64_t group_elements = kernel * group_kernels(layer);
  const std::uint32_t count = groups(layer);

  const auto read = [&](nvdla_dma client, std::size_t i) {
    std::vector<std::byte> to(static_cast<std::size_t>(key.sizes[i]));
    dma_.read(client, key.ram, key.addresses[i], to.data(), to.size());
    return to;
  };
  const std::vector<std::byte> fetched = read(NVDLA_DMA_CDMA_WEIGHT, 0);
  const std::vector<std::byte> mask = read(NVDLA_DMA_CDMA_WMB, 1);
  const std::vector<std::byte> table = read(NVDLA_DMA_CDMA_WGS, 2);

  const std::uint64_t elements = kernel * layer.kernels;
  const std::uint64_t capacity =
      std::uint64_t{layer.weight_banks} * hw_.cbuf_entries * hw_.cbuf_entry_bytes;
  std::vector<std::byte> stream(arith::round_up(elements * bytes, 128));
  std::uint64_t at = 0;
  for (std::uint32_t group = 0; group < count; ++group) {
    const std::uint64_t first = group * group_elements;
    const std::uint64_t last = std::min(elements, first + group_elements);
    const std::uint64_t start = at;
    for (std::uint64_t i = first; i < last; ++i) {
      if (!mask_bit(mask, i)) continue;
      if (at + bytes > fetched.size())
        return "the mask has more weights than WEIGHT_BYTES " + std::to_string(layer.weight_bytes) +
               " holds, at kernel group " + std::to_string(group);
      std::memcpy(stream.data() + i * bytes, fetched.data() + at, bytes);
      at += bytes;
    }
    std::uint32_t size;
    std::memcpy(&size, table.data() + std::size_t{group} * 4, sizeof(size));
    // The size of the last group follows from WEIGHT_BYTES, its word is not looked at.
    if (group + 1 < count && size != at - start)
      return "WGS says " + std::to_string(size) + " bytes of kernel group " +
             std::to_string(group) + ", its mask " + std::to_string(at - start);
    if (layer.weight_bytes > capacity && at - start + 128 > capacity)
      return "kernel group " + std::to_string(group) + " takes " +
             std::to_string(at - start + 128) + " bytes, " + std::to_string(layer.weight_banks) +
             " weight banks hold " + std::to_string(capacity);
  }
  if (arith::round_up(at, 128) != layer.weight_bytes)
    return "WEIGHT_BYTES " + std::to_string(layer.weight_bytes) + ", the mask has weights of " +
           std::to_string(at) + " bytes";
  if (layer.proc == Precision::kFp16) {
    std::vector<std::uint16_t> halves(fetched.size() / 2);
    std::memcpy(halves.data(), fetched.data(), halves.size() * 2);
    entry.specials = fp::count_specials(halves);
  }
  entry.stream = std::make_shared<const std::vector<std::byte>>(std::move(stream));
  return {};
}

}  // namespace nvdla::model
