// SPDX-License-Identifier: MIT
//
// Rules of convolutions of pixels: one fault per test, and the neighbour that is still legal.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

class ImageFaults : public testing::TestWithParam<Fault> {};
TEST_P(ImageFaults, IsNamedExactly) { expect_fault(GetParam()); }
class ImageBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(ImageBoundaries, IsAccepted) { expect_legal(GetParam()); }

const Fault kConvImageFaults[] = {
    IMAGE("format", c.pixel_format = 36, NVDLA_RULE_CHOICE, F(conv.pixel_format), 36, 0, 35),
    IMAGE("wide format", c.pixel_format = NVDLA_PIXEL_R16, NVDLA_RULE_FEATURE, F(conv.pixel_format),
          NVDLA_FEATURE_PIXEL_FORMAT),
    IMAGE("packed format", c.pixel_format = NVDLA_PIXEL_A2B10G10R10, NVDLA_RULE_FEATURE,
          F(conv.pixel_format), NVDLA_FEATURE_PIXEL_FORMAT),
    IMAGE_FULL("precision of another format", c.pixel_format = NVDLA_PIXEL_A16B16G16R16,
               NVDLA_RULE_PRECISIONS, F(conv.in_precision), 0, 0, 0),
    IMAGE_FULL(
        "fp16 pixels into int16",
        (c.pixel_format = NVDLA_PIXEL_A16B16G16R16_F, c.in_precision = 2, c.proc_precision = 1),
        NVDLA_RULE_PRECISIONS, F(conv.in_precision), 2, 1, 1),
    IMAGE_FULL("converter of fp16",
               (c.pixel_format = NVDLA_PIXEL_A16B16G16R16_F, c.in_precision = c.proc_precision = 2),
               NVDLA_RULE_FLAGS, F(conv.flags), 0x60, 0, 0x11f),
    IMAGE("pad left of a kernel", c.pad_left = 3, NVDLA_RULE_PADDING, F(conv.pad_left), 3, 0, 2),
    IMAGE("pad right of a kernel", c.pad_right = 3, NVDLA_RULE_PADDING, F(conv.pad_right), 3, 0, 2),
    IMAGE("pad top of a kernel", c.pad_top = 3, NVDLA_RULE_PADDING, F(conv.pad_top), 3, 0, 2),
    IMAGE("pad bottom of a kernel", c.pad_bottom = 3, NVDLA_RULE_PADDING, F(conv.pad_bottom), 3, 0,
          2),
    IMAGE("channels", c.channels = 3, NVDLA_RULE_RANGE, F(conv.channels), 3, 4, 4),
    IMAGE("x offset", c.pixel_offset = 2, NVDLA_RULE_RANGE, F(conv.pixel_offset), 2, 0, 1),
    IMAGE("batch", c.batch = 2, NVDLA_RULE_RANGE, F(conv.batch), 2, 1, 1),
    IMAGE("dilation width", c.dilation_width = 2, NVDLA_RULE_RANGE, F(conv.dilation_width), 2, 1,
          1),
    IMAGE("dilation height", c.dilation_height = 2, NVDLA_RULE_RANGE, F(conv.dilation_height), 2, 1,
          1),
    IMAGE("no converter", (c.flags = 0), NVDLA_RULE_CHOICE, F(conv.flags), 0, 32, 32),
    IMAGE("mean without converter", (c.flags = NVDLA_CONV_MEAN), NVDLA_RULE_FLAGS, F(conv.flags),
          64, 0, 0x3f),
    IMAGE("sign without converter", (c.flags = NVDLA_CONV_SIGNED_PIXELS), NVDLA_RULE_FLAGS,
          F(conv.flags), 128, 0, 0x3f),
    IMAGE("mean and offset", c.cvt_offset = 1, NVDLA_RULE_RANGE, F(conv.cvt_offset), 1, 0, 0),
    IMAGE("mean", c.mean[2] = 32768, NVDLA_RULE_RANGE, F(conv.mean[2]), 32768, -32768, 32767),
    IMAGE("mean that is off", c.flags = NVDLA_CONV_CONVERT, NVDLA_RULE_RANGE, F(conv.mean[0]), 100,
          0, 0),
    IMAGE("grain", c.fetch_grain = 2, NVDLA_RULE_GRAIN, F(conv.fetch_grain), 2, 1, 1),
    /* 12 channels of a line of the kernel; 8 lanes here, 64 there */
    IMAGE("post extension", c.post_extension = 2, NVDLA_RULE_RANGE, F(conv.post_extension), 2, 1,
          1),
    IMAGE_FULL("post extension 3", c.post_extension = 3, NVDLA_RULE_CHOICE, F(conv.post_extension),
               3, 1, 4),
    IMAGE_FULL("post extension 8", c.post_extension = 8, NVDLA_RULE_RANGE, F(conv.post_extension),
               8, 1, 4),
    /* 3 channels a line: 21 of them in 64 lanes, and never more than 4 */
    IMAGE_FULL("post extension of narrow pixels",
               (c.pixel_format = NVDLA_PIXEL_R8, c.channels = 1, c.post_extension = 8,
                std::fill(c.mean + 1, c.mean + 4, 0)),
               NVDLA_RULE_RANGE, F(conv.post_extension), 8, 1, 4),
    IMAGE("surface stride", c.input.surface_stride = 8, NVDLA_RULE_ZERO,
          F(conv.input.surface_stride), 8),
    IMAGE("line stride", c.input.line_stride = 80, NVDLA_RULE_STRIDE, F(conv.input.line_stride), 80,
          88, 0, 0, NVDLA_DMA_CDMA_DATA, 0),
    IMAGE("second plane", c.input_uv.slot = 1, NVDLA_RULE_ZERO, F(conv.input_uv.slot), 1),
    PLANES("mean of no component", c.mean[3] = 1, NVDLA_RULE_RANGE, F(conv.mean[3]), 1, 0, 0),
    PLANES("line stride of the second plane", c.input_uv.line_stride = 32, NVDLA_RULE_STRIDE,
           F(conv.input_uv.line_stride), 32, 64, 0, 0, NVDLA_DMA_CDMA_DATA_UV, 3),
    PLANES("surface stride of the second plane", c.input_uv.surface_stride = 32, NVDLA_RULE_ZERO,
           F(conv.input_uv.surface_stride), 32),
    PLANES("planes in two memories", slots[3].memory = NVDLA_MEMORY_SRAM, NVDLA_RULE_SAME_MEMORY,
           F(conv.input_uv.slot), 1, 0, 0, 0, NVDLA_DMA_CDMA_DATA_UV, 3),
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
    PLANES("x offset in two planes", c.pixel_offset = 32, NVDLA_RULE_RANGE, F(conv.pixel_offset),
           32, 0, 31),
    PLANES("second plane's offset", c.input_uv.offset = 16, NVDLA_RULE_MULTIPLE, F(conv.input_uv),
           16, 0, 0, 32, NVDLA_DMA_CDMA_DATA_UV, 3),
    PLANES("second plane's line stride of half an atom", c.input_uv.line_stride = 80,
           NVDLA_RULE_MULTIPLE, F(conv.input_uv.line_stride), 80, 0, 0, 32),
    PLANES("second plane's batch stride", c.input_uv.batch_stride = 32, NVDLA_RULE_ZERO,
           F(conv.input_uv.batch_stride), 32),
    PLANES("second plane's slot", c.input_uv.slot = 4, NVDLA_RULE_SLOT_INDEX, F(conv.input_uv.slot),
           4, 0, 3, 0, NVDLA_DMA_CDMA_DATA_UV, 4),
};

