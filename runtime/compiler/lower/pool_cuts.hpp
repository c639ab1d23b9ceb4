// SPDX-License-Identifier: MIT
//
// Splits poolings: into vertical bands where a line exceeds the unit's line buffer, and into steps
// where the window exceeds the hardware's.
#ifndef NVDLA_COMPILER_LOWER_POOL_CUTS_HPP
#define NVDLA_COMPILER_LOWER_POOL_CUTS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace nvdla::detail {

// Returns the number of output columns that the line buffer holds.
std::uint32_t pool_columns(const nvdla_pdp& pdp) noexcept;
std::uint32_t pool_output(std::uint32_t size, std::uint32_t before, std::uint32_t after,
                          std::uint32_t kernel, std::uint32_t stride) noexcept;

// A range of a cube's columns, and the pooling of it.
struct PoolPiece {
  nvdla_pdp pdp = {};  // width, horizontal paddings and bands of the piece
  std::uint32_t input_column = 0;
  std::uint32_t output_column = 0;
};

// Splits a pooling into the fewest layers, each with the fewest bands. No layer reads the columns
// and lines behind the last window.
std::vector<PoolPiece> split_pooling(const nvdla_pdp& pdp);

// Returns the steps of a maximum or minimum pooling in order, each with the width and height of its
// input.
std::vector<nvdla_pdp> split_window(const nvdla_pdp& pdp);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_POOL_CUTS_HPP
