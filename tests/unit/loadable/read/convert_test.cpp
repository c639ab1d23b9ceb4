// SPDX-License-Identifier: MIT
//
// What operations become in the terms of the layer descriptors, and which are refused.
#include "loadable/read/convert.hpp"

#include <gtest/gtest.h>

#include "common/runtime/expect_error.hpp"
#include "compiler/graph/nodes.hpp"
#include "loadable/format/container.hpp"
#include "nvdla/loadable.hpp"
#include "unit/loadable/maker.hpp"

namespace nvdla {
namespace {

using namespace loadable;
using test::expect_error;
using test::make_operation;
using test::Maker;

ConvertedProgram convert(Maker& maker, const char* configuration) {
  const Container c = parse_container(maker.file());
  return convert_task(c, decode_task(c, 0), *nvdla_hw_find(configuration));
}

SdpPart& sdp(Maker& maker) { return std::get<SdpPart>(maker.operations[0].part); }

TEST(Convert, SdpFromMemory) {
  Maker maker;
  sdp(maker).op.x2_op = {.enable = 1,
                         .alu_type = 2,
                         .type = 3,
                         .mode = 1,
                         .act = 0,
                         .shift_value = 3,
                         .truncate = 5,
                         .precision = 1,
                         .alu_operand = 0,
                         .mul_operand = 0,
                         .cvt = {}};
  sdp(maker).surface.x2_data = sdp(maker).surface.src_data;
  sdp(maker).surface.x2_data.offset = 512;
  const ConvertedProgram p = convert(maker, "nv_small");
  ASSERT_EQ(p.layers.size(), 1U);
  const nvdla_layer& layer = p.layers[0];
  EXPECT_EQ(layer.kind, NVDLA_LAYER_SDP);
  EXPECT_EQ(layer.sdp.width, 8U);
  EXPECT_EQ(layer.sdp.channels, 32U);
  EXPECT_EQ(layer.sdp.x1.flags, NVDLA_SDP_ENABLE | NVDLA_SDP_RELU);
  EXPECT_EQ(layer.sdp.x1.alu, NVDLA_ALU_NONE);
  EXPECT_EQ(layer.sdp.x2.alu, NVDLA_ALU_SUM);
  EXPECT_EQ(layer.sdp.x2.mul, NVDLA_MUL_MUL);
  EXPECT_EQ(layer.sdp.x2.mode, NVDLA_OPERAND_CHANNEL);
  EXPECT_EQ(layer.sdp.x2.operand_bytes, 2U);
  EXPECT_EQ(layer.sdp.x2.operand.offset, 512U);
  EXPECT_EQ(layer.sdp.x2.operand.line_stride, 0U);
  EXPECT_EQ(layer.sdp.x2.alu_shift, 3U);
  EXPECT_EQ(layer.sdp.x2.mul_shift, 5U);
  EXPECT_EQ(layer.sdp.out_cvt.scale, 1);
  // Input and output, each a slot.
  EXPECT_EQ(p.memories, (std::vector<std::uint16_t>{1, 2}));
  EXPECT_EQ(p.slots[0].access, std::uint32_t{NVDLA_SLOT_READ});
  EXPECT_EQ(p.slots[1].access, std::uint32_t{NVDLA_SLOT_WRITE});
}

// Shifts and converters are for integers. A file may hold numbers for them, and must have the
// converters of Y on where operands come from memory, which then are widened and no more.
TEST(Convert, ShiftsAndConvertersOfHalfPrecisionSayNothing) {
  Maker maker(32);
  const SdpSubOp op = {.enable = 1,
                       .alu_type = 2,
                       .type = 3,
                       .mode = 1,
                       .act = 0,
                       .shift_value = 3,
                       .truncate = 5,
                       .precision = 2,
                       .alu_operand = 0,
                       .mul_operand = 0,
                       .cvt = {.alu_cvt = {.scale = 7, .truncate = 2, .enable = 1, .offset = 3},
                               .mul_cvt = {.scale = 1, .truncate = 0, .enable = 1, .offset = 0}}};
  SdpPart& part = sdp(maker);
  part.op.src_precision = part.op.dst_precision = 2;
  // Half of the channels, as elements are twice as large.
  for (DataCube* cube : {&part.surface.src_data, &part.surface.dst_data}) cube->channel = 16;
  part.op.x1_op = part.op.x2_op = part.op.y_op = op;
  part.surface.x1_data = part.surface.x2_data = part.surface.y_data = part.surface.src_data;
  const ConvertedProgram p = convert(maker, "nv_full");
  ASSERT_EQ(p.layers.size(), 1U);
  const nvdla_sdp& found = p.layers[0].sdp;
  for (const nvdla_sdp_x* x : {&found.x1, &found.x2}) {
    EXPECT_EQ(x->alu, NVDLA_ALU_SUM);
    EXPECT_EQ(x->mul, NVDLA_MUL_MUL);
    EXPECT_EQ(x->operand_bytes, 2U);
    EXPECT_EQ(x->alu_shift, 0U);
    EXPECT_EQ(x->mul_shift, 0U);
  }
  EXPECT_EQ(found.y.flags, std::uint32_t{NVDLA_SDP_ENABLE});
  EXPECT_EQ(found.y.alu, NVDLA_ALU_SUM);
  EXPECT_EQ(found.y.mul, NVDLA_MUL_MUL);
  EXPECT_EQ(found.y.mul_truncate, 0U);
  for (const nvdla_convert& c : {found.y.alu_cvt, found.y.mul_cvt}) {
    EXPECT_EQ(c.offset, 0);
    EXPECT_EQ(c.scale, 0);
    EXPECT_EQ(c.truncate, 0U);
  }
  // Nothing of it is left that the compiler would refuse.
  EXPECT_NO_THROW(Loadable::load(maker.file()).open(Device::open("model:nv_full")));
}

TEST(Convert, SdpRefusals) {
  struct Fault {
    const char* text;
    void (*breaks)(SdpPart&);
    ErrorCode code = ErrorCode::kInvalidArgument;
  };
  const Fault faults[] = {
      {"src_precision 3 is not 0 (int8)", [](SdpPart& p) { p.op.src_precision = 3; }},
      {"needs int16, which nv_small does not have", [](SdpPart& p) { p.op.dst_precision = 1; },
       ErrorCode::kNotAvailable},
      {"needs the third SDP operator (Y), which nv_small does not have",
       [](SdpPart& p) { p.op.y_op.enable = 1; }, ErrorCode::kNotAvailable},
      {"x1.type 4 is not in 0..3", [](SdpPart& p) { p.op.x1_op.type = 4; }},
      {"x1.mode 3 is not in 0..2", [](SdpPart& p) { p.op.x1_op.mode = 3; }},
      {"x1: only the third operator (y) has a look-up table",
       [](SdpPart& p) { p.op.x1_op.act = 2; }},
      {"src_data: address 6 is not in 0..5", [](SdpPart& p) { p.surface.src_data.address = 6; }},
      {"src_data: address -1 is not in 0..5", [](SdpPart& p) { p.surface.src_data.address = -1; }},
      {"src_data: it says SRAM, but memory 1 is DRAM",
       [](SdpPart& p) { p.surface.src_data.type = kCubeSram; }},
      {"src_data: offset 4294967295 is beyond memory 1",
       [](SdpPart& p) { p.surface.src_data.offset = UINT32_MAX; }},
      {"batch_num 2 without a conv", [](SdpPart& p) { p.op.batch_num = 2; }},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.text);
    Maker maker;
    fault.breaks(sdp(maker));
    const auto error = expect_error(fault.code, fault.text, [&] { convert(maker, "nv_small"); });
    ASSERT_TRUE(error);
    EXPECT_NE(std::string(error->what()).find("task 0, operation 0 (sdp)"), std::string::npos)
        << error->what();
  }
}

TEST(Convert, DerivedNumbersAreCompared) {
  Maker maker;
  sdp(maker).surface.dst_data.channel = 24;
  expect_error(
      ErrorCode::kInvalidProgram,
      "operation 0 (sdp), dst_data.channel is 24, but 32 follows from the layer on nv_small",
      [&] { Loadable::load(maker.file()).open(Device::open("model:nv_small")); });
}

TEST(Convert, ErrorsOfTheCompilerNameTheOperation) {
  Maker maker;
  sdp(maker).surface.dst_data.line_stride = 72;  // surfaces now overlap
  sdp(maker).surface.dst_data.surf_stride = 8;
  const auto error = expect_error(ErrorCode::kInvalidProgram, "'sdp 0'", [&] {
    Loadable::load(maker.file()).open(Device::open("model:nv_small"));
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->layer(), 0);
}

TEST(Convert, ErrorsOfAMemoryNameNoOperation) {
  Maker maker;
  ConvertedProgram p = convert(maker, "nv_small");
  p.slots[0].alignment = 3;
  const auto error = expect_error(ErrorCode::kInvalidProgram, "alignment",
                                  [&] { check_program(p, *nvdla_hw_find("nv_small")); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->layer(), -1);
  EXPECT_EQ(std::string(error->what()).find("operation"), std::string::npos) << error->what();
}

TEST(Convert, AtomsFollowFromStrides) {
  for (const std::uint32_t atom : {8U, 32U}) {
    Maker maker(atom);
    const Container c = parse_container(maker.file());
    EXPECT_EQ(implied_atom(std::get<DlaTask>(decode_task(c, 0).work)), atom);
  }
}

TEST(Convert, RegionsOfInterestAreNotSupported) {
  Maker maker;
  maker.network.num_rois = 2;
  expect_error(ErrorCode::kNotAvailable, "2 regions of interest",
               [&] { Loadable::load(maker.file()); });
}

TEST(Convert, PoolingWithBandsAndReciprocals) {
  Maker maker(32);
  maker.operations[0] = make_operation(kPdp, 0);
  PdpPart part;
  part.surface.src_data = test::make_sdp_part(32).surface.src_data;
  part.surface.dst_data = test::make_sdp_part(32).surface.dst_data;
  part.op.split_num = 3;
  part.op.pool_mode = NVDLA_POOL_AVERAGE;
  part.op.pool_width = 2;
  part.op.pool_height = 4;
  part.op.pad_left = 1;
  part.op.padding_value = {7, 14, 21, 0, 0, 0, 0};
  part.op.partial_width_first = 4;
  part.op.partial_width_mid = 5;
  part.op.partial_in_width_first = 6;
  maker.operations[0].part = part;
  maker.network.op_head = {-1, -1, -1, 0, -1, -1};
  const ConvertedProgram p = convert(maker, "nv_full");
  const nvdla_pdp& pdp = p.layers[0].pdp;
  EXPECT_EQ(p.layers[0].kind, NVDLA_LAYER_PDP);
  EXPECT_EQ(pdp.kernel_width, 3U);
  EXPECT_EQ(pdp.recip_width, 0x5555U);
  EXPECT_EQ(pdp.recip_height, 0x3333U);
  EXPECT_EQ(pdp.pad_value[1], 14);
  EXPECT_EQ(pdp.bands, 3U);
  EXPECT_EQ(pdp.first_out, 4U);
  EXPECT_EQ(pdp.mid_out, 5U);
}

// Whatever a file has where a pooling of three bands and more would say how wide the inner ones
// are.
TEST(Convert, PoolingInTwoBandsHasNoneBetween) {
  Maker maker(32);
  maker.operations[0] = make_operation(kPdp, 0);
  PdpPart part;
  part.surface.src_data = test::make_sdp_part(32).surface.src_data;
  part.surface.dst_data = test::make_sdp_part(32).surface.dst_data;
  part.op.split_num = 2;
  part.op.partial_width_first = 4;
  part.op.partial_width_mid = 5;
  part.op.partial_in_width_mid = 6;
  maker.operations[0].part = part;
  maker.network.op_head = {-1, -1, -1, 0, -1, -1};
  const ConvertedProgram p = convert(maker, "nv_full");
  EXPECT_EQ(p.layers[0].pdp.bands, 2U);
  EXPECT_EQ(p.layers[0].pdp.first_out, 4U);
  EXPECT_EQ(p.layers[0].pdp.mid_out, 0U);
  for (const Derived& derived : p.derived)
    EXPECT_EQ(derived.field.find("partial_in_width_mid"), std::string::npos) << derived.field;
}

// What more than its columns of int8 would add is not what any input stands for.
TEST(Convert, PaddingBeyondInt8IsRefusedByName) {
  for (const std::int32_t beyond : {0, 1}) {
    Maker maker(32);
    maker.operations[0] = make_operation(kPdp, 0);
    PdpPart part;
    part.surface.src_data = test::make_sdp_part(32).surface.src_data;
    part.surface.dst_data = test::make_sdp_part(32).surface.dst_data;
    part.op.split_num = 1;
    part.op.stride_x = part.op.stride_y = 1;
    part.op.pool_mode = NVDLA_POOL_AVERAGE;
    part.op.pool_width = 2;
    part.op.pad_left = part.op.pad_right = 1;
    part.op.padding_value = {127, 254 + beyond, 0, 0, 0, 0, 0};
    maker.operations[0].part = part;
    maker.network.op_head = {-1, -1, -1, 0, -1, -1};
    const auto open = [&] { Loadable::load(maker.file()).open(Device::open("model:nv_full")); };
    if (beyond == 0) {
      EXPECT_NO_THROW(open());
    } else {
      expect_error(ErrorCode::kInvalidProgram,
                   "'pdp 0' (pdp): pad_value[1] 255 is not in -256..254; nearest valid: 254", open);
    }
  }
}

// As the hardware's documents list them.
TEST(Convert, ReciprocalsOfEveryKernelSize) {
  const std::uint32_t integers[] = {0x10000, 0x8000, 0x5555, 0x4000,
                                    0x3333,  0x2aaa, 0x2492, 0x2000};
  const std::uint32_t reals[] = {0x7c00, 0x7800, 0x7555, 0x7400, 0x7266, 0x7155, 0x7092, 0x7000};
  for (std::uint32_t size = 1; size <= 8; ++size) {
    EXPECT_EQ(detail::pool_reciprocal(size, false), integers[size - 1]) << size;
    EXPECT_EQ(detail::pool_reciprocal(size, true), reals[size - 1]) << size;
  }
}

TEST(Convert, TablesOfBothUnits) {
  Maker maker(32);
  maker.operations[0] = make_operation(kCdp, 0);
  CdpPart part;
  part.surface.src_data = test::make_sdp_part(32).surface.src_data;
  part.surface.dst_data = test::make_sdp_part(32).surface.dst_data;
  part.op.lut_index = 0;
  part.op.local_size = 5;
  part.op.in_cvt = {.scale = 3, .truncate = 1, .enable = 1, .offset = -4};
  maker.operations[0].part = part;
  maker.network.op_head = {-1, -1, -1, -1, 0, -1};
  LutParam lut;
  lut.method = 1;
  lut.linear_exp_offset = 0x00fe;  // -2
  lut.linear_only_offset = 3;
  lut.linear_only_start = 0x3fffffffffULL;  // -1 in 38 bits
  lut.linear_only_end = 255;
  lut.hybrid_priority = 1;
  lut.linear_exp_overflow_slope = {.scale = -5, .shifter = -3, .reserved0 = 0};
  lut.linear_exp_table[64] = -1;
  maker.luts.push_back(lut);
  const ConvertedProgram p = convert(maker, "nv_full");
  EXPECT_EQ(p.layers[0].kind, NVDLA_LAYER_CDP);
  EXPECT_EQ(p.layers[0].lut, 1U);
  EXPECT_EQ(p.layers[0].cdp.window, 5U);
  EXPECT_EQ(p.layers[0].cdp.in_cvt.offset, -4);
  EXPECT_EQ(p.layers[0].cdp.out_cvt.scale, 1);
  ASSERT_EQ(p.luts.size(), 1U);
  EXPECT_EQ(p.luts[0].unit, std::uint32_t{NVDLA_LUT_CDP});
  EXPECT_EQ(p.luts[0].flags, NVDLA_LUT_LE_LINEAR | NVDLA_LUT_HYBRID_LO);
  EXPECT_EQ(p.luts[0].le_index_select, -2);
  EXPECT_EQ(p.luts[0].lo_start, -1);
  EXPECT_EQ(p.luts[0].le_overflow.scale, -5);
  EXPECT_EQ(p.luts[0].le_overflow.shift, -3);
  EXPECT_EQ(p.luts[0].le[64], 0xffff);
}

TEST(Convert, TablesMustBeThere) {
  Maker maker(32);
  sdp(maker).op.y_op = {};
  sdp(maker).op.y_op.enable = 1;
  sdp(maker).op.y_op.act = 2;
  sdp(maker).op.lut_index = 0;
  expect_error(ErrorCode::kInvalidArgument, "lut_index 0: the task has 0 tables",
               [&] { convert(maker, "nv_full"); });
}

}  // namespace
}  // namespace nvdla
