// SPDX-License-Identifier: MIT
//
// One fault per test: a valid layer, one change, and the whole error that must
// come of it. For each boundary the change that is just legal is tested, too.
#include <gtest/gtest.h>

#include <cstring>

#include "faults.hpp"
#include "support/configurations.hpp"

namespace nvdla::test {
namespace {

TEST(Rules, BaseLayersAreValidOnAllConfigurations) {
  for (const char* name : kConfigurations) {
    SCOPED_TRACE(name);
    EXPECT_EQ(compile(base_sdp(name)).rule, NVDLA_RULE_NONE) << to_string(compile(base_sdp(name)));
    EXPECT_EQ(compile(base_conv(name)).rule, NVDLA_RULE_NONE)
        << to_string(compile(base_conv(name)));
  }
}

class Faults : public testing::TestWithParam<Fault> {};

TEST_P(Faults, IsNamedExactly) { expect_fault(GetParam()); }

class Boundaries : public testing::TestWithParam<Legal> {};

TEST_P(Boundaries, IsAccepted) { expect_legal(GetParam()); }

#define CONV(name, statement, ...)                                  \
  Fault {                                                           \
    name, base_conv, "nv_small", CHANGE(statement), { __VA_ARGS__ } \
  }
#define CONV_FULL(name, statement, ...)                            \
  Fault {                                                          \
    name, base_conv, "nv_full", CHANGE(statement), { __VA_ARGS__ } \
  }
#define SDP(name, statement, ...)                                  \
  Fault {                                                          \
    name, base_sdp, "nv_small", CHANGE(statement), { __VA_ARGS__ } \
  }
#define SDP_FULL(name, statement, ...)                            \
  Fault {                                                         \
    name, base_sdp, "nv_full", CHANGE(statement), { __VA_ARGS__ } \
  }

const Fault kHeader[] = {
    SDP("kind 0", l.kind = 0, NVDLA_RULE_CHOICE, F(kind), 0, 1, 8),
    SDP("kind 9", l.kind = 9, NVDLA_RULE_CHOICE, F(kind), 9, 1, 8),
    SDP("no rubik", l.kind = NVDLA_LAYER_RUBIK, NVDLA_RULE_FEATURE, F(kind), NVDLA_FEATURE_RUBIK),
    SDP("no bdma", l.kind = NVDLA_LAYER_BDMA, NVDLA_RULE_FEATURE, F(kind), NVDLA_FEATURE_BDMA),
    SDP("flags", l.flags = 1, NVDLA_RULE_ZERO, F(flags), 1),
    SDP("waits", l.num_waits = 9, NVDLA_RULE_RANGE, F(num_waits), 9, 0, 8),
    SDP("waits for itself", l.num_waits = 1, NVDLA_RULE_WAIT_ORDER, F(waits[0]), 0, 0, -1),
    SDP("wait that is not counted", l.waits[3] = 7, NVDLA_RULE_ZERO, F(waits[3]), 7),
    SDP("lut", l.lut = 1, NVDLA_RULE_RANGE, F(lut), 1, 0, 0),
};

const Fault kConv[] = {
    CONV("mode 3", c.mode = 3, NVDLA_RULE_CHOICE, F(conv.mode), 3, 0, 2),
    CONV("no winograd", c.mode = NVDLA_CONV_WINOGRAD, NVDLA_RULE_FEATURE, F(conv.mode),
         NVDLA_FEATURE_WINOGRAD),
    CONV("unknown flag", c.flags = 1u << 9, NVDLA_RULE_FLAGS, F(conv.flags), 512, 0, 511),
    CONV("no compression", c.flags = NVDLA_CONV_COMPRESSED, NVDLA_RULE_FEATURE, F(conv.flags),
         NVDLA_FEATURE_COMPRESSION),
    CONV("mean", c.flags = NVDLA_CONV_MEAN, NVDLA_RULE_FLAGS, F(conv.flags), 64, 0, 0x3f),
    CONV("signed pixels", c.flags = NVDLA_CONV_SIGNED_PIXELS, NVDLA_RULE_FLAGS, F(conv.flags), 128,
         0, 0x3f),
    CONV("nan to zero in int8", c.flags = NVDLA_CONV_NAN_TO_ZERO, NVDLA_RULE_FLAGS, F(conv.flags),
         256, 0, 0x3f),
    CONV("in precision 3", c.in_precision = 3, NVDLA_RULE_CHOICE, F(conv.in_precision), 3, 0, 2),
    CONV("no int16", c.in_precision = NVDLA_PRECISION_INT16, NVDLA_RULE_FEATURE,
         F(conv.in_precision), NVDLA_FEATURE_INT16),
    CONV("no fp16", c.proc_precision = NVDLA_PRECISION_FP16, NVDLA_RULE_FEATURE,
         F(conv.proc_precision), NVDLA_FEATURE_FP16),
    CONV("proc precision 3", c.proc_precision = 3, NVDLA_RULE_CHOICE, F(conv.proc_precision), 3, 0,
         2),
    CONV_FULL("int16 into int8", c.in_precision = NVDLA_PRECISION_INT16, NVDLA_RULE_PRECISIONS,
              F(conv.in_precision), 1, 0, 0),
    CONV_FULL("int16 into fp16 without converter",
              (c.in_precision = NVDLA_PRECISION_INT16, c.proc_precision = NVDLA_PRECISION_FP16),
              NVDLA_RULE_CHOICE, F(conv.flags), 0, NVDLA_CONV_CONVERT, NVDLA_CONV_CONVERT),
    CONV("converter scale", (c.flags = NVDLA_CONV_CONVERT, c.cvt_scale = 32768), NVDLA_RULE_RANGE,
         F(conv.cvt_scale), 32768, -32768, 32767),
    CONV("converter offset", (c.flags = NVDLA_CONV_CONVERT, c.cvt_offset = -32769),
         NVDLA_RULE_RANGE, F(conv.cvt_offset), -32769, -32768, 32767),
    CONV("converter truncate", (c.flags = NVDLA_CONV_CONVERT, c.cvt_truncate = 35),
         NVDLA_RULE_RANGE, F(conv.cvt_truncate), 35, 0, 34),
    CONV("mean of features", (c.flags = NVDLA_CONV_CONVERT, c.mean[0] = 1), NVDLA_RULE_RANGE,
         F(conv.mean[0]), 1, 0, 0),
    CONV("width 0", c.width = 0, NVDLA_RULE_RANGE, F(conv.width), 0, 1, 8192),
    CONV("width 8193", c.width = 8193, NVDLA_RULE_RANGE, F(conv.width), 8193, 1, 8192),
    CONV("height 0", c.height = 0, NVDLA_RULE_RANGE, F(conv.height), 0, 1, 4095),
    CONV("height 4096", c.height = 4096, NVDLA_RULE_RANGE, F(conv.height), 4096, 1, 4095),
    CONV("channels 0", c.channels = 0, NVDLA_RULE_RANGE, F(conv.channels), 0, 1, 8192),
    CONV("channels 8193", c.channels = 8193, NVDLA_RULE_RANGE, F(conv.channels), 8193, 1, 8192),
    CONV("batch 0", c.batch = 0, NVDLA_RULE_RANGE, F(conv.batch), 0, 1, 32),
    CONV("batch 33", c.batch = 33, NVDLA_RULE_RANGE, F(conv.batch), 33, 1, 32),
    CONV("no batch", c.batch = 2, NVDLA_RULE_FEATURE, F(conv.batch), NVDLA_FEATURE_BATCH),
    CONV("kernels 0", c.kernels = 0, NVDLA_RULE_RANGE, F(conv.kernels), 0, 1, 8192),
    CONV("kernels 8193", c.kernels = 8193, NVDLA_RULE_RANGE, F(conv.kernels), 8193, 1, 8192),
    CONV("kernel width 0", c.kernel_width = 0, NVDLA_RULE_RANGE, F(conv.kernel_width), 0, 1, 32),
    CONV("kernel width 33", c.kernel_width = 33, NVDLA_RULE_RANGE, F(conv.kernel_width), 33, 1, 32),
    CONV("kernel height 0", c.kernel_height = 0, NVDLA_RULE_RANGE, F(conv.kernel_height), 0, 1, 32),
    CONV("kernel height 33", c.kernel_height = 33, NVDLA_RULE_RANGE, F(conv.kernel_height), 33, 1,
         32),
    CONV("stride x 0", c.stride_x = 0, NVDLA_RULE_RANGE, F(conv.stride_x), 0, 1, 8),
    CONV("stride x 9", c.stride_x = 9, NVDLA_RULE_RANGE, F(conv.stride_x), 9, 1, 8),
    CONV("stride y 0", c.stride_y = 0, NVDLA_RULE_RANGE, F(conv.stride_y), 0, 1, 8),
    CONV("stride y 9", c.stride_y = 9, NVDLA_RULE_RANGE, F(conv.stride_y), 9, 1, 8),
    CONV("dilation x 0", c.dilation_x = 0, NVDLA_RULE_RANGE, F(conv.dilation_x), 0, 1, 32),
    CONV("dilation x 33", c.dilation_x = 33, NVDLA_RULE_RANGE, F(conv.dilation_x), 33, 1, 32),
    CONV("dilation y 0", c.dilation_y = 0, NVDLA_RULE_RANGE, F(conv.dilation_y), 0, 1, 32),
    CONV("dilation y 33", c.dilation_y = 33, NVDLA_RULE_RANGE, F(conv.dilation_y), 33, 1, 32),
    CONV("pad left 32", c.pad_left = 32, NVDLA_RULE_RANGE, F(conv.pad_left), 32, 0, 31),
    CONV("pad right 64", c.pad_right = 64, NVDLA_RULE_RANGE, F(conv.pad_right), 64, 0, 63),
    CONV("pad top 32", c.pad_top = 32, NVDLA_RULE_RANGE, F(conv.pad_top), 32, 0, 31),
    CONV("pad bottom 64", c.pad_bottom = 64, NVDLA_RULE_RANGE, F(conv.pad_bottom), 64, 0, 63),
    CONV("pad value -129", c.pad_value = -129, NVDLA_RULE_RANGE, F(conv.pad_value), -129, -128,
         127),
    CONV("pad value 128", c.pad_value = 128, NVDLA_RULE_RANGE, F(conv.pad_value), 128, -128, 127),
    CONV("wide kernel", c.kernel_width = 22, NVDLA_RULE_KERNEL_FITS, F(conv.kernel_width), 21, 22),
    CONV("dilated kernel", c.dilation_y = 5, NVDLA_RULE_KERNEL_FITS, F(conv.kernel_height), 10, 11),
    CONV("output width", (c.width = 8192, c.stride_x = 1, c.kernel_width = 9, c.pad_left = 8),
         NVDLA_RULE_OUTPUT_SIZE, F(conv.width), 8193, 1, 8192),
    CONV("no data banks", c.data_banks = 0, NVDLA_RULE_RANGE, F(conv.data_banks), 0, 1, 31),
    CONV("32 data banks", c.data_banks = 32, NVDLA_RULE_RANGE, F(conv.data_banks), 32, 1, 31),
    CONV("no weight banks", c.weight_banks = 0, NVDLA_RULE_RANGE, F(conv.weight_banks), 0, 1, 31),
    CONV_FULL("16 weight banks", c.weight_banks = 16, NVDLA_RULE_RANGE, F(conv.weight_banks), 16, 1,
              15),
    CONV("sum of banks", c.data_banks = 29, NVDLA_RULE_BANK_SUM, F(conv.weight_banks), 33, 0, 32),
    /* 19 x 5 entries a line, 8 lines: 760 of 512 in a bank */
    CONV("data banks", c.data_banks = 1, NVDLA_RULE_DATA_BANKS, F(conv.data_banks), 1, 2, 28),
    /* 8192 x 1024 atoms in one line: far beyond */
    CONV("a line",
         (c.width = 8191, c.channels = 8192, c.kernel_width = 1, c.pad_left = 0, c.pad_right = 0),
         NVDLA_RULE_DATA_BANKS, F(conv.data_banks), 4, 8191 * 1024 / 512, 28),
    /* 360 bytes x 8 kernels + 128: 3008 of 4096; twice the channels do not fit */
    CONV("weight banks", (c.weight_banks = 1, c.channels = 80), NVDLA_RULE_WEIGHT_BANKS,
         F(conv.weight_banks), 1, 2, 28),
    CONV("kernel bytes",
         (c.channels = 8192, c.width = 1, c.height = 1, c.stride_x = 1, c.kernel_width = 32,
          c.pad_left = 31, c.pad_right = 0, c.kernel_height = 2, c.pad_bottom = 0),
         NVDLA_RULE_KERNEL_BYTES, F(conv.channels), 524288, 1, 262144),
    CONV("keep weights", (c.flags = NVDLA_CONV_KEEP_WEIGHTS, c.weight_banks = 1),
         NVDLA_RULE_KEEP_WEIGHTS, F(conv.weight_banks), 1, 2, 28),
    CONV("weight bytes too few", c.weights.bytes = 7192, NVDLA_RULE_RANGE, F(conv.weights.bytes),
         7192, 7200, 7296, 8),
    CONV("weight bytes too many", c.weights.bytes = 7304, NVDLA_RULE_RANGE, F(conv.weights.bytes),
         7304, 7200, 7296, 8),
    CONV("weight bytes odd", c.weights.bytes = 7204, NVDLA_RULE_MULTIPLE, F(conv.weights.bytes),
         7204, 0, 0, 8),
    CONV("weights offset", c.weights.offset = 4, NVDLA_RULE_MULTIPLE, F(conv.weights), 4, 0, 0, 8,
         NVDLA_DMA_CDMA_WEIGHT, kWeights),
    CONV("grain of a packed input", c.fetch_grain = 9, NVDLA_RULE_GRAIN, F(conv.fetch_grain), 9, 1,
         8),
    CONV("grain of an input with gaps",
         (c.fetch_grain = 2, c.input.line_stride += 8, c.input.surface_stride += 64,
          slots[kInput].size += 5 * 64),
         NVDLA_RULE_GRAIN, F(conv.fetch_grain), 2, 1, 1),
    CONV("release", c.release = 9, NVDLA_RULE_RANGE, F(conv.release), 9, 0, 8),
    CONV("release of kept data", (c.flags = NVDLA_CONV_KEEP_DATA, c.release = 1), NVDLA_RULE_ZERO,
         F(conv.release), 1),
    CONV("reuse of no data", c.flags = NVDLA_CONV_REUSE_DATA, NVDLA_RULE_REUSE_NOTHING,
         F(conv.flags), NVDLA_CONV_REUSE_DATA),
    CONV("reuse of no weights", c.flags = NVDLA_CONV_REUSE_WEIGHTS, NVDLA_RULE_REUSE_NOTHING,
         F(conv.flags), NVDLA_CONV_REUSE_WEIGHTS),
    CONV("post extension", c.post_extension = 2, NVDLA_RULE_RANGE, F(conv.post_extension), 2, 1, 1),
    CONV("pra truncate", c.pra_truncate = 1, NVDLA_RULE_RANGE, F(conv.pra_truncate), 1, 0, 0),
    CONV("clip truncate", c.clip_truncate = 17, NVDLA_RULE_RANGE, F(conv.clip_truncate), 17, 0, 16),
    CONV("pixel format", c.pixel_format = 12, NVDLA_RULE_ZERO, F(conv.pixel_format), 12),
    CONV("pixel offset", c.pixel_x_offset = 1, NVDLA_RULE_ZERO, F(conv.pixel_x_offset), 1),
    CONV("cvt offset", c.cvt_offset = -1, NVDLA_RULE_ZERO, F(conv.cvt_offset), 0xffffffff),
    CONV("cvt scale", c.cvt_scale = 1, NVDLA_RULE_ZERO, F(conv.cvt_scale), 1),
    CONV("cvt truncate", c.cvt_truncate = 1, NVDLA_RULE_ZERO, F(conv.cvt_truncate), 1),
    CONV("mean 3", c.mean[3] = 1, NVDLA_RULE_ZERO, F(conv.mean[3]), 1),
    CONV("second plane", c.input_uv.offset = 1ull << 40, NVDLA_RULE_ZERO, F(conv.input_uv.offset),
         1ll << 40),
    CONV("wgs", c.wgs.bytes = 32, NVDLA_RULE_ZERO, F(conv.wgs.bytes), 32),
    CONV("wmb", c.wmb.offset = ~0ull, NVDLA_RULE_ZERO, F(conv.wmb.offset), INT64_MAX),
    CONV("input slot", c.input.slot = 5, NVDLA_RULE_SLOT_INDEX, F(conv.input.slot), 5, 0, 4, 0,
         NVDLA_DMA_CDMA_DATA, 5),
    CONV("input slot is written", c.input.slot = kOutput, NVDLA_RULE_SLOT_ACCESS,
         F(conv.input.slot), NVDLA_SLOT_READ, 0, 0, 0, NVDLA_DMA_CDMA_DATA, kOutput),
    CONV("input offset", c.input.offset = 7, NVDLA_RULE_MULTIPLE, F(conv.input), 7, 0, 0, 8,
         NVDLA_DMA_CDMA_DATA, kInput),
    CONV("line stride", c.input.line_stride = 156, NVDLA_RULE_MULTIPLE, F(conv.input.line_stride),
         156, 0, 0, 8),
    CONV("short line stride", c.input.line_stride = 144, NVDLA_RULE_STRIDE,
         F(conv.input.line_stride), 144, 152, 0, 0, NVDLA_DMA_CDMA_DATA, kInput),
    CONV("short surface stride", c.input.surface_stride = 1208, NVDLA_RULE_STRIDE,
         F(conv.input.surface_stride), 1208, 1216, 0, 0, NVDLA_DMA_CDMA_DATA, kInput),
    CONV("surface stride", c.input.surface_stride = 1220, NVDLA_RULE_MULTIPLE,
         F(conv.input.surface_stride), 1220, 0, 0, 8),
    CONV("batch stride", c.input.batch_stride = 8, NVDLA_RULE_ZERO, F(conv.input.batch_stride), 8),
    CONV("flying input precision", s.in_precision = 1, NVDLA_RULE_ZERO, F(sdp.in_precision), 1),
    CONV("flying width", s.width = 10, NVDLA_RULE_ZERO, F(sdp.width), 10),
    CONV("flying height", s.height = 8, NVDLA_RULE_ZERO, F(sdp.height), 8),
    CONV("flying channels", s.channels = 20, NVDLA_RULE_ZERO, F(sdp.channels), 20),
    CONV("flying pad", s.pad = 20, NVDLA_RULE_ZERO, F(sdp.pad), 20),
    CONV("flying input", s.input.slot = 1, NVDLA_RULE_ZERO, F(sdp.input.slot), 1),
    CONV_FULL("flying precision", s.proc_precision = NVDLA_PRECISION_INT16, NVDLA_RULE_PRECISIONS,
              F(sdp.proc_precision), 0, 1, 0),
    CONV_FULL("int8 into fp16", s.out_precision = NVDLA_PRECISION_FP16, NVDLA_RULE_PRECISIONS,
              F(sdp.proc_precision), 0, 0, 2),
    CONV("section pdp", l.pdp.bands = 1, NVDLA_RULE_ZERO, F(pdp.bands), 1),
};

const Fault kSdp[] = {
    SDP("section conv", l.conv.width = 1, NVDLA_RULE_ZERO, F(conv.width), 1),
    SDP("nan to zero in int8", s.flags = NVDLA_SDP_NAN_TO_ZERO, NVDLA_RULE_FLAGS, F(sdp.flags), 1,
        0, 0),
    SDP("unknown flag", s.flags = 2, NVDLA_RULE_FLAGS, F(sdp.flags), 2, 0, 0),
    SDP("in precision 3", s.in_precision = 3, NVDLA_RULE_CHOICE, F(sdp.in_precision), 3, 0, 2),
    SDP("proc precision 3", s.proc_precision = 3, NVDLA_RULE_CHOICE, F(sdp.proc_precision), 3, 0,
        2),
    SDP("out precision 3", s.out_precision = 3, NVDLA_RULE_CHOICE, F(sdp.out_precision), 3, 0, 2),
    SDP("no int16", s.out_precision = NVDLA_PRECISION_INT16, NVDLA_RULE_FEATURE,
        F(sdp.out_precision), NVDLA_FEATURE_INT16),
    SDP("no fp16", s.out_precision = NVDLA_PRECISION_FP16, NVDLA_RULE_FEATURE, F(sdp.out_precision),
        NVDLA_FEATURE_FP16),
    SDP_FULL("int16 to int8 in int16",
             (s.in_precision = NVDLA_PRECISION_INT16, s.proc_precision = NVDLA_PRECISION_INT16),
             NVDLA_RULE_PRECISIONS, F(sdp.proc_precision), 1, 1, 0),
    SDP_FULL("int16 to int16 in int8",
             (s.in_precision = NVDLA_PRECISION_INT16, s.out_precision = NVDLA_PRECISION_INT16),
             NVDLA_RULE_PRECISIONS, F(sdp.proc_precision), 1, 0, 1),
    SDP("width 0", s.width = 0, NVDLA_RULE_RANGE, F(sdp.width), 0, 1, 8192),
    SDP("width 8193", s.width = 8193, NVDLA_RULE_RANGE, F(sdp.width), 8193, 1, 8192),
    SDP("height 0", s.height = 0, NVDLA_RULE_RANGE, F(sdp.height), 0, 1, 8192),
    SDP("height 8193", s.height = 8193, NVDLA_RULE_RANGE, F(sdp.height), 8193, 1, 8192),
    SDP("channels 0", s.channels = 0, NVDLA_RULE_RANGE, F(sdp.channels), 0, 1, 8192),
    SDP("channels 8193", s.channels = 8193, NVDLA_RULE_RANGE, F(sdp.channels), 8193, 1, 8192),
    SDP("pad", s.pad = 1, NVDLA_RULE_ZERO, F(sdp.pad), 1),
    SDP("x1 flags", s.x1.flags |= NVDLA_SDP_LUT, NVDLA_RULE_FLAGS, F(sdp.x1.flags), 5, 0, 3),
    SDP("x1 off", s.x1.flags = 0, NVDLA_RULE_ZERO, F(sdp.x1.alu), 3),
    SDP("x1 relu alone", s.x1 = {.flags = NVDLA_SDP_RELU}, NVDLA_RULE_ZERO, F(sdp.x1.flags), 2),
    SDP("x1 alu", s.x1.alu = NVDLA_ALU_EQUAL, NVDLA_RULE_CHOICE, F(sdp.x1.alu), 4, 0, 3),
    SDP("x1 mul", s.x1.mul = 3, NVDLA_RULE_CHOICE, F(sdp.x1.mul), 3, 0, 2),
    SDP("x1 mode", s.x1.mode = 3, NVDLA_RULE_CHOICE, F(sdp.x1.mode), 3, 0, 2),
    SDP("x1 prelu and alu", s.x1.mul = NVDLA_MUL_PRELU, NVDLA_RULE_PRELU_ALU, F(sdp.x1.alu), 3),
    SDP("x1 operands of no part", s.x1.alu = 0, NVDLA_RULE_OPERAND, F(sdp.x1.mode), 1),
    SDP("x1 alu value", s.x1.alu_value = 1, NVDLA_RULE_ZERO, F(sdp.x1.alu_value), 1),
    SDP("x1 mul value", s.x1.mul_value = -1, NVDLA_RULE_ZERO, F(sdp.x1.mul_value), -1),
    SDP("x1 big value",
        (s.x1 = {.flags = NVDLA_SDP_ENABLE, .alu = NVDLA_ALU_MAX, .alu_value = 32768}),
        NVDLA_RULE_RANGE, F(sdp.x1.alu_value), 32768, -32768, 32767),
    SDP("x1 small value",
        (s.x1 = {.flags = NVDLA_SDP_ENABLE, .mul = NVDLA_MUL_MUL, .mul_value = -32769}),
        NVDLA_RULE_RANGE, F(sdp.x1.mul_value), -32769, -32768, 32767),
    SDP("x1 value in memory too",
        (s.x1 = {.flags = NVDLA_SDP_ENABLE, .mul = NVDLA_MUL_MUL, .operand_bytes = 1}),
        NVDLA_RULE_ZERO, F(sdp.x1.operand_bytes), 1),
    SDP("x1 operand of a value",
        (s.x1 = {.flags = NVDLA_SDP_ENABLE, .mul = NVDLA_MUL_MUL}, s.x1.operand.slot = kX1),
        NVDLA_RULE_ZERO, F(sdp.x1.operand.slot), 3),
    SDP("x1 alu shift", s.x1.alu_shift = 64, NVDLA_RULE_RANGE, F(sdp.x1.alu_shift), 64, 0, 63),
    SDP("x2 alu shift without alu", s.x2.alu_shift = 1, NVDLA_RULE_RANGE, F(sdp.x2.alu_shift), 1, 0,
        0),
    SDP("x1 mul shift", s.x1.mul_shift = 64, NVDLA_RULE_RANGE, F(sdp.x1.mul_shift), 64, 0, 63),
    SDP("x1 pad", s.x1.pad = 1, NVDLA_RULE_ZERO, F(sdp.x1.pad), 1),
    SDP("x1 operand bytes 0", s.x1.operand_bytes = 0, NVDLA_RULE_RANGE, F(sdp.x1.operand_bytes), 0,
        1, 2),
    SDP("x1 operand bytes 3", s.x1.operand_bytes = 3, NVDLA_RULE_RANGE, F(sdp.x1.operand_bytes), 3,
        1, 2),
    SDP("x1 line stride", s.x1.operand.line_stride = 8, NVDLA_RULE_ZERO,
        F(sdp.x1.operand.line_stride), 8),
    SDP("x1 surface stride", s.x1.operand.surface_stride = 8, NVDLA_RULE_ZERO,
        F(sdp.x1.operand.surface_stride), 8),
    SDP("x1 batch stride", s.x1.operand.batch_stride = 8, NVDLA_RULE_ZERO,
        F(sdp.x1.operand.batch_stride), 8),
    SDP("x1 slot", s.x1.operand.slot = 9, NVDLA_RULE_SLOT_INDEX, F(sdp.x1.operand.slot), 9, 0, 4, 0,
        NVDLA_DMA_SDP_BRDMA, 9),
    SDP("x1 offset", s.x1.operand.offset = 12, NVDLA_RULE_MULTIPLE, F(sdp.x1.operand), 12, 0, 0, 8,
        NVDLA_DMA_SDP_BRDMA, kX1),
    SDP("x2 line stride", s.x2.operand.line_stride = 72, NVDLA_RULE_STRIDE,
        F(sdp.x2.operand.line_stride), 72, 80, 0, 0, NVDLA_DMA_SDP_NRDMA, kX2),
    SDP("x2 surface stride", s.x2.operand.surface_stride = 632, NVDLA_RULE_STRIDE,
        F(sdp.x2.operand.surface_stride), 632, 640, 0, 0, NVDLA_DMA_SDP_NRDMA, kX2),
    SDP("x2 batch stride", s.x2.operand.batch_stride = 8, NVDLA_RULE_ZERO,
        F(sdp.x2.operand.batch_stride), 8),
    SDP("x2 per element of 1x1", (s.width = 1, s.height = 1, s.input.surface_stride = 8),
        NVDLA_RULE_OPERAND_1X1, F(sdp.x2.mode), 2, 0, 1),
    SDP("no y", s.y.flags = NVDLA_SDP_ENABLE, NVDLA_RULE_FEATURE, F(sdp.y.flags),
        NVDLA_FEATURE_SDP_Y),
    SDP("y flags", s.y.flags = 32, NVDLA_RULE_FLAGS, F(sdp.y.flags), 32, 0, 29),
    SDP("y lut alone", s.y.flags = NVDLA_SDP_LUT, NVDLA_RULE_ZERO, F(sdp.y.flags), 4),
    SDP("y field", s.y.mul_truncate = 1, NVDLA_RULE_ZERO, F(sdp.y.mul_truncate), 1),
    SDP("y converter", s.y.mul_cvt.pad = 1, NVDLA_RULE_ZERO, F(sdp.y.mul_cvt.pad), 1),
    SDP("scale 32768", s.out_cvt.scale = 32768, NVDLA_RULE_RANGE, F(sdp.out_cvt.scale), 32768,
        -32768, 32767),
    SDP("scale -32769", s.out_cvt.scale = -32769, NVDLA_RULE_RANGE, F(sdp.out_cvt.scale), -32769,
        -32768, 32767),
    SDP("truncate 64", s.out_cvt.truncate = 64, NVDLA_RULE_RANGE, F(sdp.out_cvt.truncate), 64, 0,
        63),
    SDP("converter pad", s.out_cvt.pad = 1, NVDLA_RULE_ZERO, F(sdp.out_cvt.pad), 1),
    SDP("input slot", s.input.slot = 5, NVDLA_RULE_SLOT_INDEX, F(sdp.input.slot), 5, 0, 4, 0,
        NVDLA_DMA_SDP_RDMA, 5),
    SDP("input offset", s.input.offset = 1, NVDLA_RULE_MULTIPLE, F(sdp.input), 1, 0, 0, 8,
        NVDLA_DMA_SDP_RDMA, kInput),
    SDP("input line stride", s.input.line_stride = 72, NVDLA_RULE_STRIDE, F(sdp.input.line_stride),
        72, 80, 0, 0, NVDLA_DMA_SDP_RDMA, kInput),
    SDP("output is not writable", s.output.slot = kX2, NVDLA_RULE_SLOT_ACCESS, F(sdp.output.slot),
        NVDLA_SLOT_WRITE, 0, 0, 0, NVDLA_DMA_SDP_WDMA, kX2),
    SDP("output line stride", s.output.line_stride = 72, NVDLA_RULE_STRIDE,
        F(sdp.output.line_stride), 72, 80, 0, 0, NVDLA_DMA_SDP_WDMA, kOutput),
    SDP("output surface stride", s.output.surface_stride = 632, NVDLA_RULE_STRIDE,
        F(sdp.output.surface_stride), 632, 640, 0, 0, NVDLA_DMA_SDP_WDMA, kOutput),
    SDP("output batch stride", s.output.batch_stride = 640, NVDLA_RULE_ZERO,
        F(sdp.output.batch_stride), 640),
    /* A single position is one run of atoms, so nothing else may be said. */
    SDP("surface stride of 1x1", (s.x2 = {}, s.width = 1, s.height = 1), NVDLA_RULE_RANGE,
        F(sdp.input.surface_stride), 640, 8, 8),
    SDP_FULL("fp16 shift",
             (s.in_precision = s.proc_precision = s.out_precision = NVDLA_PRECISION_FP16,
              s.x1.alu_shift = 0),
             NVDLA_RULE_RANGE, F(sdp.x1.mul_shift), 1, 0, 0),
    SDP_FULL("fp16 operand bytes",
             (s.in_precision = s.proc_precision = s.out_precision = NVDLA_PRECISION_FP16, s.x1 = {},
              s.x2.mul_shift = 0),
             NVDLA_RULE_RANGE, F(sdp.x2.operand_bytes), 1, 2, 2),
    SDP_FULL("fp16 converter",
             (s.in_precision = s.proc_precision = s.out_precision = NVDLA_PRECISION_FP16, s.x1 = {},
              s.x2 = {}),
             NVDLA_RULE_ZERO, F(sdp.out_cvt.offset), 0xfffffffd),
    SDP_FULL("fp16 value",
             (s.in_precision = s.proc_precision = s.out_precision = NVDLA_PRECISION_FP16,
              s.x1 = {.flags = NVDLA_SDP_ENABLE, .alu = NVDLA_ALU_SUM, .alu_value = -1}),
             NVDLA_RULE_RANGE, F(sdp.x1.alu_value), -1, 0, 0xffff),
};

const Legal kLegal[] = {
    {"wait", base_sdp, "nv_small", CHANGE()},
    {"pads below the kernel", base_conv, "nv_small",
     CHANGE((c.kernel_width = 5, c.pad_left = 4, c.pad_right = 0, slots[kWeights].size = 12032))},
    {"columns and lines left over", base_conv, "nv_small",
     CHANGE((c.stride_x = 5, c.stride_y = 2, s.x2 = {}))},
    {"pads beyond the kernel", base_conv, "nv_small",
     CHANGE((c.pad_left = 31, c.pad_right = 63, c.pad_top = 31, c.pad_bottom = 63, c.stride_x = 8,
             c.stride_y = 8, s.x2 = {}, s.output = cube(kOutput, 14, 13, 8),
             slots[kOutput].size = 3 * 14 * 13 * 8))},
    {"pad value -128", base_conv, "nv_small", CHANGE(c.pad_value = -128)},
    {"pad value 127", base_conv, "nv_small", CHANGE(c.pad_value = 127)},
    {"kernel as large as the input", base_conv, "nv_small",
     CHANGE((c.kernel_height = 10, c.weight_banks = 5, slots[kWeights].size = 24064, s.x2 = {}))},
    {"two data banks", base_conv, "nv_small", CHANGE(c.data_banks = 2)},
    {"all banks", base_conv, "nv_small", CHANGE((c.data_banks = 28, c.weight_banks = 4))},
    {"one weight bank", base_conv, "nv_small", CHANGE(c.weight_banks = 1)},
    {"kept weights in two banks", base_conv, "nv_small",
     CHANGE((c.flags = NVDLA_CONV_KEEP_WEIGHTS, c.weight_banks = 2))},
    {"least weight bytes", base_conv, "nv_small",
     CHANGE((c.weights.bytes = 7200, slots[kWeights].size = 7200))},
    {"most weight bytes", base_conv, "nv_small", CHANGE(c.weights.bytes = 7296)},
    {"grain of all lines", base_conv, "nv_small", CHANGE(c.fetch_grain = 8)},
    {"release of one line", base_conv, "nv_small", CHANGE(c.release = 1)},
    {"release of all lines", base_conv, "nv_small", CHANGE(c.release = 8)},
    {"clip", base_conv, "nv_small", CHANGE(c.clip_truncate = 16)},
    {"alu shift", base_sdp, "nv_small", CHANGE(s.x1.alu_shift = 63)},
    {"mul shift", base_sdp, "nv_small", CHANGE(s.x1.mul_shift = 63)},
    {"values", base_sdp, "nv_small",
     CHANGE((s.x1 = {.flags = NVDLA_SDP_ENABLE,
                     .alu = NVDLA_ALU_MIN,
                     .mul = NVDLA_MUL_MUL,
                     .alu_value = -32768,
                     .mul_value = 32767}))},
    {"prelu", base_sdp, "nv_small",
     CHANGE((s.x1 = {.flags = NVDLA_SDP_ENABLE, .mul = NVDLA_MUL_PRELU, .mul_value = 5}))},
    {"shift without a part", base_sdp, "nv_small",
     CHANGE((s.x1 = {.flags = NVDLA_SDP_ENABLE, .mul_shift = 9}))},
    {"scale", base_sdp, "nv_small", CHANGE((s.out_cvt.scale = -32768, s.out_cvt.truncate = 63))},
    {"converter offset", base_sdp, "nv_small", CHANGE(s.out_cvt.offset = INT32_MIN)},
    {"1x1", base_sdp, "nv_small",
     CHANGE((s.x2 = {}, s.width = 1, s.height = 1, s.input.surface_stride = 8,
             s.output.surface_stride = 8))},
    {"int8 to int16", base_sdp, "nv_full",
     CHANGE((s.out_precision = NVDLA_PRECISION_INT16, slots[kOutput].size *= 2))},
    {"int16 to int8", base_sdp, "nv_full",
     CHANGE((s.in_precision = NVDLA_PRECISION_INT16, slots[kInput].size *= 2))},
    {"int16 convolution", base_conv, "nv_full",
     CHANGE((c.in_precision = c.proc_precision = NVDLA_PRECISION_INT16,
             s.proc_precision = s.out_precision = NVDLA_PRECISION_INT16, s.x1.operand_bytes = 2,
             s.x2.operand_bytes = 2, slots[kInput].size = 3 * 19 * 8 * 32,
             slots[kWeights].size *= 2, slots[kOutput].size *= 2, slots[kX1].size *= 2,
             slots[kX2].size *= 2))},
    {"gaps", base_conv, "nv_small",
     CHANGE(
         (c.input.line_stride += 8, c.input.surface_stride += 64, slots[kInput].size += 5 * 64))},
};

INSTANTIATE_TEST_SUITE_P(Header, Faults, testing::ValuesIn(kHeader));
INSTANTIATE_TEST_SUITE_P(Conv, Faults, testing::ValuesIn(kConv));
INSTANTIATE_TEST_SUITE_P(Sdp, Faults, testing::ValuesIn(kSdp));
INSTANTIATE_TEST_SUITE_P(All, Boundaries, testing::ValuesIn(kLegal));

// Words of the layer in which any value is legal.
bool is_free(std::uint32_t field) { return field == LAYER_FIELD(sdp.out_cvt.offset); }

// No field escapes: an absurd value in any word of a layer is refused, and the
// error names that word or, if it only makes others wrong, another one.
TEST(Rules, EveryWordIsChecked) {
  for (const char* configuration : kConfigurations) {
    for (auto make : {base_sdp, base_conv}) {
      for (std::uint32_t field = 0; field < sizeof(nvdla_layer); field += 4) {
        if (is_free(field)) continue;
        Base base = make(configuration);
        const std::uint32_t absurd = 0x7fffff01;
        std::memcpy(reinterpret_cast<char*>(&base.layer) + field, &absurd, 4);
        EXPECT_NE(compile(base).rule, NVDLA_RULE_NONE) << configuration << " " << field;
      }
    }
  }
}

// A section that the kind does not have is zero, word for word; an error names
// a 64-bit field by its beginning.
TEST(Rules, UnusedSectionsAreZero) {
  const struct {
    std::uint32_t begin, end;
  } sections[] = {{LAYER_FIELD(conv), LAYER_FIELD(sdp)},
                  {LAYER_FIELD(pdp), static_cast<std::uint32_t>(sizeof(nvdla_layer))}};
  for (const auto& section : sections) {
    for (std::uint32_t field = section.begin; field < section.end; field += 4) {
      Base base = base_sdp("nv_full");
      const std::uint32_t one = 1;
      std::memcpy(reinterpret_cast<char*>(&base.layer) + field, &one, 4);
      const nvdla_error error = compile(base);
      ASSERT_EQ(error.rule, NVDLA_RULE_ZERO) << field;
      if (error.field == field)
        EXPECT_EQ(error.value, 1) << field;
      else {
        EXPECT_EQ(error.field, field - 4);
        EXPECT_EQ(error.value, 1ll << 32) << field;
      }
    }
  }
}

// What a layer may take depends on the clock: five seconds.
TEST(Rules, CyclesAreBounded) {
  Base base = base_sdp("nv_small");
  ASSERT_EQ(compile(base, 1000).rule, NVDLA_RULE_NONE);
  const nvdla_error error = compile(base, 1);
  EXPECT_EQ(error.rule, NVDLA_RULE_CYCLES) << to_string(error);
  EXPECT_EQ(error.field, LAYER_FIELD(kind));
  EXPECT_EQ(error.max, 5000);
  EXPECT_GT(error.value, 5000);
}

}  // namespace
}  // namespace nvdla::test
