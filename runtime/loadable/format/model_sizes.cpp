// SPDX-License-Identifier: MIT
#include "loadable/format/model_sizes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "loadable/format/packed.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla::loadable {
namespace {

// Throws for sizes that are not those of the tensor's elements.
void check_sizes(std::uint32_t index, const TensorEntry& tensor) {
  std::uint64_t count = 1;
  for (const std::uint32_t size : tensor.model_sizes) {
    if (size == 0 || count > std::numeric_limits<std::uint32_t>::max() / size)
      throw_in_blob(kSizesBlob, "tensor {} '{}': {} are no sizes", index, tensor.name,
                    fmt::join(tensor.model_sizes, "x"));
    count *= size;
  }
  std::uint64_t elements = 1;
  for (const std::int32_t size : {tensor.n, tensor.c, tensor.h, tensor.w})
    elements *= size > 0 ? static_cast<std::uint64_t>(size) : 1;
  if (count != elements)
    throw_in_blob(kSizesBlob, "tensor {} '{}': {} have {} elements, the tensor has {}", index,
                  tensor.name, fmt::join(tensor.model_sizes, "x"), count, elements);
}

void read_entry(Container& c, Unpacker& unpack) {
  const auto left = [&] { return unpack.bytes.size() - unpack.at; };
  if (left() < packed_bytes<SizesEntry>(Revision::kNew))
    throw_in_blob(kSizesBlob, "it ends at byte {}, in the middle of a tensor", unpack.bytes.size());
  SizesEntry entry;
  unpack("", entry);
  if (entry.tensor >= c.tensors.size())
    throw_in_blob(kSizesBlob, "there is no tensor {}; the file has {}", entry.tensor,
                  c.tensors.size());
  TensorEntry& tensor = c.tensors[entry.tensor];
  if (tensor.has_model_sizes)
    throw_in_blob(kSizesBlob, "tensor {} '{}' occurs twice", entry.tensor, tensor.name);
  if (entry.channels_last > 1 || entry.axes > kMaxAxes)
    throw_in_blob(kSizesBlob,
                  "tensor {} '{}': order {} and {} axes; expected 0 or 1, and at most {}",
                  entry.tensor, tensor.name, entry.channels_last, entry.axes, kMaxAxes);
  if (left() < std::uint64_t{entry.axes} * sizeof(std::uint32_t))
    throw_in_blob(kSizesBlob, "it ends at byte {}, in the middle of a tensor", unpack.bytes.size());
  tensor.has_model_sizes = true;
  tensor.channels_last = entry.channels_last != 0;
  for (std::uint32_t i = 0; i < entry.axes; ++i) unpack("size", tensor.model_sizes.emplace_back());
  check_sizes(entry.tensor, tensor);
}

}  // namespace

std::vector<std::byte> pack_model_sizes(const std::vector<TensorEntry>& tensors) {
  std::vector<std::byte> bytes;
  Packer pack{bytes};
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    const TensorEntry& tensor = tensors[i];
    if (!tensor.has_model_sizes) continue;
    if (tensor.model_sizes.size() > kMaxAxes)
      throw_in_blob(kSizesBlob, "tensor {} '{}': {} axes; expected at most {}", i, tensor.name,
                    tensor.model_sizes.size(), kMaxAxes);
    check_sizes(i, tensor);
    SizesEntry entry{i, tensor.channels_last ? 1U : 0U,
                     static_cast<std::uint32_t>(tensor.model_sizes.size())};
    pack("", entry);
    for (std::uint32_t size : tensor.model_sizes) pack("size", size);
  }
  return bytes;
}

void read_model_sizes(Container& c) {
  for (const Blob& blob : c.blobs) {
    if (blob.name != kSizesBlob) continue;
    if (blob.version.major_version != kSizesVersion)
      throw_in_blob(kSizesBlob, "version {} is unknown; known is {}", blob.version.major_version,
                    kSizesVersion);
    Unpacker unpack{blob.data};
    while (unpack.at < blob.data.size()) read_entry(c, unpack);
  }
}

}  // namespace nvdla::loadable
