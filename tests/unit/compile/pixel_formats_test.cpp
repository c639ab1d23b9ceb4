// SPDX-License-Identifier: MIT
//
// All pixel formats: where each is built, what it is made of, how far its first pixel may lie in
// an atom, and what it may become.
#include <gtest/gtest.h>

#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

// As the facts about formats have it.
struct Format {
  std::uint32_t code, components, precision, bytes, bytes_uv;
  bool second_generation;
};

constexpr Format kFormats[] = {
    {0, 1, kInt8, 1, 0, true},    {1, 1, kInt16, 2, 0, false},  {2, 1, kInt16, 2, 0, false},
    {3, 1, kInt16, 2, 0, false},  {4, 1, kInt16, 2, 0, false},  {5, 1, kHalf, 2, 0, false},
    {6, 4, kInt16, 8, 0, false},  {7, 4, kInt16, 8, 0, false},  {8, 4, kHalf, 8, 0, false},
    {9, 4, kInt16, 8, 0, false},  {10, 4, kInt16, 8, 0, false}, {11, 4, kHalf, 8, 0, false},
    {12, 4, kInt8, 4, 0, true},   {13, 4, kInt8, 4, 0, true},   {14, 4, kInt8, 4, 0, true},
    {15, 4, kInt8, 4, 0, true},   {16, 4, kInt8, 4, 0, true},   {17, 4, kInt8, 4, 0, true},
    {18, 4, kInt8, 4, 0, true},   {19, 4, kInt8, 4, 0, true},   {20, 4, kInt16, 4, 0, false},
    {21, 4, kInt16, 4, 0, false}, {22, 4, kInt16, 4, 0, false}, {23, 4, kInt16, 4, 0, false},
    {24, 4, kInt16, 4, 0, false}, {25, 4, kInt16, 4, 0, false}, {26, 4, kInt8, 4, 0, true},
    {27, 4, kInt8, 4, 0, true},   {28, 3, kInt8, 1, 2, true},   {29, 3, kInt8, 1, 2, true},
    {30, 3, kInt16, 2, 4, false}, {31, 3, kInt16, 2, 4, false}, {32, 3, kInt16, 2, 4, false},
    {33, 3, kInt16, 2, 4, false}, {34, 3, kInt16, 2, 4, false}, {35, 3, kInt16, 2, 4, false},
};

TEST(PixelFormats, AreWhatTheFactsSay) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(format.code);
    const nvdla_pixel* pixel = nvdla_pixel_find(format.code);
    ASSERT_NE(pixel, nullptr);
    EXPECT_EQ(pixel->components, format.components);
    EXPECT_EQ(pixel->precision, format.precision);
    EXPECT_EQ(pixel->bytes[0], format.bytes);
    EXPECT_EQ(pixel->bytes[1], format.bytes_uv);
  }
  EXPECT_EQ(nvdla_pixel_find(36), nullptr);
}

// 20 x 8 pixels from the @x_offset-th of an atom on, computed in @proc.
Base base_format(const char* configuration, const Format& format, std::uint32_t proc,
                 std::uint32_t x_offset) {
  Base base = base_image(configuration);
  const std::uint32_t atom = base.hw->atom;
  nvdla_conv& conv = base.layer.conv;
  nvdla_sdp& sdp = base.layer.sdp;
  conv.pixel_format = format.code;
  conv.channels = format.components;
  conv.in_precision = format.precision;
  conv.proc_precision = proc;
  conv.pixel_offset = x_offset;
  conv.flags = format.precision == kHalf ? 0 : NVDLA_CONV_CONVERT;
  for (std::int32_t& mean : conv.mean) mean = 0;
  conv.cvt_truncate = 0;
  conv.cvt_scale = format.precision == kHalf ? 0 : 1;
  conv.data_banks = 8;
  conv.input.line_stride = div_up((x_offset + 20) * format.bytes, atom) * atom;
  base.slots[0].size = 8 * conv.input.line_stride;
  base.slots[1].size *= 2;
  base.slots[2].size *= 2;
  if (format.bytes_uv != 0) {
    const std::uint32_t skip = x_offset % (atom / format.bytes_uv);
    conv.input_uv.slot = 3;
    conv.input_uv.line_stride = div_up((skip + 20) * format.bytes_uv, atom) * atom;
    base.slots.push_back(slot(8 * conv.input_uv.line_stride, NVDLA_SLOT_READ, 64));
  }
  sdp.proc_precision = sdp.out_precision = proc;
  sdp.out_cvt.scale = proc == kHalf ? 0 : 1;
  return base;
}

class PixelFormats : public testing::TestWithParam<Format> {
 protected:
  const Format& format_ = GetParam();
  const std::uint32_t own_ = format_.precision;
};

