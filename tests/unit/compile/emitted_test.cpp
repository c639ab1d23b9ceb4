// SPDX-License-Identifier: MIT
//
// Whole register images of SDP: each field that is not 0, by name. What a layer does not use is 0,
// or bypassed where the unit has a switch for it.
#include "emitted.hpp"

namespace nvdla::test {
namespace {

TEST(Emitted, SdpWithNothing) { expect_emitted(plain_sdp(), "sdp_with_nothing"); }

TEST(Emitted, SdpWithEverything) { expect_emitted(base_y("nv_full"), "sdp_with_everything"); }

TEST(Emitted, SdpThatCompares) { expect_emitted(base_equal("nv_full"), "sdp_that_compares"); }

TEST(Emitted, SdpBeforePdp) { expect_emitted(base_sdp_pdp("nv_full"), "sdp_before_pdp"); }

// Operands of fp16 pass the converter, which widens them; nobody says so in the flags.
TEST(Emitted, SdpWithOperandsOfHalf) {
  Base base = plain_sdp();
  nvdla_sdp& sdp = base.layer.sdp;
  sdp.in_precision = sdp.proc_precision = sdp.out_precision = kHalf;
  sdp.flags = NVDLA_SDP_NAN_TO_ZERO;
  sdp.out_cvt = {};
  sdp.y.flags = NVDLA_SDP_ENABLE;
  sdp.y.alu = NVDLA_ALU_MIN;
  sdp.y.mul = NVDLA_MUL_PRELU;
  sdp.y.mode = NVDLA_OPERAND_CHANNEL;
  sdp.y.operand_bytes = 2;
  sdp.y.operand.slot = kX2;
  for (nvdla_slot& slot : base.slots) slot.size *= 2;
  expect_emitted(base, "sdp_with_operands_of_half");
}

TEST(Emitted, SdpWithValues) {
  Base base = plain_sdp();
  nvdla_sdp& sdp = base.layer.sdp;
  sdp.x1 = {.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_RELU,
            .alu = NVDLA_ALU_MIN,
            .mul = NVDLA_MUL_PRELU,
            .alu_value = -2,
            .mul_value = 3,
            .alu_shift = 63,
            .mul_shift = 9};
  sdp.x2 = {.flags = NVDLA_SDP_ENABLE, .alu = NVDLA_ALU_MAX, .alu_value = 32767};
  base.layer.lut = 1;
  base.luts.push_back(table(NVDLA_LUT_SDP));
  sdp.y = {.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT,
           .alu = NVDLA_ALU_MAX,
           .mul = NVDLA_MUL_MUL,
           .alu_value = -7,
           .mul_value = 0x12345678,
           .mul_truncate = 1023};
  expect_emitted(base, "sdp_with_values");
}

}  // namespace
}  // namespace nvdla::test
