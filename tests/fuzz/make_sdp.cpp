// SPDX-License-Identifier: MIT
#include "layer_makers.hpp"

namespace nvdla::fuzz {
namespace {

constexpr std::uint32_t kBatchAlignment = 64;

bool real(const nvdla_sdp& sdp) { return sdp.proc_precision == NVDLA_PRECISION_FP16; }

// One channel block of operands is a column of as many bytes.
nvdla_surface operands(Workshop& shop, const nvdla_sdp& sdp, std::uint32_t slot, const Shape& cube,
                       std::uint32_t mode, std::uint32_t bytes) {
  const std::uint32_t lanes = shop.hw().atom / element_bytes(sdp.proc_precision);
  nvdla_surface s = shop.cube(slot, cube.width, cube.height, lanes * bytes);
  if (mode == NVDLA_OPERAND_CHANNEL) s.line_stride = s.surface_stride = 0;
  if (cube.batch > 1) s.offset = round_up(static_cast<std::uint32_t>(s.offset), kBatchAlignment);
  return s;
}

// Results of a batch are written in pairs of atoms.
void make_batch_output(Workshop& shop, nvdla_surface& output, const Shape& cube) {
  const std::uint32_t atom = shop.hw().atom;
  const std::uint32_t surfaces =
      round_up(cube.channels * element_bytes(cube.precision), atom) / atom;
  output.offset = round_up(static_cast<std::uint32_t>(output.offset), kBatchAlignment);
  output.line_stride = round_up(output.line_stride, kBatchAlignment);
  output.surface_stride = output.line_stride * cube.height;
  output.batch_stride = output.surface_stride * surfaces + kBatchAlignment * shop.input.below(3);
}

std::uint32_t operand_mode(Input& input, const Shape& cube) {
  const std::uint32_t mode = input.below(3);
  if (mode == NVDLA_OPERAND_ELEMENT && cube.width * cube.height == 1) return NVDLA_OPERAND_CHANNEL;
  return mode;
}

nvdla_sdp_x make_x(Workshop& shop, const nvdla_sdp& sdp, std::uint32_t slot, const Shape& cube) {
  Input& input = shop.input;
  nvdla_sdp_x x{};
  if (!input.flag()) return x;
  x.flags = NVDLA_SDP_ENABLE | (input.flag() ? NVDLA_SDP_RELU : 0u);
  x.alu = input.below(NVDLA_ALU_SUM + 1);
  x.mul = input.below(NVDLA_MUL_PRELU + 1);
  if (!real(sdp)) x.mul_shift = input.below(input.once_in(8) ? 64 : 20);
  const std::uint32_t parts = (x.alu != NVDLA_ALU_NONE) + (x.mul != NVDLA_MUL_NONE);
  if (parts == 0) return x;
  if (x.alu != NVDLA_ALU_NONE && !real(sdp)) x.alu_shift = input.below(31);
  x.mode = operand_mode(input, cube);
  if (x.mode == NVDLA_OPERAND_LAYER) {
    const auto value = [&]() -> std::int32_t {
      return real(sdp) ? input.take<std::uint16_t>() : input.take<std::int16_t>();
    };
    if (x.alu != NVDLA_ALU_NONE) x.alu_value = value();
    if (x.mul != NVDLA_MUL_NONE) x.mul_value = value();
    return x;
  }
  x.operand_bytes = input.within(element_bytes(sdp.proc_precision), 2);
  x.operand = operands(shop, sdp, slot, cube, x.mode, parts * x.operand_bytes);
  return x;
}

nvdla_convert converter(Input& input, std::uint32_t max_truncate) {
  nvdla_convert c{};
  c.offset = input.once_in(4) ? input.take<std::int32_t>() : input.take<std::int8_t>();
  c.scale = input.take<std::int16_t>();
  c.truncate = input.below(max_truncate + 1);
  return c;
}

void make_y(Workshop& shop, nvdla_layer& layer, const Shape& cube, bool pooled) {
  Input& input = shop.input;
  nvdla_sdp& sdp = layer.sdp;
  nvdla_sdp_y& y = sdp.y;
  if (!shop.has(NVDLA_HW_SDP_Y) || !input.flag()) return;
  y.flags = NVDLA_SDP_ENABLE;
  y.alu = input.below(NVDLA_ALU_EQUAL + 1);
  if (y.alu == NVDLA_ALU_EQUAL &&
      (pooled || !cube.plain() || sdp.proc_precision != sdp.out_precision))
    y.alu = NVDLA_ALU_SUM;
  y.mul = input.below(NVDLA_MUL_PRELU + 1);
  if (y.alu == NVDLA_ALU_EQUAL) y.mul = NVDLA_MUL_NONE;
  const bool alu = y.alu != NVDLA_ALU_NONE, mul = y.mul != NVDLA_MUL_NONE;
  if (mul && !real(sdp)) y.mul_truncate = input.below(63);
  if (y.alu != NVDLA_ALU_EQUAL && shop.has(NVDLA_HW_LUT) && input.flag()) {
    y.flags |= NVDLA_SDP_LUT;
    make_lut(shop, layer, NVDLA_LUT_SDP, sdp.proc_precision);
  }
  if (!alu && !mul) return;
  y.mode = operand_mode(input, cube);
  if (y.mode == NVDLA_OPERAND_LAYER) {
    if (alu) y.alu_value = input.take<std::int32_t>();
    if (mul) y.mul_value = input.take<std::int32_t>();
    return;
  }
  if (!real(sdp) && alu && y.alu != NVDLA_ALU_EQUAL && input.flag()) {
    y.flags |= NVDLA_SDP_CONVERT_ALU;
    y.alu_cvt = converter(input, 48);
  }
  if (!real(sdp) && mul && input.flag()) {
    y.flags |= NVDLA_SDP_CONVERT_MUL;
    y.mul_cvt = converter(input, 48);
  }
  y.operand_bytes = input.within(element_bytes(sdp.proc_precision), 2);
  y.operand = operands(shop, sdp, kY, cube, y.mode, (alu + mul) * y.operand_bytes);
}

}  // namespace

Shape make_sdp_input(Workshop& shop, nvdla_layer& layer) {
  nvdla_sdp& sdp = layer.sdp;
  Shape in;
  in.width = sdp.width = shop.input.within(1, 12);
  in.height = sdp.height = shop.input.within(1, 12);
  in.channels = sdp.channels = shop.input.within(1, 80);
  in.precision = sdp.in_precision = shop.precision();
  sdp.input = shop.cube(kInput, in.width, in.height, shop.hw().atom);
  return in;
}

Shape make_sdp(Workshop& shop, nvdla_layer& layer, const Shape& in, bool flying, bool pooled) {
  Input& input = shop.input;
  nvdla_sdp& sdp = layer.sdp;
  // int16 in memory may be narrowed before the operators, int8 widened and others changed after.
  sdp.proc_precision = in.precision;
  if (!flying && !pooled && in.precision == NVDLA_PRECISION_INT16 && input.once_in(3))
    sdp.proc_precision = NVDLA_PRECISION_INT8;
  sdp.out_precision = sdp.proc_precision;
  const bool narrowed = sdp.proc_precision != in.precision;
  if (!pooled && !narrowed && in.plain() && shop.has(NVDLA_HW_INT16) && input.flag()) {
    sdp.out_precision = NVDLA_PRECISION_INT16;
    if (sdp.proc_precision == NVDLA_PRECISION_INT16) sdp.out_precision = NVDLA_PRECISION_FP16;
  }
  if (in.precision == NVDLA_PRECISION_FP16 && input.flag()) sdp.flags = NVDLA_SDP_NAN_TO_ZERO;
  sdp.x1 = make_x(shop, sdp, kX1, in);
  sdp.x2 = make_x(shop, sdp, kX2, in);
  make_y(shop, layer, in, pooled);
  const bool equal = sdp.y.alu == NVDLA_ALU_EQUAL;
  if (!real(sdp)) sdp.out_cvt = converter(input, 63);
  if (!real(sdp) && equal) sdp.out_cvt = {.offset = 0, .scale = 1, .truncate = 0, .pad = 0};
  if (!pooled && !equal) {
    sdp.output = shop.cube(kOutput, in.width, in.height, shop.hw().atom);
    if (!flying && shop.in_place() && input.flag()) sdp.output = sdp.input;
    if (in.batch > 1) make_batch_output(shop, sdp.output, in);
  }
  return {in.width, in.height, in.channels, sdp.out_precision};
}

}  // namespace nvdla::fuzz