const Legal kConvImageLegal[] = {
    /* Golden cases do it, whatever the document says: conv_img/A8B8G8R8_to_fp16. */
    {"an offset of integers that become fp16", base_image, "nv_full",
     CHANGE((c.proc_precision = NVDLA_PRECISION_FP16, c.flags = NVDLA_CONV_CONVERT,
             std::fill(c.mean, c.mean + 4, 0), c.cvt_offset = -100,
             s.proc_precision = s.out_precision = NVDLA_PRECISION_FP16, s.out_cvt = {},
             slots[1].size *= 2))},
    {"four lines a step", base_image, "nv_full", CHANGE(c.post_extension = 4)},
    /* 8 x 4 channels: twice in 64 lanes */
    {"two lines a step that just fit", base_image, "nv_full",
     CHANGE((c.kernel_width = 8, c.post_extension = 2, slots[1].size = 1536))},
    {"pixels left over", base_image, "nv_small",
     CHANGE((c.pad_bottom = 0, c.stride_width = c.stride_height = 2))},
    {"signed pixels", base_image, "nv_small", CHANGE(c.flags = c.flags | NVDLA_CONV_SIGNED_PIXELS)},
    {"x offset of the last pixel of an atom", base_planes, "nv_full",
     CHANGE((c.pixel_offset = 31, c.input.line_stride = 64, slots[0].size = 8 * 64,
             c.input_uv.line_stride = 96, slots[3].size = 8 * 96))},
};

INSTANTIATE_TEST_SUITE_P(All, ImageFaults, testing::ValuesIn(kConvImageFaults), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, ImageBoundaries, testing::ValuesIn(kConvImageLegal), row_name<Legal>);

}  // namespace
}  // namespace nvdla::test
