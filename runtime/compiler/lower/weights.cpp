// SPDX-License-Identifier: MIT
//
// The weights of a convolution go to memory as they are, or without their zeros.
#include <algorithm>
#include <limits>

#include "compiler/lower/conv.hpp"
#include "nvdla/lowlevel/compression.hpp"
#include "nvdla/types/device_info.hpp"
#include "packing/bands.hpp"

namespace nvdla::detail {
namespace {

// Counts the bands into which the convolution buffer makes the compiler cut the layer.
std::size_t count_bands(const DeviceInfo& info, const nvdla_conv& conv) {
  const auto bands = find_bands(info, conv, false);
  return bands ? bands->size() : std::numeric_limits<std::size_t>::max();
}

}  // namespace

// They are compressed where that is less to fetch, and the bank that the mask takes costs no band.
// Kernels for tiles have more elements than `desc` says: their stream stays as it is.
void place_weights(Lowering& lowering, const WeightsDesc& desc, std::span<const std::byte> stream,
                   nvdla_conv& conv, ConstantPool& pool) {
  const DeviceInfo& info = lowering.info();
  ConstantPool& control = lowering.control();
  CompressedSizes sizes;
  if (conv.mode != NVDLA_CONV_WINOGRAD) sizes = compressed_sizes(info, desc, stream);
  nvdla_conv compressed = conv;
  compressed.flags |= NVDLA_CONV_COMPRESSED;
  compressed.weights.bytes = static_cast<std::uint32_t>(sizes.weights);
  conv.weights.slot = compressed.weights.slot = pool.slot();
  const std::size_t tables = control.bytes().size();
  compressed.wgs.offset = control.add(sizes.wgs);
  compressed.wgs.bytes = static_cast<std::uint32_t>(sizes.wgs);
  compressed.wmb.offset = control.add(sizes.wmb);
  compressed.wmb.bytes = static_cast<std::uint32_t>(sizes.wmb);
  if (!sizes.pays() || control.bytes().size() > NVDLA_MAX_CONTROL_BYTES ||
      count_bands(info, compressed) > count_bands(info, conv)) {
    control.cut(tables);
    conv.weights.offset = pool.add(stream.size());
    std::copy(stream.begin(), stream.end(), pool.at(conv.weights.offset).begin());
    return;
  }
  compressed.weights.offset = pool.add(sizes.weights);
  compress_weights(info, desc, stream, pool.at(compressed.weights.offset),
                   control.at(compressed.wgs.offset), control.at(compressed.wmb.offset));
  conv = compressed;
}

}  // namespace nvdla::detail
