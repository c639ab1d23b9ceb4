// SPDX-License-Identifier: MIT
#include "loadable/format/quantization.hpp"

#include <algorithm>
#include <cmath>

#include "loadable/format/packed.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/quantization.hpp"
#include "support/check.hpp"

namespace nvdla::loadable {
namespace {

constexpr std::size_t kCountBytes = 4;

void check(std::uint32_t index, const TensorEntry& tensor, const Quantization& quantization) {
  if (!(quantization.scale > 0) || !std::isfinite(quantization.scale)) {
    throw_in_blob(kQuantizationBlob, "tensor {} '{}': scale {} is no positive number", index,
                  tensor.name, quantization.scale);
  }
  const bool real = tensor.data_type == static_cast<std::uint8_t>(LoadableType::kFp16);
  if (real && quantization.zero_point != 0) {
    throw_in_blob(kQuantizationBlob, "tensor {} '{}': fp16 has no zero point, found {}", index,
                  tensor.name, quantization.zero_point);
  }
}

void read(Container& c, const Blob& blob) {
  if (blob.version.major_version != kQuantizationVersion) {
    throw_in_blob(kQuantizationBlob, "version {} is unknown; known is {}",
                  blob.version.major_version, kQuantizationVersion);
  }
  const std::size_t each = packed_bytes<QuantizationEntry>(Revision::kNew);
  if (blob.data.size() < kCountBytes) {
    throw_in_blob(kQuantizationBlob, "{} bytes; the number of tensors takes {}", blob.data.size(),
                  kCountBytes);
  }
  const auto count = unpack_descriptor<std::uint32_t>(blob.data, Revision::kNew);
  if (blob.data.size() != kCountBytes + std::uint64_t{count} * each) {
    throw_in_blob(kQuantizationBlob, "{} bytes; {} tensors take {}", blob.data.size(), count,
                  kCountBytes + std::uint64_t{count} * each);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto entry = unpack_descriptor<QuantizationEntry>(
        blob.data.subspan(kCountBytes + i * each), Revision::kNew);
    if (entry.tensor >= c.tensors.size()) {
      throw_in_blob(kQuantizationBlob, "there is no tensor {}; the file has {}", entry.tensor,
                    c.tensors.size());
    }
    TensorEntry& tensor = c.tensors[entry.tensor];
    if (tensor.quantization)
      throw_in_blob(kQuantizationBlob, "tensor {} '{}' occurs twice", entry.tensor, tensor.name);
    tensor.quantization = {entry.scale, entry.zero_point};
    check(entry.tensor, tensor, *tensor.quantization);
  }
}

}  // namespace

std::vector<std::byte> pack_quantizations(const std::vector<TensorEntry>& tensors) {
  std::vector<std::byte> bytes;
  Packer pack{bytes};
  auto count = static_cast<std::uint32_t>(
      std::count_if(tensors.begin(), tensors.end(),
                    [](const TensorEntry& t) { return t.quantization.has_value(); }));
  pack("count", count);
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].quantization) continue;
    check(i, tensors[i], *tensors[i].quantization);
    QuantizationEntry entry{i, tensors[i].quantization->scale, tensors[i].quantization->zero_point};
    pack("", entry);
  }
  return bytes;
}

void read_quantizations(Container& c) {
  for (const Blob& blob : c.blobs)
    if (blob.name == kQuantizationBlob) read(c, blob);
}

}  // namespace nvdla::loadable
