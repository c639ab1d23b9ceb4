// SPDX-License-Identifier: MIT
//
// AMX's instructions. Not by the compilers' own functions for them, which do not tell g++ 12 what
// tiles load from memory and store there. A test defines NVDLA_AMX_TILES as a file that has the
// same in plain C++.
#ifndef NVDLA_MODEL_SIMD_GEMM_AMX_TILES_HPP
#define NVDLA_MODEL_SIMD_GEMM_AMX_TILES_HPP

#include <stddef.h>
#include <stdint.h>

namespace nvdla::model {

constexpr unsigned kTiles = 8, kTileRows = 16, kRowBytes = 64;

// What LDTILECFG loads, of palette 1.
struct alignas(64) TileConfig {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};

}  // namespace nvdla::model

#ifdef NVDLA_AMX_TILES
#include NVDLA_AMX_TILES
#else

namespace nvdla::model {

[[maybe_unused]] static void tiles_configure(const TileConfig& config) {
  __asm__ volatile("ldtilecfg %0" : : "m"(config));
}
[[maybe_unused]] static void tiles_release() { __asm__ volatile("tilerelease"); }

template <unsigned kMr>
static void tile_zero() {
  __asm__ volatile("tilezero %%tmm%c0" : : "i"(kMr));
}
// Rows of the tile lie `stride` bytes apart.
template <unsigned kMr>
static void tile_load(const void* from, ptrdiff_t stride) {
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kMr) : "memory");
}
template <unsigned kMr>
static void tile_store(void* to, ptrdiff_t stride) {
  __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kMr) : "memory");
}

// sums[row][column] += products of 64 bytes: data[row][4 * i + j] * weights[i][4 * column + j]. The
// data's bytes are signed or unsigned by the first letter, those of the weights by the second.
#define NVDLA_TILE_DOT(name, instruction)                        \
  template <unsigned kSums, unsigned kData, unsigned kWeights>   \
  [[maybe_unused]] static void name() {                          \
    __asm__ volatile(instruction " %%tmm%c2, %%tmm%c1, %%tmm%c0" \
                     :                                           \
                     : "i"(kSums), "i"(kData), "i"(kWeights));   \
  }
NVDLA_TILE_DOT(tile_dot_ss, "tdpbssd")
NVDLA_TILE_DOT(tile_dot_su, "tdpbsud")
NVDLA_TILE_DOT(tile_dot_us, "tdpbusd")
NVDLA_TILE_DOT(tile_dot_uu, "tdpbuud")
#undef NVDLA_TILE_DOT

}  // namespace nvdla::model

#endif

#endif  // NVDLA_MODEL_SIMD_GEMM_AMX_TILES_HPP
