// SPDX-License-Identifier: MIT
//
// Where the weights of a convolution go: as they are, or without their zeros.
#include <algorithm>
#include <limits>

#include "compiler/lower/builder.hpp"
#include "layout/bands.hpp"
#include "nvdla/compress.hpp"
#include "nvdla/error.hpp"

namespace nvdla::detail {
namespace {

// As far as the convolution buffer decides: into how many bands the layer is cut.
std::size_t count_bands(const DeviceInfo& info, const nvdla_conv& conv) {
  try {
    return split_conv(info, conv, false).size();
  } catch (const Error&) {
    return std::numeric_limits<std::size_t>::max();
  }
}

}  // namespace

// Compressed where that is less to fetch, and the bank that the mask takes costs no band. Kernels
// for tiles have more elements than `desc` says: their stream stays as it is.
void Builder::place_weights(const WeightsDesc& desc, std::span<const std::byte> stream,
                            nvdla_conv& conv, ConstantPool& blob) {
  CompressedSizes sizes;
  if (conv.mode != NVDLA_CONV_WINOGRAD) sizes = compressed_sizes(info_, desc, stream);
  nvdla_conv compressed = conv;
  compressed.flags |= NVDLA_CONV_COMPRESSED;
  compressed.weights.bytes = static_cast<std::uint32_t>(sizes.weights);
  conv.weights.slot = compressed.weights.slot = blob.slot();
  const std::size_t tables = control_.bytes().size();
  compressed.wgs.offset = control_.add(sizes.wgs);
  compressed.wgs.bytes = static_cast<std::uint32_t>(sizes.wgs);
  compressed.wmb.offset = control_.add(sizes.wmb);
  compressed.wmb.bytes = static_cast<std::uint32_t>(sizes.wmb);
  if (!sizes.pays() || control_.bytes().size() > NVDLA_MAX_CONTROL_BYTES ||
      count_bands(info_, compressed) > count_bands(info_, conv)) {
    control_.cut(tables);
    conv.weights.offset = blob.add(stream.size());
    std::copy(stream.begin(), stream.end(), blob.at(conv.weights.offset).begin());
    return;
  }
  compressed.weights.offset = blob.add(sizes.weights);
  compress_weights(info_, desc, stream, blob.at(compressed.weights.offset),
                   control_.at(compressed.wgs.offset), control_.at(compressed.wmb.offset));
  conv = compressed;
}

}  // namespace nvdla::detail
