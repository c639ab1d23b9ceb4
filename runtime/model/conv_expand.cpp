// SPDX-License-Identifier: MIT
#include "model/conv_expand.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "arith/integers.hpp"

namespace nvdla::model {
namespace {

bool mask_bit(const std::vector<std::byte>& mask, std::uint64_t index) {
  return (std::to_integer<unsigned>(mask[index / 8]) >> (index % 8) & 1) != 0;
}

}  // namespace

std::string expand_weights(const nvdla_hw& hw, Dma& dma, const ConvLayer& layer,
                           ExpandedWeights& weights) {
  const unsigned bytes = precision_bytes(layer.proc);
  const std::uint64_t kernel = layer.kernel_bytes / bytes;
  const std::uint32_t group_kernels = hw.atomic_k / bytes;
  const std::uint32_t groups = (layer.kernels + group_kernels - 1) / group_kernels;

  weights.fetched.resize(layer.weight_bytes);
  dma.read(NVDLA_DMA_CDMA_WEIGHT, layer.weight_ram, layer.weight_address, weights.fetched.data(),
           weights.fetched.size());
  std::vector<std::byte> mask(layer.wmb_bytes);
  dma.read(NVDLA_DMA_CDMA_WMB, layer.weight_ram, layer.wmb_address, mask.data(), mask.size());
  // Whole atoms of the table of group sizes.
  std::vector<std::byte> table(arith::round_up(std::uint64_t{groups} * 4, hw.atom));
  dma.read(NVDLA_DMA_CDMA_WGS, layer.weight_ram, layer.wgs_address, table.data(), table.size());

  const std::uint64_t elements = kernel * layer.kernels;
  const std::uint64_t capacity =
      std::uint64_t{layer.weight_banks} * hw.cbuf_entries * hw.cbuf_entry_bytes;
  weights.stream.assign(arith::round_up(elements * bytes, 128), std::byte{0});
  std::uint64_t at = 0;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const std::uint64_t first = kernel * group * group_kernels;
    const std::uint64_t last = std::min(elements, first + kernel * group_kernels);
    const std::uint64_t start = at;
    for (std::uint64_t i = first; i < last; ++i) {
      if (!mask_bit(mask, i)) continue;
      if (at + bytes > weights.fetched.size())
        return "the mask has more weights than WEIGHT_BYTES " + std::to_string(layer.weight_bytes) +
               " holds, at kernel group " + std::to_string(group);
      std::memcpy(weights.stream.data() + i * bytes, weights.fetched.data() + at, bytes);
      at += bytes;
    }
    std::uint32_t size;
    std::memcpy(&size, table.data() + std::size_t{group} * 4, sizeof(size));
    // The size of the last group follows from WEIGHT_BYTES, its word is not looked at.
    if (group + 1 < groups && size != at - start)
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
  return {};
}

}  // namespace nvdla::model
