// SPDX-License-Identifier: MIT
//
// AMX: the set of AVX-512 with tiles of 16 rows of 64 bytes, which multiply bytes sixteen positions
// by sixteen kernels at a time.
#ifndef NVDLA_MODEL_SIMD_AMX_HPP
#define NVDLA_MODEL_SIMD_AMX_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

// Tiles are a thread's own, and it has none before it enters and after it leaves: what it does
// beside computing here is neither slowed down nor surprised by them.
void amx_enter();
void amx_leave();

unsigned amx_tile_positions(const TileLines& lines, unsigned count);
void amx_mac(const MacTile& tile);
void amx_mac_finish(const MacTile& tile, const SdpFinish& finish, int8_t* out);
void amx_pieces(const PieceTile& tile);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_AMX_HPP
