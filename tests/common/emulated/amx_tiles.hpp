// SPDX-License-Identifier: MIT
//
// What runtime/model/simd/gemm/amx_tiles.hpp has, emulated.
#pragma once

#include "common/emulated/tiles.hpp"

namespace nvdla::model {

[[maybe_unused]] static void tiles_configure(const TileConfig& config) {
  test::Tiles::here().configure(&config);
}
[[maybe_unused]] static void tiles_release() { test::Tiles::here().release(); }

template <unsigned kTile>
static void tile_zero() {
  test::Tiles::here().zero(kTile);
}
template <unsigned kTile>
static void tile_load(const void* from, std::ptrdiff_t stride) {
  test::Tiles::here().load(kTile, from, stride);
}
template <unsigned kTile>
static void tile_store(void* to, std::ptrdiff_t stride) {
  test::Tiles::here().store(kTile, to, stride);
}

template <unsigned kSums, unsigned kData, unsigned kWeights>
[[maybe_unused]] static void tile_dot_ss() {
  test::Tiles::here().dot(kSums, kData, kWeights, {true, true});
}
template <unsigned kSums, unsigned kData, unsigned kWeights>
[[maybe_unused]] static void tile_dot_su() {
  test::Tiles::here().dot(kSums, kData, kWeights, {true, false});
}
template <unsigned kSums, unsigned kData, unsigned kWeights>
[[maybe_unused]] static void tile_dot_us() {
  test::Tiles::here().dot(kSums, kData, kWeights, {false, true});
}
template <unsigned kSums, unsigned kData, unsigned kWeights>
[[maybe_unused]] static void tile_dot_uu() {
  test::Tiles::here().dot(kSums, kData, kWeights, {false, false});
}

}  // namespace nvdla::model
