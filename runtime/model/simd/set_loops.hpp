// SPDX-License-Identifier: MIT
//
// The loops that a set of instructions has of its own. Each is compiled in a translation unit for
// its set; a set without one takes that of the set that it is built on.
#ifndef NVDLA_MODEL_SIMD_SET_LOOPS_HPP
#define NVDLA_MODEL_SIMD_SET_LOOPS_HPP

#include "model/simd/kernels.hpp"

namespace nvdla::model {

// AVX2 has these of its own; the set of AVX-512 takes its input from here.
void avx2_mac(const MacTile& tile);
void avx2_depthwise(const DepthwiseTile& tile);
void avx2_wide(const WideTile& tile);
void avx2_half(const HalfStep& step, HalfProducts& result);
void avx2_half_tile(const HalfTile& tile);
void avx2_float_tile(const FloatTile& tile);
void avx2_pack_atoms(const FewChannels& line);
void avx2_convert_bytes(const ByteConverter& converter, const uint8_t* from, size_t size,
                        uint8_t* to);
void avx2_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out);
bool avx2_epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block, int8_t* out);

// AVX-VNNI is the set of AVX2 with dot products of bytes and of words.
void avxvnni_mac(const MacTile& tile);
void avxvnni_depthwise(const DepthwiseTile& tile);
void avxvnni_wide(const WideTile& tile);
const Kernels& avxvnni_kernels();

// AVX-512 has these of its own: they need F, BW, VL, DQ and VNNI.
void avx512_mac(const MacTile& tile);
void avx512_depthwise(const DepthwiseTile& tile);
// Processors that have AVX-512 VBMI, too, compute three quads with a `row_step` so, and look bytes
// up as UnitKernels says.
void avx512vbmi_depthwise_rows(const DepthwiseTile& tile);
void avx512vbmi_map_bytes(const uint8_t* results, const void* in, size_t count, void* out);
void avx512vbmi_count_flags(const uint8_t* flags, const void* in, size_t count, uint64_t* counts);
void avx512_mac_finish(const MacTile& tile, const SdpFinish& finish, int8_t* out);
void avx512_mac_epilogue(const MacTile& tile, const EpilogueBlock& block, int8_t* out);
void avx512_wide(const WideTile& tile);
void avx512_half(const HalfStep& step, HalfProducts& result);
void avx512_half_tile(const HalfTile& tile);
void avx512_float_tile(const FloatTile& tile);
void avx512_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out);
bool avx512_epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block,
                     int8_t* out);

// AMX is the set of AVX-512 with tiles of 16 rows of 64 bytes, which multiply bytes sixteen
// positions by sixteen kernels at a time. Tiles are a thread's own, and it has none before it
// enters and after it leaves: what it does beside computing here is neither slowed down nor
// surprised by them.
void amx_enter();
void amx_leave();

unsigned amx_tile_positions(const TileLines& lines, unsigned count);
void amx_mac(const MacTile& tile);
void amx_mac_finish(const MacTile& tile, const SdpFinish& finish, int8_t* out);
void amx_pieces(const PieceTile& tile);
const Kernels& amx_kernels();

// NEON has these of its own, and shares the others.
void neon_mac(const MacTile& tile);
void neondot_mac(const MacTile& tile);  // needs the dot product
void neon_depthwise(const DepthwiseTile& tile);
void neon_wide(const WideTile& tile);
void neon_half(const HalfStep& step, HalfProducts& result);
void neon_half_tile(const HalfTile& tile);
void neon_float_tile(const FloatTile& tile);
void neon_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out);
bool neon_epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block, int8_t* out);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_SET_LOOPS_HPP
