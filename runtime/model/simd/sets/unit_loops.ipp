// SPDX-License-Identifier: MIT
//
// All loops, and the set that they are; an instruction set replaces what it has a better one of.

// Each needs the ones before it.
// clang-format off
#include "model/simd/elements.ipp"
#include "model/simd/float_lanes.ipp"
#include "model/simd/sdp/sdp_float_loops.ipp"
#include "model/simd/sdp/sdp_map_loops.ipp"
#include "model/simd/sdp/sdp_stream_loops.ipp"
#include "model/simd/lut/lut_loops.ipp"
#include "model/simd/lut/cdp_loops.ipp"
#include "model/simd/pool/pdp_loops.ipp"
#include "model/simd/move/rubik_loops.ipp"
// clang-format on

static constexpr UnitKernels unit_loops() {
  UnitKernels set{};
  set.sdp_load_half = loop_sdp_load_half;
  set.sdp_float_flush = loop_sdp_float_flush;
  set.sdp_float_x = loop_sdp_float_x;
  set.sdp_float_y = loop_sdp_float_y;
  set.sdp_float_to_half = loop_sdp_float_to_half;
  set.sdp_float_to_int16 = loop_sdp_float_to_int16;
  set.sdp_int_to_half = loop_sdp_int_to_half;
  set.sdp_stream = loop_sdp_stream;
  set.sdp_map_bytes = loop_sdp_map_bytes;
  set.sdp_count_flags = loop_sdp_count_flags;
  set.sdp_map_words = loop_sdp_map_words;
  set.table_find = loop_table_find;
  set.table_find_wide = loop_table_find_wide;
  set.table_find_float = loop_table_find_float;
  set.table_count = loop_table_count;
  set.sdp_table = loop_sdp_table;
  set.sdp_table_float = loop_sdp_table_float;
  set.cdp_look_up = loop_cdp_look_up;
  set.cdp_look_up_plain = loop_cdp_look_up_plain;
  set.cdp_map = loop_cdp_map;
  set.cdp_table = loop_cdp_table;
  set.cdp_table_wide = loop_cdp_table_wide;
  set.cdp_table_float = loop_cdp_table_float;
  set.cdp_in = loop_cdp_in;
  set.cdp_sums = loop_cdp_sums;
  set.cdp_sums_wide = loop_cdp_sums_wide;
  set.cdp_out = loop_cdp_out;
  set.cdp_in_half = loop_cdp_in_half;
  set.cdp_sums_float = loop_cdp_sums_float;
  set.cdp_out_half = loop_cdp_out_half;
  set.pool_along = loop_pool_along;
  set.pool_down = loop_pool_down;
  set.split_atoms = loop_split_atoms;
  set.merge_atoms = loop_merge_atoms;
  set.count_specials = loop_count_specials;
  return set;
}
