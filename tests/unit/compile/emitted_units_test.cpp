// SPDX-License-Identifier: MIT
//
// Whole register images of the units behind and beside SDP: each field that is not 0, by name. What
// a layer does not use is 0, or bypassed where the unit has a switch for it.
#include "emitted.hpp"

namespace nvdla::test {
namespace {

TEST(Emitted, Cdp) { expect_emitted(base_cdp("nv_full"), "cdp"); }

TEST(Emitted, Pdp) { expect_emitted(base_pdp("nv_full"), "pdp"); }

// 60, 70 and 50 columns of output, of 121, 140 and 99 of input.
TEST(Emitted, PdpInBands) { expect_emitted(base_bands("nv_full"), "pdp_in_bands"); }

// Without inner bands there is nothing to say of them.
TEST(Emitted, PdpInTwoBands) {
  Base base = base_bands("nv_full");
  base.layer.pdp.bands = 2;
  base.layer.pdp.mid_out = 0;
  base.layer.pdp.first_out = 100;
  expect_emitted(base, "pdp_in_two_bands");
}

TEST(Emitted, CdpOfHalf) {
  Base base = base_cdp_half("nv_full");
  base.layer.cdp.flags = NVDLA_CDP_BYPASS_SQUARE_SUM | NVDLA_CDP_BYPASS_MUL | NVDLA_CDP_NAN_TO_ZERO;
  base.layer.cdp.window = 0;
  expect_emitted(base, "cdp_of_half");
}

TEST(Emitted, RubikContract) { expect_emitted(base_contract("nv_full"), "rubik_contract"); }

TEST(Emitted, RubikSplit) { expect_emitted(base_split("nv_full"), "rubik_split"); }

TEST(Emitted, RubikMerge) { expect_emitted(base_merge("nv_full"), "rubik_merge"); }

}  // namespace
}  // namespace nvdla::test
