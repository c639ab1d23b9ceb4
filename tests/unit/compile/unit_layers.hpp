// SPDX-License-Identifier: MIT
//
// Valid layers of the units behind and beside convolution and SDP; as in
// layers.hpp their slots are exactly as large as they need.
#pragma once

#include "layers.hpp"

namespace nvdla::test {

// 2 x 2 windows of 10 x 8 x 20, one column and one line of padding.
inline void add_pooling(Base& base, std::uint32_t output_slot) {
  nvdla_pdp& pdp = base.layer.pdp;
  pdp.method = NVDLA_POOL_AVERAGE;
  pdp.kernel_width = 2;
  pdp.kernel_height = 3;
  pdp.stride_width = 1;
  pdp.stride_height = 2;
  pdp.pad_left = 1;
  pdp.pad_bottom = 1;
  for (int i = 0; i < 7; i++) pdp.pad_value[i] = -3 * (i + 1);
  pdp.recip_width = 0x8000;
  pdp.recip_height = 0x5555;
  pdp.bands = 1;
  pdp.output = cube(output_slot, 10, 4, base.hw->atom);
}

inline Base base_pdp(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  const std::uint32_t atom = base.hw->atom;
  base.layer.kind = NVDLA_LAYER_PDP;
  base.layer.pdp.width = 10;
  base.layer.pdp.height = 8;
  base.layer.pdp.channels = 20;
  base.layer.pdp.input = cube(0, 10, 8, atom);
  add_pooling(base, 1);
  base.slots.push_back(slot(div_up(20, atom) * 10 * 8 * atom, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(div_up(20, atom) * 10 * 4 * atom, NVDLA_SLOT_WRITE, 64));
  return base;
}

// A wide cube in three bands of 60, 70 and 50 columns, 3 wide windows.
inline Base base_bands(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  const std::uint32_t atom = base.hw->atom;
  nvdla_pdp& pdp = base.layer.pdp;
  base.layer.kind = NVDLA_LAYER_PDP;
  pdp.method = NVDLA_POOL_MAX;
  pdp.width = 360;
  pdp.height = 4;
  pdp.channels = 1;
  pdp.kernel_width = 3;
  pdp.kernel_height = 1;
  pdp.stride_width = 2;
  pdp.stride_height = 1;
  pdp.pad_right = 1;
  pdp.bands = 3;
  pdp.first_out = 60;
  pdp.mid_out = 70;
  pdp.input = cube(0, 360, 4, atom);
  pdp.output = cube(1, 180, 4, atom);
  base.slots.push_back(slot(360 * 4 * atom, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(180 * 4 * atom, NVDLA_SLOT_WRITE, 64));
  return base;
}

inline Base base_sdp_pdp(const char* configuration) {
  Base base = base_sdp(configuration);
  base.layer.kind = NVDLA_LAYER_SDP_PDP;
  base.layer.sdp.output = {};
  add_pooling(base, kOutput);
  base.slots[kOutput].size /= 2;
  return base;
}

inline Base base_conv_pdp(const char* configuration) {
  Base base = base_conv(configuration);
  base.layer.kind = NVDLA_LAYER_CONV_SDP_PDP;
  base.layer.sdp.output = {};
  add_pooling(base, kOutput);
  base.slots[kOutput].size /= 2;
  return base;
}

// 20 x 8 pixels in one plane, 16 kernels of 3 x 3, stride 1, padding 1.
inline Base base_image(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  const std::uint32_t atom = base.hw->atom;
  nvdla_conv& conv = base.layer.conv;
  base.layer.kind = NVDLA_LAYER_CONV_SDP;
  conv.mode = NVDLA_CONV_IMAGE;
  conv.flags = NVDLA_CONV_CONVERT | NVDLA_CONV_MEAN;
  conv.pixel_format = NVDLA_PIXEL_A8R8G8B8;
  conv.width = 20;
  conv.height = 8;
  conv.channels = 4;
  conv.batch = 1;
  conv.kernels = 16;
  conv.kernel_width = conv.kernel_height = 3;
  conv.stride_width = conv.stride_height = 1;
  conv.dilation_width = conv.dilation_height = 1;
  conv.pad_left = conv.pad_right = conv.pad_top = conv.pad_bottom = 1;
  conv.data_banks = conv.weight_banks = 4;
  conv.post_extension = 1;
  conv.pixel_offset = 1;
  conv.cvt_scale = 3;
  conv.cvt_truncate = 1;
  for (int i = 0; i < 4; i++) conv.mean[i] = 100 + i;
  conv.input.line_stride = div_up(21 * 4, atom) * atom;
  conv.weights.slot = 1;
  base.layer.sdp.out_cvt.scale = 1;
  base.layer.sdp.output = cube(2, 20, 8, atom);
  base.slots.push_back(slot(8 * conv.input.line_stride, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(div_up(16 * 36, 128) * 128, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(div_up(16, atom) * 20 * 8 * atom, NVDLA_SLOT_WRITE, 64));
  return base;
}

// int16, 11 x 13 x 20, 20 kernels of 5 x 3, stride 2 x 1: tiles of 8 x 16 x 64.
// Output of 4 x 12 x 20, to which X1 and X2 add operands of 16 bits.
inline Base base_winograd(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  nvdla_conv& conv = base.layer.conv;
  base.layer.kind = NVDLA_LAYER_CONV_SDP;
  conv.mode = NVDLA_CONV_WINOGRAD;
  conv.in_precision = conv.proc_precision = NVDLA_PRECISION_INT16;
  conv.width = 11;
  conv.height = 13;
  conv.channels = 20;
  conv.batch = 1;
  conv.kernels = 20;
  conv.kernel_width = 5;
  conv.kernel_height = 3;
  conv.stride_width = 2;
  conv.stride_height = 1;
  conv.dilation_width = conv.dilation_height = 1;
  conv.pad_left = 1;
  conv.pad_right = 4;
  conv.pad_top = 1;
  conv.pad_bottom = 2;
  conv.pad_value = -300;
  conv.data_banks = 1;
  conv.weight_banks = 2;
  conv.post_extension = 1;
  conv.pra_truncate = 2;
  conv.clip_truncate = 3;
  conv.input = cube(kInput, 11, 13, 32);
  conv.weights.slot = kWeights;
  nvdla_sdp& sdp = base.layer.sdp;
  sdp.proc_precision = sdp.out_precision = NVDLA_PRECISION_INT16;
  for (nvdla_sdp_x* x : {&sdp.x1, &sdp.x2}) {
    x->flags = NVDLA_SDP_ENABLE;
    x->alu = NVDLA_ALU_SUM;
    x->operand_bytes = 2;
  }
  sdp.x1.mode = NVDLA_OPERAND_CHANNEL;
  sdp.x1.operand.slot = kX1;
  sdp.x2.mode = NVDLA_OPERAND_ELEMENT;
  sdp.x2.operand = cube(kX2, 4, 12, 32);
  sdp.out_cvt.scale = 1;
  sdp.output = cube(kOutput, 4, 12, 32);
  base.slots.push_back(slot(2 * 11 * 13 * 32, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(20 * 16 * 64 * 2, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(2 * 4 * 12 * 32, NVDLA_SLOT_WRITE, 64));
  base.slots.push_back(slot(2 * 32, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(2 * 4 * 12 * 32, NVDLA_SLOT_READ, 64));
  return base;
}

// The same in two planes.
inline Base base_planes(const char* configuration) {
  Base base = base_image(configuration);
  const std::uint32_t atom = base.hw->atom;
  nvdla_conv& conv = base.layer.conv;
  conv.pixel_format = NVDLA_PIXEL_Y8_U8V8_N444;
  conv.channels = 3;
  conv.mean[3] = 0;
  conv.input.line_stride = div_up(21, atom) * atom;
  conv.input_uv.slot = 3;
  conv.input_uv.line_stride = div_up(42, atom) * atom;
  base.slots[0].size = 8 * conv.input.line_stride;
  base.slots.push_back(slot(8 * conv.input_uv.line_stride, NVDLA_SLOT_READ, 64));
  return base;
}

// The identity over -64..0, and beyond.
inline nvdla_lut table(std::uint32_t unit) {
  nvdla_lut lut{};
  lut.unit = unit;
  lut.flags = NVDLA_LUT_LE_LINEAR | NVDLA_LUT_HYBRID_LO;
  lut.le_start = -64;
  lut.lo_end = 256;
  lut.lo_overflow = {7, -3};
  lut.le_underflow = {-7, 4};
  for (int i = 0; i < NVDLA_LUT_LE_ENTRIES; i++) lut.le[i] = static_cast<__u16>(i - 64);
  for (int i = 0; i < NVDLA_LUT_LO_ENTRIES; i++) lut.lo[i] = static_cast<__u16>(i);
  return lut;
}

// Y multiplies and adds operands per element of two bytes, converted, and
// looks up.
inline Base base_y(const char* configuration) {
  Base base = base_sdp(configuration);
  const std::uint32_t atom = base.hw->atom;
  nvdla_sdp_y& y = base.layer.sdp.y;
  base.layer.lut = 1;
  base.luts.push_back(table(NVDLA_LUT_SDP));
  y.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT | NVDLA_SDP_CONVERT_ALU | NVDLA_SDP_CONVERT_MUL;
  y.alu = NVDLA_ALU_SUM;
  y.mul = NVDLA_MUL_MUL;
  y.mode = NVDLA_OPERAND_ELEMENT;
  y.operand_bytes = 2;
  y.mul_truncate = 5;
  y.alu_cvt = {.offset = 3, .scale = -2, .truncate = 1, .pad = 0};
  y.mul_cvt = {.offset = -3, .scale = 7, .truncate = 2, .pad = 0};
  y.operand = cube(5, 40, 8, atom);
  base.slots.push_back(slot(div_up(20, atom) * 4 * 10 * 8 * atom, NVDLA_SLOT_READ, 64));
  return base;
}

// Y compares with a cube in memory.
inline Base base_equal(const char* configuration) {
  Base base = base_sdp(configuration);
  nvdla_sdp& sdp = base.layer.sdp;
  sdp.y.flags = NVDLA_SDP_ENABLE;
  sdp.y.alu = NVDLA_ALU_EQUAL;
  sdp.y.mode = NVDLA_OPERAND_ELEMENT;
  sdp.y.operand_bytes = 1;
  sdp.y.operand = sdp.input;
  sdp.out_cvt = {.offset = 0, .scale = 1, .truncate = 0, .pad = 0};
  sdp.output = {};
  return base;
}

inline Base base_cdp(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  const std::uint32_t atom = base.hw->atom;
  nvdla_cdp& cdp = base.layer.cdp;
  base.layer.kind = NVDLA_LAYER_CDP;
  base.layer.lut = 1;
  base.luts.push_back(table(NVDLA_LUT_CDP));
  cdp.width = 10;
  cdp.height = 8;
  cdp.channels = 20;
  cdp.window = 5;
  cdp.in_cvt = {.offset = -3, .scale = 2, .truncate = 1, .pad = 0};
  cdp.out_cvt = {.offset = 100, .scale = 5, .truncate = 7, .pad = 0};
  cdp.input = cube(0, 10, 8, atom);
  cdp.output = cube(1, 10, 8, atom);
  base.slots.push_back(slot(div_up(20, atom) * 10 * 8 * atom, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(div_up(20, atom) * 10 * 8 * atom, NVDLA_SLOT_WRITE, 64));
  return base;
}

// The same in fp16: inputs of -1..4, a ramp of small numbers, slopes of -1.
inline Base base_cdp_half(const char* configuration) {
  Base base = base_cdp(configuration);
  nvdla_cdp& cdp = base.layer.cdp;
  cdp.precision = NVDLA_PRECISION_FP16;
  cdp.in_cvt = cdp.out_cvt = {};
  nvdla_lut& lut = base.luts[0];
  lut.le_start = lut.lo_start = 0xbf800000;
  lut.le_end = lut.lo_end = 0x40800000;
  lut.le_underflow = lut.le_overflow = lut.lo_underflow = lut.lo_overflow = {0xbc00, 0};
  for (int i = 0; i < NVDLA_LUT_LE_ENTRIES; i++) lut.le[i] = static_cast<__u16>(i);
  for (auto& slot : base.slots) slot.size = 2 * 10 * 8 * 32;
  return base;
}

// 5 x 3 x 384 into 15 x 6 x 64.
inline Base base_contract(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  nvdla_rubik& rubik = base.layer.rubik;
  base.layer.kind = NVDLA_LAYER_RUBIK;
  rubik.width = 5;
  rubik.height = 3;
  rubik.channels = 384;
  rubik.stride_width = 3;
  rubik.stride_height = 2;
  rubik.input = cube(0, 5, 3, 32);
  rubik.output = cube(1, 15, 6, 32);
  base.slots.push_back(slot(12 * 5 * 3 * 32, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(2 * 15 * 6 * 32, NVDLA_SLOT_WRITE, 64));
  return base;
}

// 40 x 3 x 20 into 20 planes; lines of 40 bytes take 64.
inline Base base_split(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  nvdla_rubik& rubik = base.layer.rubik;
  base.layer.kind = NVDLA_LAYER_RUBIK;
  rubik.mode = NVDLA_RUBIK_SPLIT;
  rubik.width = 40;
  rubik.height = 3;
  rubik.channels = 20;
  rubik.input = cube(0, 40, 3, 32);
  rubik.output.slot = 1;
  rubik.output.line_stride = 64;
  rubik.output.surface_stride = 192;
  base.slots.push_back(slot(40 * 3 * 32, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(20 * 192, NVDLA_SLOT_WRITE, 64));
  return base;
}

inline Base base_merge(const char* configuration) {
  Base base = base_split(configuration);
  nvdla_rubik& rubik = base.layer.rubik;
  rubik.mode = NVDLA_RUBIK_MERGE;
  std::swap(rubik.input, rubik.output);
  rubik.input.slot = 0;
  rubik.output.slot = 1;
  std::swap(base.slots[0].size, base.slots[1].size);
  return base;
}

// Two transfers: 3 surfaces of 4 lines of 160 bytes, and 8 lines of 32.
inline Base base_bdma(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  base.layer.kind = NVDLA_LAYER_BDMA;
  base.layer.bdma.num_transfers = 2;
  nvdla_transfer transfer{};
  transfer.line_bytes = 160;
  transfer.lines = 4;
  transfer.surfaces = 3;
  transfer.source.line_stride = 192;
  transfer.source.surface_stride = 1024;
  transfer.destination.slot = 1;
  transfer.destination.line_stride = 160;
  transfer.destination.surface_stride = 640;
  base.transfers.push_back(transfer);
  transfer.line_bytes = 32;
  transfer.lines = 8;
  transfer.surfaces = 1;
  transfer.source.line_stride = 64;
  transfer.source.surface_stride = 0;
  transfer.destination.offset = 1920;
  transfer.destination.line_stride = 32;
  transfer.destination.surface_stride = 0;
  base.transfers.push_back(transfer);
  base.slots.push_back(slot(2 * 1024 + 3 * 192 + 160, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(1920 + 256, NVDLA_SLOT_WRITE, 64));
  return base;
}

}  // namespace nvdla::test
