// SPDX-License-Identifier: MIT
//
// int8 in AMX: two windows of sixteen positions by two tiles of sixteen kernels. A block's weights
// are what tiles want as they are, and its starts are a row of sums, loaded sixteen times.
#include <immintrin.h>

#include "model/simd/gemm/amx_tiles.hpp"
#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

// clang-format off
#include "model/simd/gemm/amx_windows.ipp"
#include "model/simd/sdp/avx512_finish.ipp"
#include "model/simd/gemm/avx512_rows.ipp"
// clang-format on

static_assert(kRowBytes == kMostStep && kBlock == 2 * kTileRows);

constexpr ptrdiff_t kKernelBytes = kBlock * kKr, kSumBytes = kBlock * sizeof(int32_t);

// Some positions of a tile, and their windows.
struct Group {
  const MacTile& tile;
  const uint8_t* data;
  const int32_t* starts;
  unsigned first, count;
  const Windows& windows;
};

struct alignas(64) Block {
  int32_t rows[kTileRows][kBlock];
};

template <unsigned kFirst>
void store(int32_t* to) {
  tile_store<kFirst>(to, kSumBytes);
  tile_store<kFirst + 1>(to + kTileRows, kSumBytes);
}

// The sums of a window and the one behind it, or of that alone. Tiles 0 to 3 are sums, 4 and 5
// data, 6 and 7 weights.
template <bool kTwo>
[[gnu::noinline]] void multiply(const Group& group, const Window* window, Panel* panels) {
  const MacTile& tile = group.tile;
  const unsigned steps = tile.steps * kKr / kRowBytes;
  const int8_t* weights = tile.weights;
  tile_load<0>(group.starts, 0);
  tile_load<1>(group.starts + kTileRows, 0);
  if constexpr (kTwo) {
    tile_load<2>(group.starts, 0);
    tile_load<3>(group.starts + kTileRows, 0);
  }
  for (unsigned run = 0; run < tile.run_count; ++run)
    for (unsigned first = 0, count; first < steps; first += count) {
      count = group.windows.gathered && steps - first > kGathered ? kGathered : steps - first;
      const uint8_t* const data = group.data + tile.runs[run] + size_t{first} * kRowBytes;
      Rows rows0 = find_rows(group.windows, window[0], data, count, panels[0]);
      Rows rows1 = kTwo ? find_rows(group.windows, window[1], data, count, panels[1]) : rows0;
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
}

// What becomes of sums: they are stored, as far as they go at once where they belong.
class Stored {
 public:
  explicit Stored(const MacTile& tile) : tile_(tile) {}

  const int32_t* starts() const { return tile_.starts; }
  template <bool kTwo>
  void take(const Group& group, const Window* window) {
    take_one<0>(group, window[0]);
    if constexpr (kTwo) take_one<2>(group, window[1]);
  }
  void end() {}

 private:
  template <unsigned kTileOfSums>
  void take_one(const Group& group, const Window& window) {
    int32_t* const to = tile_.sums + size_t{group.first + window.first} * kBlock;
    if (in_place(window, group.count)) return store<kTileOfSums>(to);
    Block block;
    store<kTileOfSums>(block.rows[0]);
    for (unsigned i = 0; i < window.count; ++i)
      __builtin_memcpy(to + size_t{i} * kBlock, block.rows[window.rows[i]], kSumBytes);
  }

  const MacTile& tile_;
};

// Or they are finished, from the first cache, while tiles are multiplied that come after them.
template <bool kFactors, bool kElements>
class Finished {
 public:
  Finished(const MacTile& tile, const SdpFinish& finish, int8_t* out)
      : rows_(finish), finish_(finish), out_(out) {
    for (unsigned k = 0; k < kBlock; k += Vector::kLanes)
      _mm512_store_si512(starts_ + k, Vector::add(Vector::load(tile.starts + k),
                                                  Vector::load(finish.addends + k)));
  }

  const int32_t* starts() const { return starts_; }
  template <bool kTwo>
  void take(const Group& group, const Window* window) {
    end();
    turn_ = 1 - turn_;
    waiting_ = kTwo ? 2 : 1;
    first_ = group.first;
    windows_ = window;
    store<0>(blocks_[turn_][0].rows[0]);
    if constexpr (kTwo) store<2>(blocks_[turn_][1].rows[0]);
  }
  // Of what waits.
  void end() {
    for (unsigned i = 0; i < waiting_; ++i) finish(blocks_[turn_][i], windows_[i]);
    waiting_ = 0;
  }

 private:
  void finish(const Block& block, const Window& window) {
    const size_t first = first_ + window.first;
    const unsigned stride = finish_.elements.stride;
    const int32_t* elements = finish_.elements.values + first * stride;
    int8_t* out = out_ + first * kBlock;
    const auto words = [&](unsigned position) {
      const int32_t* const row = block.rows[window.rows[position]];
      return rows_.words(Vector::load(row), Vector::load(row + kTileRows),
                         elements + size_t{position} * stride);
    };
    unsigned i = 0;
    for (; i + 1 < window.count; i += 2, out += 2 * kBlock)
      rows_.store_two(out, words(i), words(i + 1));
    if (i < window.count) rows_.store_one(out, words(i));
  }

  Block blocks_[2][2];
  alignas(64) int32_t starts_[kBlock];
  FinishedRows<kFactors, kElements> rows_;
  const SdpFinish& finish_;
  int8_t* out_;
  unsigned turn_ = 0, waiting_ = 0, first_ = 0;
  const Window* windows_ = nullptr;
};

template <typename Sums>
void mac(const MacTile& tile, Sums&& sums) {
  Panel panels[2];
  for (unsigned first = 0; first < tile.count; first += kGroup) {
    const unsigned count = tile.count - first < kGroup ? tile.count - first : kGroup;
    Windows windows;
    plan_windows(lines_from(tile.lines, first), count, windows);
    const Group group{
        tile, tile.bases[0] + distance(tile.lines, first), sums.starts(), first, count, windows};
    for (unsigned i = 0; i < windows.count; i += 2) {
      if (i + 1 < windows.count) {
        multiply<true>(group, windows.all + i, panels);
        sums.template take<true>(group, windows.all + i);
      } else {
        multiply<false>(group, windows.all + i, panels);
        sums.template take<false>(group, windows.all + i);
      }
    }
    sums.end();
  }
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

unsigned amx_tile_positions(const TileLines& lines, unsigned count) {
  return cut_positions(lines, count);
}

void amx_mac(const MacTile& tile) { mac(tile, Stored(tile)); }

void amx_mac_finish(const MacTile& tile, const SdpFinish& finish, int8_t* out) {
  if (finish.factors != nullptr)
    finish.elements.values != nullptr ? mac(tile, Finished<true, true>(tile, finish, out))
                                      : mac(tile, Finished<true, false>(tile, finish, out));
  else
    finish.elements.values != nullptr ? mac(tile, Finished<false, true>(tile, finish, out))
                                      : mac(tile, Finished<false, false>(tile, finish, out));
}

}  // namespace nvdla::model
