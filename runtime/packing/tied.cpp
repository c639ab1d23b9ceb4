// SPDX-License-Identifier: MIT
#include "packing/tied.hpp"

#include <drm/nvdla_layer.h>

#include <cstdint>

namespace nvdla::detail {

bool fetch_again(std::span<nvdla_layer> layers, std::size_t layer) {
  constexpr std::uint32_t kReuse = NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS;
  constexpr std::uint32_t kKeep = NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS;
  nvdla_conv& conv = layers[layer].conv;
  if ((conv.flags & kReuse) == 0) return false;
  conv.flags &= ~kReuse;
  // Only convolutions have kernels.
  while (layer-- > 0) {
    nvdla_conv& before = layers[layer].conv;
    if (before.kernels == 0) continue;
    before.flags &= ~kKeep;
    before.release = 0;
    break;
  }
  return true;
}

}  // namespace nvdla::detail
