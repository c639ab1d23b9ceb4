// SPDX-License-Identifier: MIT
#include "import/reference/loops.hpp"

#include <algorithm>
#include <array>

namespace nvdla::import {
namespace {

// Rows and columns whose sums are in registers.
constexpr std::size_t kTileRows = 4;
constexpr std::size_t kTileColumns = 8;
static_assert(kBlockColumns % kTileColumns == 0);

using Sums = std::array<std::array<float, kTileColumns>, kTileRows>;

// Adds `rows` lines of the left matrix times a strip of a block. This file is compiled without
// fused multiplications, which round once where others round twice.
template <std::size_t rows>
void add_tile(const float* left, std::size_t depth, const float* strip, Sums& sums) {
  float all[rows][kTileColumns];
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < kTileColumns; ++c) all[r][c] = sums[r][c];
  for (std::size_t d = 0; d < depth; ++d, strip += kBlockColumns)
    for (std::size_t r = 0; r < rows; ++r) {
      const float factor = left[r * depth + d];
      for (std::size_t c = 0; c < kTileColumns; ++c) all[r][c] += factor * strip[c];
    }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < kTileColumns; ++c) sums[r][c] = all[r][c];
}

void add_rows(std::size_t rows, const float* left, std::size_t depth, const float* strip,
              Sums& sums) {
  switch (rows) {
    case 1:
      return add_tile<1>(left, depth, strip, sums);
    case 2:
      return add_tile<2>(left, depth, strip, sums);
    case 3:
      return add_tile<3>(left, depth, strip, sums);
    default:
      return add_tile<kTileRows>(left, depth, strip, sums);
  }
}

}  // namespace

void multiply_matrices(const Products& p, float* out) {
  std::vector<float> block(p.depth * kBlockColumns);
  for (std::size_t first = 0; first < p.columns; first += kBlockColumns) {
    const std::size_t count = std::min(kBlockColumns, p.columns - first);
    p.right(first, count, block.data());
    for (std::size_t row = 0; row < p.rows; row += kTileRows) {
      const std::size_t rows = std::min(kTileRows, p.rows - row);
      for (std::size_t column = 0; column < count; column += kTileColumns) {
        Sums sums{};
        for (std::size_t r = 0; r < rows; ++r)
          sums[r].fill(p.bias != nullptr ? p.bias[row + r] : 0);
        add_rows(rows, p.left + row * p.depth, p.depth, block.data() + column, sums);
        const std::size_t columns = std::min(kTileColumns, count - column);
        for (std::size_t r = 0; r < rows; ++r)
          std::copy_n(sums[r].begin(), columns, out + (row + r) * p.columns + first + column);
      }
    }
  }
}

}  // namespace nvdla::import
