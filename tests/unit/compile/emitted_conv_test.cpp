// SPDX-License-Identifier: MIT
//
// Whole register images of convolutions: each field that is not 0, by name. What a layer does not
// use is 0, or bypassed where the unit has a switch for it.
#include "emitted.hpp"

namespace nvdla::test {
namespace {

// What becomes of the sums goes straight on to SDP, whose own input is nowhere.
TEST(Emitted, Conv) { expect_emitted(base_conv("nv_full"), "conv"); }

// One position is one run of atoms; the accumulator is told an atom, whatever the cube says.
TEST(Emitted, ConvOfOnePosition) {
  Base base = base_conv("nv_full");
  nvdla_conv& conv = base.layer.conv;
  conv.width = conv.height = 3;
  conv.stride_width = 1;
  conv.pad_left = conv.pad_right = conv.pad_top = conv.pad_bottom = 0;
  conv.input = cube(kInput, 3, 3, 32);
  base.layer.sdp.x1 = base.layer.sdp.x2 = {};
  expect_emitted(base, "conv_of_one_position");
}

// Results that SDP hands on, or only compares, go to no address.
TEST(Emitted, ConvThatWritesNothing) {
  EXPECT_EQ(emitted(base_conv_pdp("nv_full")).find("CACC.D_DATAOUT_ADDR"), std::string::npos);
  Base base = base_conv("nv_full");
  nvdla_sdp& sdp = base.layer.sdp;
  sdp.x2 = {};
  sdp.y.flags = NVDLA_SDP_ENABLE;
  sdp.y.alu = NVDLA_ALU_EQUAL;
  sdp.y.mode = NVDLA_OPERAND_ELEMENT;
  sdp.y.operand_bytes = 1;
  sdp.y.operand = cube(kX2, 10, 8, 32);
  sdp.out_cvt = {.offset = 0, .scale = 1, .truncate = 0, .pad = 0};
  sdp.output = {};
  const std::string image = emitted(base);
  EXPECT_NE(image.find("CACC.D_DATAOUT_SIZE_0"), std::string::npos) << image;
  EXPECT_EQ(image.find("CACC.D_DATAOUT_ADDR"), std::string::npos);
}

TEST(Emitted, ConvOfOneColumn) {
  Base base = base_conv("nv_full");
  base.layer.conv.width = 3;
  base.layer.conv.stride_width = 1;
  base.layer.conv.pad_left = base.layer.conv.pad_right = 0;
  base.layer.sdp.x2 = {};
  const std::string image = emitted(base);
  EXPECT_NE(image.find("CACC.D_LINE_STRIDE.LINE_STRIDE 140"), std::string::npos) << image;
  EXPECT_EQ(image.find("CACC.D_DATAOUT_MAP"), std::string::npos);
}

// Lines of pixels come one by one, even if they lie as lines of atoms would.
TEST(Emitted, ImageIsNeverPacked) {
  Base base = base_image("nv_full");
  base.layer.conv.input.line_stride = 20 * 32;
  base.slots[0].size = 8 * 20 * 32;
  const std::string image = emitted(base);
  EXPECT_NE(image.find("CDMA.D_LINE_STRIDE.LINE_STRIDE 280"), std::string::npos) << image;
  EXPECT_EQ(image.find("CDMA.D_DAIN_MAP"), std::string::npos);
}

TEST(Emitted, Image) { expect_emitted(base_image("nv_full"), "image"); }

TEST(Emitted, ImageInTwoPlanes) { expect_emitted(base_planes("nv_full"), "image_in_two_planes"); }

TEST(Emitted, Winograd) { expect_emitted(base_winograd("nv_full"), "winograd"); }

}  // namespace
}  // namespace nvdla::test
