// SPDX-License-Identifier: MIT
//
// The sizes and the order of a loadable's tensors in the model that it was made of. The format has
// no field for them: they are in a blob with a name of its own, which no memory names, so that
// other readers pass over it.
#ifndef NVDLA_LOADABLE_FORMAT_MODEL_SIZES_HPP
#define NVDLA_LOADABLE_FORMAT_MODEL_SIZES_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "loadable/format/container.hpp"

namespace nvdla::loadable {

constexpr std::string_view kSizesBlob = "nvdla-sizes";
constexpr std::uint8_t kSizesVersion = 1;
constexpr std::size_t kMaxAxes = 32;

// One tensor of the tensor list; its sizes follow.
struct SizesEntry {
  std::uint32_t tensor = 0;
  std::uint32_t channels_last = 0;
  std::uint32_t axes = 0;

  template <typename Walker>
  void walk(Walker& w) {
    w("tensor", tensor);
    w("channels_last", channels_last);
    w("axes", axes);
  }
};

// Returns the blob of all tensors that have sizes; empty if none has. Throws kInvalidArgument for
// sizes that read_model_sizes() would refuse.
std::vector<std::byte> pack_model_sizes(const std::vector<TensorEntry>& tensors);

// Takes sizes from the blob into the tensors, if there is one. Throws kInvalidArgument.
void read_model_sizes(Container& c);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_MODEL_SIZES_HPP
