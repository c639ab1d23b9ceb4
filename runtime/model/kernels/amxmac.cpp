// SPDX-License-Identifier: MIT
//
// int8 in AMX: two windows of sixteen positions by two tiles of sixteen kernels. A block's weights
// are what tiles want as they are, and its starts are a row of sums, loaded sixteen times.
#include "model/kernels/amx.hpp"
#include "model/kernels/amx_tiles.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/amx_windows.ipp"

static_assert(kRowBytes == kMostStep && kBlock == 2 * kTileRows);

constexpr ptrdiff_t kKernelBytes = kBlock * kStep, kSumBytes = kBlock * sizeof(int32_t);

// Some positions of a tile, and their windows.
struct Group {
  const MacTile& tile;
  const uint8_t* data;
  const ptrdiff_t* at;
  unsigned count;
  int32_t* sums;
};

template <unsigned kFirst>
void store(const Group& group, const Window& window) {
  int32_t* const to = group.sums + size_t{window.first} * kBlock;
  if (in_place(window, group.count)) {
    tile_store<kFirst>(to, kSumBytes);
    tile_store<kFirst + 1>(to + kTileRows, kSumBytes);
    return;
  }
  alignas(64) int32_t sums[kTileRows][kBlock];
  tile_store<kFirst>(sums[0], kSumBytes);
  tile_store<kFirst + 1>(sums[0] + kTileRows, kSumBytes);
  for (unsigned i = 0; i < window.count; ++i)
    __builtin_memcpy(to + size_t{i} * kBlock, sums[window.rows[i]], kSumBytes);
}

// Tiles 0 to 3 are sums, 4 and 5 data, 6 and 7 weights.
template <bool kTwo>
[[gnu::noinline]] void multiply(const Group& group, const Window* windows, Panel* panels) {
  const MacTile& tile = group.tile;
  const unsigned steps = tile.steps * kStep / kRowBytes;
  const bool gathered = windows[0].gathered || (kTwo && windows[1].gathered);
  const int8_t* weights = tile.weights;
  tile_load<0>(tile.starts, 0);
  tile_load<1>(tile.starts + kTileRows, 0);
  if constexpr (kTwo) {
    tile_load<2>(tile.starts, 0);
    tile_load<3>(tile.starts + kTileRows, 0);
  }
  for (unsigned run = 0; run < tile.run_count; ++run)
    for (unsigned first = 0, count; first < steps; first += count) {
      count = gathered && steps - first > kGathered ? kGathered : steps - first;
      const uint8_t* const data = group.data + tile.runs[run] + size_t{first} * kRowBytes;
      Rows rows0 = find_rows(windows[0], group.at, data, count, panels[0]);
      Rows rows1 = kTwo ? find_rows(windows[1], group.at, data, count, panels[1]) : rows0;
      for (unsigned i = 0; i < count; ++i, weights += kTileRows * kKernelBytes) {
        tile_load<6>(weights, kKernelBytes);
        tile_load<4>(rows0.from, rows0.stride);
        tile_dot_us<0, 4, 6>();
        tile_load<7>(weights + kRowBytes, kKernelBytes);
        tile_dot_us<1, 4, 7>();
        rows0.from += rows0.step;
        if constexpr (kTwo) {
          tile_load<5>(rows1.from, rows1.stride);
          tile_dot_us<2, 5, 6>();
          tile_dot_us<3, 5, 7>();
          rows1.from += rows1.step;
        }
      }
    }
  store<0>(group, windows[0]);
  if constexpr (kTwo) store<2>(group, windows[1]);
}

}  // namespace

void amx_enter() {
  TileConfig config{};
  config.palette = 1;
  for (unsigned i = 0; i < kTiles; ++i) {
    config.row_bytes[i] = kRowBytes;
    config.rows[i] = kTileRows;
  }
  tiles_configure(config);
}

void amx_leave() { tiles_release(); }

void amx_mac(const MacTile& tile) {
  Panel panels[2];
  for (unsigned first = 0; first < tile.count; first += kGroup) {
    const unsigned count = tile.count - first < kGroup ? tile.count - first : kGroup;
    const uint8_t* const data = tile.bases[first];
    ptrdiff_t at[kGroup];
    for (unsigned i = 0; i < count; ++i) at[i] = tile.bases[first + i] - data;
    const Group group{tile, data, at, count, tile.sums + size_t{first} * kBlock};
    Window windows[kMostWindows];
    const unsigned planned = plan_windows(at, count, windows);
    for (unsigned i = 0; i < planned; i += 2)
      i + 1 < planned ? multiply<true>(group, windows + i, panels)
                      : multiply<false>(group, windows + i, panels);
  }
}

}  // namespace nvdla::model
