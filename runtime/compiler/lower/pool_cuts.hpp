// SPDX-License-Identifier: MIT
//
// Poolings that are cut: into vertical bands where the unit's line buffer is too short for them,
// and into steps where their windows are larger than the hardware's.
#ifndef NVDLA_COMPILER_LOWER_POOL_CUTS_HPP
#define NVDLA_COMPILER_LOWER_POOL_CUTS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace nvdla::detail {

// Output columns that the line buffer holds.
std::uint32_t pool_columns(const nvdla_pdp& pdp) noexcept;
std::uint32_t pool_output(std::uint32_t size, std::uint32_t before, std::uint32_t after,
                          std::uint32_t kernel, std::uint32_t stride) noexcept;

// Columns of a cube, and the pooling of them.
struct PoolPiece {
  nvdla_pdp pdp = {};  // width, horizontal paddings and bands of the piece
  std::uint32_t input_column = 0;
  std::uint32_t output_column = 0;
};

// As few layers as will do, each in the fewest bands. Columns and lines that a stride leaves over
// behind the last window are not part of them.
std::vector<PoolPiece> split_pooling(const nvdla_pdp& pdp);

// Returns the steps of a pooling for maximum or minimum, one after another, each with the width and
// height of its input.
std::vector<nvdla_pdp> split_window(const nvdla_pdp& pdp);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_POOL_CUTS_HPP
