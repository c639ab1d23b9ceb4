// SPDX-License-Identifier: MIT
//
// Quantisations tell what the elements of a loadable's tensors stand for. The format has no field
// for them: they are in a blob with a name of its own, which no memory names, so that other readers
// pass over it.
#ifndef NVDLA_LOADABLE_FORMAT_QUANTIZATION_HPP
#define NVDLA_LOADABLE_FORMAT_QUANTIZATION_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "loadable/format/container.hpp"

namespace nvdla::loadable {

constexpr std::string_view kQuantizationBlob = "nvdla-quantization";
constexpr std::uint8_t kQuantizationVersion = 1;

// One tensor of the tensor list.
struct QuantizationEntry {
  std::uint32_t tensor = 0;
  float scale = 1;
  std::int32_t zero_point = 0;

  template <typename Walker>
  void walk(Walker& w) {
    w("tensor", tensor);
    w("scale", scale);
    w("zero_point", zero_point);
  }
};

// Returns the blob of all tensors that have one: their number, then an entry for each. Throws
// kInvalidArgument for one that read_quantizations() would refuse.
std::vector<std::byte> pack_quantizations(const std::vector<TensorEntry>& tensors);

// From the blob into the tensors, if there is one. Throws kInvalidArgument.
void read_quantizations(Container& c);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_QUANTIZATION_HPP
