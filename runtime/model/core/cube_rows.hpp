// SPDX-License-Identifier: MIT
//
// Positions of a cube in raster order as runs that lie together in memory.
#ifndef NVDLA_MODEL_CORE_CUBE_ROWS_HPP
#define NVDLA_MODEL_CORE_CUBE_ROWS_HPP

#include <algorithm>
#include <cstdint>

#include "model/core/surface.hpp"

namespace nvdla::model {

// Calls `row(y, x, at, count)` for each part of a range of positions that lies in one line, or for
// all of it where lines of `width` positions follow each other without gaps.
template <typename Row>
void for_each_row(std::uint32_t width, bool packed, std::uint32_t first, unsigned count, Row row) {
  std::uint32_t y = first / width;
  std::uint32_t x = first % width;
  for (unsigned at = 0; at < count;) {
    const unsigned part = packed ? count : std::min<std::uint32_t>(count - at, width - x);
    row(y, x, at, part);
    at += part;
    x = 0;
    ++y;
  }
}

// A cube as it lies in memory: `surfaces` times `height` lines of `line_bytes`, which follow each
// other without strides where it is a single position.
struct SdpCube {
  Surface memory;
  std::uint64_t surfaces = 0, height = 0, line_bytes = 0;
  bool single = false;
  std::uint64_t batches = 1, batch_stride = 0;

  // From the first byte to the last one.
  std::uint64_t extent() const noexcept {
    const std::uint64_t cube =
        single ? surfaces * line_bytes
               : (surfaces - 1) * memory.surface + (height - 1) * memory.line + line_bytes;
    return (batches - 1) * batch_stride + cube;
  }
  // No two positions have bytes in common.
  bool apart() const noexcept {
    if (batches > 1 && batch_stride < extent() - (batches - 1) * batch_stride) return false;
    if (single) return true;
    return (height == 1 || memory.line >= line_bytes) &&
           (surfaces == 1 || memory.surface >= (height - 1) * memory.line + line_bytes);
  }
  bool meets(const SdpCube& other) const noexcept {
    return memory.base < other.memory.base + other.extent() &&
           other.memory.base < memory.base + extent();
  }
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_CUBE_ROWS_HPP
