// SPDX-License-Identifier: MIT
//
// int16 in AMX: both operands by their bytes, which are multiplied in all four ways and summed in
// 32 bits of their own; a window of sixteen positions by a tile of sixteen kernels.
#include "model/simd/gemm/amx_tiles.hpp"
#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/amx_windows.ipp"

// Bytes of a kernel that 32 bits hold the sums of: 255 * 255 times as many is less than 2^32, and
// 128 * 255 times as many less than 2^31.
constexpr unsigned kMostBytes = 65536;
constexpr unsigned kMostSteps = kMostBytes / kRowBytes;

constexpr ptrdiff_t kKernelBytes = kBlock * kKr, kSumBytes = kTileRows * sizeof(int32_t);

struct Group {
  const PieceTile& tile;
  size_t base;  // of the first position, from that of the tile
  const Windows& windows;
  int64_t* sums;
};

// Sums by the bytes that were multiplied: the data's first.
struct alignas(64) Sums {
  int32_t upper_upper[kTileRows][kTileRows], upper_lower[kTileRows][kTileRows];
  int32_t lower_upper[kTileRows][kTileRows];
  uint32_t lower_lower[kTileRows][kTileRows];
};

// Takes the sums out of tiles 0 to 3, for the kernels from the `kernel` on.
void add_sums(const Group& group, const Window& window, unsigned kernel) {
  Sums sums;
  tile_store<0>(sums.upper_upper, kSumBytes);
  tile_store<1>(sums.upper_lower, kSumBytes);
  tile_store<2>(sums.lower_upper, kSumBytes);
  tile_store<3>(sums.lower_lower, kSumBytes);
  for (unsigned i = 0; i < window.count; ++i) {
    int64_t* const to = group.sums + size_t{window.first + i} * kBlock + kernel;
    const unsigned row = window.rows[i];
    for (unsigned k = 0; k < kTileRows; ++k) {
      const int64_t crossed = int64_t{sums.upper_lower[row][k]} + sums.lower_upper[row][k];
      to[k] += int64_t{sums.upper_upper[row][k]} * 65536 + crossed * 256 + sums.lower_lower[row][k];
    }
  }
}

// Tiles 4 and 5 are upper and lower data, 6 and 7 weights.
[[gnu::noinline]] void multiply(const Group& group, const Window& window, unsigned kernel,
                                Panel* panels) {
  const PieceTile& tile = group.tile;
  const unsigned steps = tile.steps * kKr / kRowBytes;
  const uint8_t* const upper = reinterpret_cast<const uint8_t*>(tile.upper) + group.base;
  const uint8_t* const lower = tile.lower + group.base;
  const int8_t* upper_weights = tile.upper_weights + size_t{kernel} * kKr;
  const uint8_t* lower_weights = tile.lower_weights + size_t{kernel} * kKr;
  const unsigned most = group.windows.gathered ? kGathered : kMostSteps;
  unsigned room = 0;
  for (unsigned run = 0; run < tile.run_count; ++run)
    for (unsigned first = 0, count; first < steps; first += count) {
      if (room == 0) {
        if (run != 0 || first != 0) add_sums(group, window, kernel);
        tile_zero<0>();
        tile_zero<1>();
        tile_zero<2>();
        tile_zero<3>();
        room = kMostSteps;
      }
      count = steps - first < most ? steps - first : most;
      count = count < room ? count : room;
      room -= count;
      const ptrdiff_t from = tile.runs[run] + ptrdiff_t{first} * kRowBytes;
      Rows high = find_rows(group.windows, window, upper + from, count, panels[0]);
      Rows low = find_rows(group.windows, window, lower + from, count, panels[1]);
      for (unsigned i = 0; i < count; ++i) {
        tile_load<4>(high.from, high.stride);
        tile_load<6>(upper_weights, kKernelBytes);
        tile_dot_ss<0, 4, 6>();
        tile_load<7>(lower_weights, kKernelBytes);
        tile_dot_su<1, 4, 7>();
        tile_load<5>(low.from, low.stride);
        tile_dot_us<2, 5, 6>();
        tile_dot_uu<3, 5, 7>();
        high.from += high.step;
        low.from += low.step;
        upper_weights += kTileRows * kKernelBytes;
        lower_weights += kTileRows * kKernelBytes;
      }
    }
  add_sums(group, window, kernel);
}

}  // namespace

void amx_pieces(const PieceTile& tile) {
  Panel panels[2];
  for (size_t i = 0; i < size_t{tile.count} * kBlock; ++i) tile.sums[i] = 0;
  for (unsigned first = 0; first < tile.count; first += kGroup) {
    const unsigned count = tile.count - first < kGroup ? tile.count - first : kGroup;
    Windows windows;
    plan_windows(lines_from(tile.lines, first), count, windows);
    const Group group{tile, distance(tile.lines, first), windows,
                      tile.sums + size_t{first} * kBlock};
    for (unsigned i = 0; i < windows.count; ++i)
      for (unsigned kernel = 0; kernel < kBlock; kernel += kTileRows)
        multiply(group, windows.all[i], kernel, panels);
  }
}

}  // namespace nvdla::model