TEST_P(PixelFormats, AreBuiltWhereTheyAreSaidToBe) {
  for (const char* name : {"nv_large", "nv_medium_512", "nv_small"}) {
    Base base = base_format(name, format_, kInt8, 0);
    // There is no other precision, so only the format can be wrong.
    base.layer.conv.in_precision = kInt8;
    base.layer.conv.flags = NVDLA_CONV_CONVERT;
    const nvdla_error error = compile(base);
    if (format_.second_generation) {
      EXPECT_EQ(error.rule, NVDLA_RULE_NONE) << name << ": " << to_string(error);
      continue;
    }
    EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE) << name << ": " << to_string(error);
    EXPECT_EQ(error.field, F(conv.pixel_format));
    EXPECT_EQ(error.value, NVDLA_FEATURE_PIXEL_FORMAT);
  }
}

// Integers become anything, fp16 stays what it is; memory holds what the format says.
TEST_P(PixelFormats, BecomeWhatTheConverterMakes) {
  for (std::uint32_t in = 0; in < 3; ++in)
    for (std::uint32_t proc = 0; proc < 3; ++proc) {
      Base base = base_format("nv_full", format_, proc, 0);
      base.layer.conv.in_precision = in;
      const nvdla_error error = compile(base);
      if (in == own_ && (own_ != kHalf || proc == kHalf)) {
        EXPECT_EQ(error.rule, NVDLA_RULE_NONE) << in << proc << ": " << to_string(error);
        continue;
      }
      EXPECT_EQ(error.rule, NVDLA_RULE_PRECISIONS) << in << proc << ": " << to_string(error);
      EXPECT_EQ(error.field, F(conv.in_precision));
      EXPECT_EQ(error.value, in);
      EXPECT_EQ(error.min, proc);
      EXPECT_EQ(error.max, proc);
    }
}

// What is not signed, or not of the size that is computed in, takes the converter.
TEST_P(PixelFormats, UnsignedOnesPassTheConverter) {
  for (const std::uint32_t proc : {kInt8, kInt16, kHalf}) {
    if (own_ == kHalf && proc != kHalf) continue;
    Base base = base_format("nv_full", format_, proc, 0);
    base.layer.conv.flags = 0;
    base.layer.conv.cvt_scale = 0;
    const nvdla_error error = compile(base);
    if (own_ == kHalf || (format_.code == NVDLA_PIXEL_R16_I && proc == kInt16)) {
      EXPECT_EQ(error.rule, NVDLA_RULE_NONE) << proc << ": " << to_string(error);
      continue;
    }
    EXPECT_EQ(error.rule, NVDLA_RULE_CHOICE) << proc << ": " << to_string(error);
    EXPECT_EQ(error.field, F(conv.flags));
    EXPECT_EQ(error.max, NVDLA_CONV_CONVERT);
  }
}

TEST_P(PixelFormats, BeginInTheirFirstAtom) {
  for (const char* name : {"nv_full", "nv_medium_512", "nv_small"}) {
    if (!format_.second_generation && std::string(name) != "nv_full") continue;
    const std::uint32_t last = nvdla_hw_find(name)->atom / format_.bytes - 1;
    EXPECT_EQ(compile(base_format(name, format_, own_, last)).rule, NVDLA_RULE_NONE) << name;
    const nvdla_error error = compile(base_format(name, format_, own_, last + 1));
    EXPECT_EQ(error.rule, NVDLA_RULE_RANGE) << name << ": " << to_string(error);
    EXPECT_EQ(error.field, F(conv.pixel_offset));
    EXPECT_EQ(error.value, last + 1);
    EXPECT_EQ(error.max, last);
  }
}

TEST_P(PixelFormats, HaveTheirComponents) {
  for (const std::uint32_t channels : {format_.components - 1, format_.components + 1}) {
    if (channels == 0) continue;
    Base base = base_format("nv_full", format_, own_, 0);
    base.layer.conv.channels = channels;
    const nvdla_error error = compile(base);
    EXPECT_EQ(error.rule, NVDLA_RULE_RANGE) << to_string(error);
    EXPECT_EQ(error.field, F(conv.channels));
    EXPECT_EQ(error.value, channels);
    EXPECT_EQ(error.min, format_.components);
    EXPECT_EQ(error.max, format_.components);
  }
}

TEST_P(PixelFormats, HaveTheirPlanes) {
  Base base = base_format("nv_full", format_, own_, 0);
  if (format_.bytes_uv == 0) {
    base.layer.conv.input_uv.line_stride = 64;
    const nvdla_error error = compile(base);
    EXPECT_EQ(error.rule, NVDLA_RULE_ZERO) << to_string(error);
    EXPECT_EQ(error.field, F(conv.input_uv.line_stride));
    return;
  }
  base.layer.conv.input_uv.line_stride -= 32;
  const nvdla_error error = compile(base);
  EXPECT_EQ(error.rule, NVDLA_RULE_STRIDE) << to_string(error);
  EXPECT_EQ(error.field, F(conv.input_uv.line_stride));
  EXPECT_EQ(error.dma, NVDLA_DMA_CDMA_DATA_UV);
}

INSTANTIATE_TEST_SUITE_P(All, PixelFormats, testing::ValuesIn(kFormats),
                         [](const auto& format) { return std::to_string(format.param.code); });

}  // namespace
}  // namespace nvdla::test
