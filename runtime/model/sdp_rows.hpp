// SPDX-License-Identifier: MIT
//
// Positions of a cube in raster order as runs that lie together in memory.
#ifndef NVDLA_MODEL_SDP_ROWS_HPP
#define NVDLA_MODEL_SDP_ROWS_HPP

#include <algorithm>
#include <cstdint>

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

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_ROWS_HPP
