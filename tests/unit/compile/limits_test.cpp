// SPDX-License-Identifier: MIT
//
// Limits that hold in one precision, configuration or mode only, and the other
// ends of ranges: one fault per test, and the neighbour that is still legal.
#include <gtest/gtest.h>

#include <algorithm>

#include "faults.hpp"
#include "unit_layers.hpp"

namespace nvdla::test {
namespace {

class LimitFaults : public testing::TestWithParam<Fault> {};
TEST_P(LimitFaults, IsNamedExactly) { expect_fault(GetParam()); }
class LimitBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(LimitBoundaries, IsAccepted) { expect_legal(GetParam()); }

#define CONV(...) FAULT(base_conv, "nv_small", __VA_ARGS__)
#define CONV_FULL(...) FAULT(base_conv, "nv_full", __VA_ARGS__)
#define IMAGE(...) FAULT(base_image, "nv_small", __VA_ARGS__)
#define PLANES(...) FAULT(base_planes, "nv_full", __VA_ARGS__)
#define SDP(...) FAULT(base_sdp, "nv_small", __VA_ARGS__)
#define SDP_FULL(...) FAULT(base_sdp, "nv_full", __VA_ARGS__)
#define Y(...) FAULT(base_y, "nv_full", __VA_ARGS__)
#define PDP(...) FAULT(base_pdp, "nv_small", __VA_ARGS__)
#define PDP_FULL(...) FAULT(base_pdp, "nv_full", __VA_ARGS__)
#define BANDS(...) FAULT(base_bands, "nv_small", __VA_ARGS__)
#define CDP(...) FAULT(base_cdp, "nv_small", __VA_ARGS__)
#define CDP_FULL(...) FAULT(base_cdp, "nv_full", __VA_ARGS__)
#define HALF(...) FAULT(base_cdp_half, "nv_full", __VA_ARGS__)
#define CONTRACT(...) FAULT(base_contract, "nv_full", __VA_ARGS__)
#define SPLIT(...) FAULT(base_split, "nv_full", __VA_ARGS__)
#define MERGE(...) FAULT(base_merge, "nv_full", __VA_ARGS__)
#define BDMA(...) FAULT(base_bdma, "nv_full", __VA_ARGS__)

#define CONV_IN(type) (c.in_precision = c.proc_precision = NVDLA_PRECISION_##type)
#define SDP_IN(type) (s.in_precision = s.proc_precision = s.out_precision = NVDLA_PRECISION_##type)

const Fault kConv[] = {
    CONV_FULL("small pad value of int16", (CONV_IN(INT16), c.pad_value = -32769), NVDLA_RULE_RANGE,
              F(conv.pad_value), -32769, -32768, 32767),
    CONV_FULL("big pad value of int16", (CONV_IN(INT16), c.pad_value = 32768), NVDLA_RULE_RANGE,
              F(conv.pad_value), 32768, -32768, 32767),
    CONV_FULL("negative pad value of fp16", CONV_IN(FP16), NVDLA_RULE_RANGE, F(conv.pad_value), -5,
              0, 0xffff),
    CONV_FULL("pad value of fp16 beyond 16 bits", (CONV_IN(FP16), c.pad_value = 0x10000),
              NVDLA_RULE_RANGE, F(conv.pad_value), 0x10000, 0, 0xffff),
    CONV_FULL("clip truncate of fp16", (CONV_IN(FP16), c.pad_value = 0), NVDLA_RULE_RANGE,
              F(conv.clip_truncate), 2, 0, 0),
    CONV_FULL("converter of fp16", (CONV_IN(FP16), c.pad_value = 0, c.flags = NVDLA_CONV_CONVERT),
              NVDLA_RULE_FLAGS, F(conv.flags), 0x20, 0, 0x11f),
    CONV_FULL("int8 into int16", c.proc_precision = NVDLA_PRECISION_INT16, NVDLA_RULE_PRECISIONS,
              F(conv.in_precision), 0, 1, 1),
    CONV_FULL("int8 into fp16", c.proc_precision = NVDLA_PRECISION_FP16, NVDLA_RULE_PRECISIONS,
              F(conv.in_precision), 0, 2, 2),
    CONV_FULL("fp16 into int16",
              (c.in_precision = NVDLA_PRECISION_FP16, c.proc_precision = NVDLA_PRECISION_INT16),
              NVDLA_RULE_PRECISIONS, F(conv.in_precision), 2, 1, 1),
    CONV_FULL("fp16 into int8", c.in_precision = NVDLA_PRECISION_FP16, NVDLA_RULE_PRECISIONS,
              F(conv.in_precision), 2, 0, 0),
    CONV("small converter scale", (c.flags = NVDLA_CONV_CONVERT, c.cvt_scale = -32769),
         NVDLA_RULE_RANGE, F(conv.cvt_scale), -32769, -32768, 32767),
    CONV("big converter offset", (c.flags = NVDLA_CONV_CONVERT, c.cvt_offset = 32768),
         NVDLA_RULE_RANGE, F(conv.cvt_offset), 32768, -32768, 32767),
    CONV_FULL("weight bytes for the second generation", c.weights.bytes = 7200, NVDLA_RULE_RANGE,
              F(conv.weights.bytes), 7200, 7296, 7296, 128),
    CONV("weight slot", c.weights.slot = 5, NVDLA_RULE_SLOT_INDEX, F(conv.weights.slot), 5, 0, 4, 0,
         NVDLA_DMA_CDMA_WEIGHT, 5),
    CONV("weight slot is written", c.weights.slot = kOutput, NVDLA_RULE_SLOT_ACCESS,
         F(conv.weights.slot), NVDLA_SLOT_READ, 0, 0, 0, NVDLA_DMA_CDMA_WEIGHT, kOutput),
    /* Two lines of 8192 atoms: one more than the 14 bits that count them hold. */
    FAULT(base_conv, "nv_medium_512", "atoms of a grain",
          (c.width = 8192, c.height = 2, c.channels = 16, c.data_banks = 16,
           c.input = cube(kInput, 8192, 2, 16), c.fetch_grain = 2),
          NVDLA_RULE_GRAIN, F(conv.fetch_grain), 2, 1, 1),
    IMAGE("input offset", c.input.offset = 4, NVDLA_RULE_MULTIPLE, F(conv.input), 4, 0, 0, 8,
          NVDLA_DMA_CDMA_DATA, 0),
    IMAGE("line stride of half an atom", c.input.line_stride = 92, NVDLA_RULE_MULTIPLE,
          F(conv.input.line_stride), 92, 0, 0, 8),
    IMAGE("batch stride", c.input.batch_stride = 8, NVDLA_RULE_ZERO, F(conv.input.batch_stride), 8),
    IMAGE("small mean", c.mean[1] = -32769, NVDLA_RULE_RANGE, F(conv.mean[1]), -32769, -32768,
          32767),
    IMAGE("wide kernel", c.kernel_width = 23, NVDLA_RULE_KERNEL_FITS, F(conv.kernel_width), 22, 23),
    /* 11 entries of each of 48 lines: 528 of 512 in a bank */
    IMAGE("data banks", (c.height = 48, c.data_banks = 1), NVDLA_RULE_DATA_BANKS,
          F(conv.data_banks), 1, 2, 28),
    PLANES("x offset", c.pixel_x_offset = 32, NVDLA_RULE_RANGE, F(conv.pixel_x_offset), 32, 0, 31),
    PLANES("second plane's offset", c.input_uv.offset = 16, NVDLA_RULE_MULTIPLE, F(conv.input_uv),
           16, 0, 0, 32, NVDLA_DMA_CDMA_DATA_UV, 3),
    PLANES("second plane's line stride of half an atom", c.input_uv.line_stride = 80,
           NVDLA_RULE_MULTIPLE, F(conv.input_uv.line_stride), 80, 0, 0, 32),
    PLANES("second plane's batch stride", c.input_uv.batch_stride = 32, NVDLA_RULE_ZERO,
           F(conv.input_uv.batch_stride), 32),
    PLANES("second plane's slot", c.input_uv.slot = 4, NVDLA_RULE_SLOT_INDEX, F(conv.input_uv.slot),
           4, 0, 3, 0, NVDLA_DMA_CDMA_DATA_UV, 4),
};

const Fault kSdp[] = {
    SDP_FULL("operands of a byte in int16", (SDP_IN(INT16), s.x1.operand_bytes = 1),
             NVDLA_RULE_RANGE, F(sdp.x1.operand_bytes), 1, 2, 2),
    SDP_FULL("alu shift of fp16", SDP_IN(FP16), NVDLA_RULE_RANGE, F(sdp.x1.alu_shift), 3, 0, 0),
    SDP_FULL("value of fp16 beyond 16 bits",
             (SDP_IN(FP16),
              s.x1 = {.flags = NVDLA_SDP_ENABLE, .mul = NVDLA_MUL_MUL, .mul_value = 0x10000}),
             NVDLA_RULE_RANGE, F(sdp.x1.mul_value), 0x10000, 0, 0xffff),
    SDP("small alu value",
        (s.x1 = {.flags = NVDLA_SDP_ENABLE, .alu = NVDLA_ALU_MAX, .alu_value = -32769}),
        NVDLA_RULE_RANGE, F(sdp.x1.alu_value), -32769, -32768, 32767),
    SDP("big mul value",
        (s.x1 = {.flags = NVDLA_SDP_ENABLE, .mul = NVDLA_MUL_MUL, .mul_value = 32768}),
        NVDLA_RULE_RANGE, F(sdp.x1.mul_value), 32768, -32768, 32767),
    SDP("x1 per element of 1x1", (s.width = s.height = 1, s.x1.mode = NVDLA_OPERAND_ELEMENT),
        NVDLA_RULE_OPERAND_1X1, F(sdp.x1.mode), 2, 0, 1),
    Y("per element of 1x1", (s.width = s.height = 1, s.x2 = {}), NVDLA_RULE_OPERAND_1X1,
      F(sdp.y.mode), 2, 0, 1),
    SDP("x2 line stride of half an atom", s.x2.operand.line_stride = 84, NVDLA_RULE_MULTIPLE,
        F(sdp.x2.operand.line_stride), 84, 0, 0, 8),
    SDP("x2 surface stride of half an atom", s.x2.operand.surface_stride = 644, NVDLA_RULE_MULTIPLE,
        F(sdp.x2.operand.surface_stride), 644, 0, 0, 8),
    SDP("input line stride of half an atom", s.input.line_stride = 84, NVDLA_RULE_MULTIPLE,
        F(sdp.input.line_stride), 84, 0, 0, 8),
    SDP("input surface stride", s.input.surface_stride = 632, NVDLA_RULE_STRIDE,
        F(sdp.input.surface_stride), 632, 640, 0, 0, NVDLA_DMA_SDP_RDMA, kInput),
    SDP("input batch stride", s.input.batch_stride = 640, NVDLA_RULE_ZERO,
        F(sdp.input.batch_stride), 640),
    SDP("output offset", s.output.offset = 4, NVDLA_RULE_MULTIPLE, F(sdp.output), 4, 0, 0, 8,
        NVDLA_DMA_SDP_WDMA, kOutput),
    SDP("output line stride of half an atom", s.output.line_stride = 84, NVDLA_RULE_MULTIPLE,
        F(sdp.output.line_stride), 84, 0, 0, 8),
    SDP("output surface stride of 1x1",
        (s.x2 = {}, s.width = s.height = 1, s.input.surface_stride = 8), NVDLA_RULE_RANGE,
        F(sdp.output.surface_stride), 640, 8, 8),
    Y("conversion of fp16 operands", (SDP_IN(FP16), s.x1 = s.x2 = {}), NVDLA_RULE_FLAGS,
      F(sdp.y.flags), 29, 0, 5),
    Y("mul truncate of fp16",
      (SDP_IN(FP16), s.x1 = s.x2 = {}, s.y.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT),
      NVDLA_RULE_RANGE, F(sdp.y.mul_truncate), 5, 0, 0),
    Y("operands of a byte in int16", (SDP_IN(INT16), s.x1 = s.x2 = {}, s.y.operand_bytes = 1),
      NVDLA_RULE_RANGE, F(sdp.y.operand_bytes), 1, 2, 2),
    Y("small mul scale", s.y.mul_cvt.scale = -32769, NVDLA_RULE_RANGE, F(sdp.y.mul_cvt.scale),
      -32769, -32768, 32767),
    Y("operand surface stride of half an atom", s.y.operand.surface_stride = 10224,
      NVDLA_RULE_MULTIPLE, F(sdp.y.operand.surface_stride), 10224, 0, 0, 32),
};

const Fault kPdp[] = {
    /* 16 atoms of 8, 2 and 1 lines; rules of units have 4. */
    PDP("too wide for a line of the output", (p.width = 129, p.stride_y = 3),
        NVDLA_RULE_OUTPUT_SIZE, F(pdp.bands), 129, 1, 128),
    PDP("too wide for three lines of the output", (p.width = 33, p.stride_y = 1),
        NVDLA_RULE_OUTPUT_SIZE, F(pdp.bands), 33, 1, 32),
    PDP("too wide for five lines of the output",
        (p.width = 17, p.kernel_height = 5, p.stride_y = 1), NVDLA_RULE_OUTPUT_SIZE, F(pdp.bands),
        17, 1, 16),
    FAULT(base_sdp_pdp, "nv_full", "too wide on the fly",
          (s.width = 65, s.x2 = {}, s.input = cube(kInput, 65, 8, 32),
           slots[kInput].size = 65 * 8 * 32),
          NVDLA_RULE_OUTPUT_SIZE, F(pdp.bands), 65, 1, 64),
    PDP("kernel beyond the lines", (p.height = 2, p.kernel_height = 8), NVDLA_RULE_KERNEL_FITS,
        F(pdp.kernel_height), 3, 8),
    PDP_FULL("negative pad value of fp16", p.precision = NVDLA_PRECISION_FP16, NVDLA_RULE_RANGE,
             F(pdp.pad_value[0]), -3, 0, 0x1ffff),
    PDP_FULL("pad value of fp16 beyond 17 bits",
             (p.precision = NVDLA_PRECISION_FP16, std::fill(p.pad_value, p.pad_value + 7, 0x20000)),
             NVDLA_RULE_RANGE, F(pdp.pad_value[0]), 0x20000, 0, 0x1ffff),
    PDP("input line stride of half an atom", p.input.line_stride = 84, NVDLA_RULE_MULTIPLE,
        F(pdp.input.line_stride), 84, 0, 0, 8),
    PDP("input surface stride", p.input.surface_stride = 632, NVDLA_RULE_STRIDE,
        F(pdp.input.surface_stride), 632, 640, 0, 0, NVDLA_DMA_PDP_RDMA, 0),
    PDP("output offset", p.output.offset = 4, NVDLA_RULE_MULTIPLE, F(pdp.output), 4, 0, 0, 8,
        NVDLA_DMA_PDP_WDMA, 1),
    PDP("output line stride", p.output.line_stride = 72, NVDLA_RULE_STRIDE,
        F(pdp.output.line_stride), 72, 80, 0, 0, NVDLA_DMA_PDP_WDMA, 1),
    PDP("output surface stride of half an atom", p.output.surface_stride = 324, NVDLA_RULE_MULTIPLE,
        F(pdp.output.surface_stride), 324, 0, 0, 8),
    PDP("output batch stride", p.output.batch_stride = 8, NVDLA_RULE_ZERO,
        F(pdp.output.batch_stride), 8),
    /* The second band would begin left of the cube. */
    BANDS("first band below the overlap",
          (p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_x = 1, p.pad_left = 7,
           p.pad_right = 0, p.width = 20, p.first_out = 1),
          NVDLA_RULE_BANDS, F(pdp.first_out), 1, 7, 1024),
    BANDS("inner band below the overlap",
          (p.kernel_width = 8, p.stride_x = 1, p.pad_right = 0, p.width = 17, p.first_out = 2,
           p.mid_out = 4),
          NVDLA_RULE_BANDS, F(pdp.mid_out), 4, 7, 1024),
    BANDS("last band of padding",
          (p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_x = 1, p.pad_right = 7,
           p.width = 20, p.first_out = 15),
          NVDLA_RULE_BANDS, F(pdp.bands), -2, 1, 1024),
    BANDS("first band takes more than its register",
          (p.bands = 2, p.mid_out = 0, p.stride_x = 16, p.pad_right = 0, p.width = 2067,
           p.first_out = 65),
          NVDLA_RULE_BANDS, F(pdp.first_out), 1027, 1, 1024),
    BANDS("last band takes more than its register",
          (p.bands = 2, p.mid_out = 0, p.stride_x = 16, p.pad_right = 0, p.width = 2051,
           p.first_out = 64),
          NVDLA_RULE_BANDS, F(pdp.bands), 1040, 14, 1024),
};

const Fault kCdp[] = {
    CDP("small in offset", n.in_cvt.offset = -129, NVDLA_RULE_RANGE, F(cdp.in_cvt.offset), -129,
        -128, 127),
    CDP_FULL("small in offset of int16", (n.precision = 1, n.in_cvt.offset = -32769),
             NVDLA_RULE_RANGE, F(cdp.in_cvt.offset), -32769, -32768, 32767),
    CDP("small in scale", n.in_cvt.scale = -32769, NVDLA_RULE_RANGE, F(cdp.in_cvt.scale), -32769,
        -32768, 32767),
    CDP("small out offset", n.out_cvt.offset = -0x1000001, NVDLA_RULE_RANGE, F(cdp.out_cvt.offset),
        -0x1000001, -0x1000000, 0xffffff),
    CDP("big out scale", n.out_cvt.scale = 32768, NVDLA_RULE_RANGE, F(cdp.out_cvt.scale), 32768,
        -32768, 32767),
    HALF("out converter of fp16", n.out_cvt.scale = 1, NVDLA_RULE_ZERO, F(cdp.out_cvt.scale), 1),
    CDP("no fp16", n.precision = 2, NVDLA_RULE_FEATURE, F(cdp.precision), NVDLA_FEATURE_FP16),
    CDP("input offset", n.input.offset = 4, NVDLA_RULE_MULTIPLE, F(cdp.input), 4, 0, 0, 8,
        NVDLA_DMA_CDP_RDMA, 0),
    CDP("input line stride", n.input.line_stride = 72, NVDLA_RULE_STRIDE, F(cdp.input.line_stride),
        72, 80, 0, 0, NVDLA_DMA_CDP_RDMA, 0),
    CDP("input surface stride", n.input.surface_stride = 632, NVDLA_RULE_STRIDE,
        F(cdp.input.surface_stride), 632, 640, 0, 0, NVDLA_DMA_CDP_RDMA, 0),
    CDP("input batch stride", n.input.batch_stride = 8, NVDLA_RULE_ZERO, F(cdp.input.batch_stride),
        8),
    CDP("output line stride of half an atom", n.output.line_stride = 84, NVDLA_RULE_MULTIPLE,
        F(cdp.output.line_stride), 84, 0, 0, 8),
    CDP("output surface stride", n.output.surface_stride = 632, NVDLA_RULE_STRIDE,
        F(cdp.output.surface_stride), 632, 640, 0, 0, NVDLA_DMA_CDP_WDMA, 1),
    CDP("output is read only", n.output.slot = 0, NVDLA_RULE_SLOT_ACCESS, F(cdp.output.slot),
        NVDLA_SLOT_WRITE, 0, 0, 0, NVDLA_DMA_CDP_WDMA, 0),
};

#define LUT_RANGE(name, statement, member, value, min, max) \
  name, statement, NVDLA_RULE_RANGE, LUT_FIELD(member), value, min, max, OF_LUT
const Fault kLut[] = {
    Y(LUT_RANGE("sdp exponent -65", (luts[0].flags = 0, luts[0].le_index_offset = -65),
                le_index_offset, -65, -64, 31)),
    Y(LUT_RANGE("sdp le step -7", luts[0].le_index_select = -7, le_index_select, -7, -6, 25)),
    Y(LUT_RANGE("sdp le step 26", luts[0].le_index_select = 26, le_index_select, 26, -6, 25)),
    Y(LUT_RANGE("sdp lo step -9", luts[0].lo_index_select = -9, lo_index_select, -9, -8, 23)),
    Y(LUT_RANGE("sdp lo step 24", luts[0].lo_index_select = 24, lo_index_select, 24, -8, 23)),
    Y(LUT_RANGE("sdp lo end", luts[0].lo_end = 1ll << 31, lo_end, 1ll << 31, -(1ll << 31),
                (1ll << 31) - 1)),
    CDP_FULL(LUT_RANGE("int16 exponent 37",
                       (n.precision = 1, luts[0].flags = 0, luts[0].le_index_offset = 37),
                       le_index_offset, 37, -64, 36)),
    CDP_FULL(LUT_RANGE("int16 le step 32", (n.precision = 1, luts[0].le_index_select = 32),
                       le_index_select, 32, -6, 31)),
    CDP_FULL(LUT_RANGE("int16 lo step 30", (n.precision = 1, luts[0].lo_index_select = 30),
                       lo_index_select, 30, -8, 29)),
    CDP_FULL(LUT_RANGE("int16 le start", (n.precision = 1, luts[0].le_start = -(1ll << 37) - 1),
                       le_start, -(1ll << 37) - 1, -(1ll << 37), (1ll << 37) - 1)),
    CDP_FULL(LUT_RANGE("int16 lo end", (n.precision = 1, luts[0].lo_end = 1ll << 37), lo_end,
                       1ll << 37, -(1ll << 37), (1ll << 37) - 1)),
    HALF(LUT_RANGE("fp16 exponent -127", (luts[0].flags = 0, luts[0].le_index_offset = -127),
                   le_index_offset, -127, -126, 127)),
    HALF(LUT_RANGE("fp16 exponent 128", (luts[0].flags = 0, luts[0].le_index_offset = 128),
                   le_index_offset, 128, -126, 127)),
    HALF(LUT_RANGE("fp16 le step -129", luts[0].le_index_select = -129, le_index_select, -129, -128,
                   121)),
    HALF(LUT_RANGE("fp16 le step 122", luts[0].le_index_select = 122, le_index_select, 122, -128,
                   121)),
    HALF(LUT_RANGE("fp16 lo step -129", luts[0].lo_index_select = -129, lo_index_select, -129, -128,
                   119)),
    HALF(LUT_RANGE("fp16 lo step 120", luts[0].lo_index_select = 120, lo_index_select, 120, -128,
                   119)),
    CDP(LUT_RANGE("small slope", luts[0].lo_overflow.scale = -32769, lo_overflow.scale, -32769,
                  -32768, 32767)),
};

const Fault kRubik[] = {
    CONTRACT("stride y 0", r.stride_y = 0, NVDLA_RULE_RANGE, F(rubik.stride_y), 0, 1, 32),
    CONTRACT("height 8193", r.height = 8193, NVDLA_RULE_RANGE, F(rubik.height), 8193, 1, 8192),
    CONTRACT("input offset", r.input.offset = 16, NVDLA_RULE_MULTIPLE, F(rubik.input), 16, 0, 0, 32,
             NVDLA_DMA_RUBIK_READ, 0),
    CONTRACT("input line stride of half an atom", r.input.line_stride = 176, NVDLA_RULE_MULTIPLE,
             F(rubik.input.line_stride), 176, 0, 0, 32),
    CONTRACT("input line stride", r.input.line_stride = 128, NVDLA_RULE_STRIDE,
             F(rubik.input.line_stride), 128, 160, 0, 0, NVDLA_DMA_RUBIK_READ, 0),
    CONTRACT("input surface stride", r.input.surface_stride = 448, NVDLA_RULE_STRIDE,
             F(rubik.input.surface_stride), 448, 480, 0, 0, NVDLA_DMA_RUBIK_READ, 0),
    CONTRACT("output surface stride", r.output.surface_stride = 2848, NVDLA_RULE_STRIDE,
             F(rubik.output.surface_stride), 2848, 2880, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    CONTRACT("output batch stride", r.output.batch_stride = 32, NVDLA_RULE_ZERO,
             F(rubik.output.batch_stride), 32),
    SPLIT("plane line stride", r.output.line_stride = 0, NVDLA_RULE_STRIDE,
          F(rubik.output.line_stride), 0, 64, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    MERGE("stride x", r.stride_x = 1, NVDLA_RULE_ZERO, F(rubik.stride_x), 1),
    MERGE("plane line stride", r.input.line_stride = 0, NVDLA_RULE_STRIDE,
          F(rubik.input.line_stride), 0, 64, 0, 0, NVDLA_DMA_RUBIK_READ, 0),
    MERGE("plane line stride of half a beat", r.input.line_stride = 96, NVDLA_RULE_MULTIPLE,
          F(rubik.input.line_stride), 96, 0, 0, 64),
    MERGE("plane stride of half a beat", r.input.surface_stride = 224, NVDLA_RULE_MULTIPLE,
          F(rubik.input.surface_stride), 224, 0, 0, 64),
    MERGE("plane offset", (r.input.offset = 32, slots[0].size += 32), NVDLA_RULE_MULTIPLE,
          F(rubik.input), 32, 0, 0, 64),
};

const Fault kBdma[] = {
    BDMA("destination surface stride", t[0].destination.surface_stride = 656, NVDLA_RULE_MULTIPLE,
         TRANSFER_FIELD(destination.surface_stride), 656, 0, 0, 32, 0, 0, OF_TRANSFER(0)),
    BDMA("destination batch stride", t[0].destination.batch_stride = 32, NVDLA_RULE_ZERO,
         TRANSFER_FIELD(destination.batch_stride), 32, 0, 0, 0, 0, 0, OF_TRANSFER(0)),
    BDMA("destination offset", t[0].destination.offset = 16, NVDLA_RULE_MULTIPLE,
         TRANSFER_FIELD(destination), 16, 0, 0, 32, NVDLA_DMA_BDMA_WRITE, 1, OF_TRANSFER(0)),
    BDMA("destination slot", t[0].destination.slot = 2, NVDLA_RULE_SLOT_INDEX,
         TRANSFER_FIELD(destination.slot), 2, 0, 1, 0, NVDLA_DMA_BDMA_WRITE, 2, OF_TRANSFER(0)),
    BDMA("source is write only", t[0].source.slot = 1, NVDLA_RULE_SLOT_ACCESS,
         TRANSFER_FIELD(source.slot), NVDLA_SLOT_READ, 0, 0, 0, NVDLA_DMA_BDMA_READ, 1,
         OF_TRANSFER(0)),
};

const Legal kLegal[] = {
    {"x offset of the last pixel of an atom", base_planes, "nv_full",
     CHANGE((c.pixel_x_offset = 31, c.input.line_stride = 64, slots[0].size = 8 * 64,
             c.input_uv.line_stride = 96, slots[3].size = 8 * 96))},
    {"as wide as a line of the output allows", base_pdp, "nv_small",
     CHANGE((p.width = 128, p.stride_y = 3, p.input = cube(0, 128, 8, 8),
             p.output = cube(1, 128, 3, 8), slots[0].size = 3 * 128 * 8 * 8,
             slots[1].size = 3 * 128 * 3 * 8))},
    {"as wide as three lines of the output allow", base_pdp, "nv_small",
     CHANGE((p.width = 32, p.stride_y = 1, p.input = cube(0, 32, 8, 8),
             p.output = cube(1, 32, 7, 8), slots[0].size = 3 * 32 * 8 * 8,
             slots[1].size = 3 * 32 * 7 * 8))},
    {"as wide as five lines of the output allow", base_pdp, "nv_small",
     CHANGE((p.width = 16, p.kernel_height = 5, p.stride_y = 1, p.input = cube(0, 16, 8, 8),
             p.output = cube(1, 16, 5, 8), slots[0].size = 3 * 16 * 8 * 8,
             slots[1].size = 3 * 16 * 5 * 8))},
    {"64 bands", base_bands, "nv_small",
     CHANGE((p.bands = 64, p.first_out = p.mid_out = 2, p.width = 256, p.input = cube(0, 256, 4, 8),
             p.output = cube(1, 128, 4, 8)))},
    {"first band of the overlap", base_bands, "nv_small",
     CHANGE((p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_x = 1, p.pad_left = 7,
             p.pad_right = 0, p.width = 20, p.first_out = 7))},
    {"last band of one column", base_bands, "nv_small",
     CHANGE((p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_x = 1, p.pad_right = 7,
             p.width = 20, p.first_out = 12))},
    {"least steps of sdp", base_y, "nv_full",
     CHANGE((luts[0].le_index_select = -6, luts[0].lo_index_select = -8))},
    {"greatest steps of sdp", base_y, "nv_full",
     CHANGE((luts[0].le_index_select = 25, luts[0].lo_index_select = 23))},
    {"least steps in fp16", base_cdp_half, "nv_full",
     CHANGE((luts[0].le_index_select = luts[0].lo_index_select = -128))},
    {"greatest steps in fp16", base_cdp_half, "nv_full",
     CHANGE((luts[0].le_index_select = 121, luts[0].lo_index_select = 119))},
    {"20 transfers", base_bdma, "nv_full",
     CHANGE((t.assign(20, nvdla_transfer(t[0])), l.bdma.num_transfers = 20))},
};

INSTANTIATE_TEST_SUITE_P(Conv, LimitFaults, testing::ValuesIn(kConv));
INSTANTIATE_TEST_SUITE_P(Sdp, LimitFaults, testing::ValuesIn(kSdp));
INSTANTIATE_TEST_SUITE_P(Pdp, LimitFaults, testing::ValuesIn(kPdp));
INSTANTIATE_TEST_SUITE_P(Cdp, LimitFaults, testing::ValuesIn(kCdp));
INSTANTIATE_TEST_SUITE_P(Lut, LimitFaults, testing::ValuesIn(kLut));
INSTANTIATE_TEST_SUITE_P(Rubik, LimitFaults, testing::ValuesIn(kRubik));
INSTANTIATE_TEST_SUITE_P(Bdma, LimitFaults, testing::ValuesIn(kBdma));
INSTANTIATE_TEST_SUITE_P(All, LimitBoundaries, testing::ValuesIn(kLegal));

}  // namespace
}  // namespace nvdla::test
