// SPDX-License-Identifier: MIT
//
// Rules of reshaping: one fault per test, and the neighbour that is still legal.
#include <gtest/gtest.h>

#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

class RubikFaults : public testing::TestWithParam<Fault> {};
TEST_P(RubikFaults, IsNamedExactly) { expect_fault(GetParam()); }
class RubikBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(RubikBoundaries, IsAccepted) { expect_legal(GetParam()); }

const Fault kRubikFaults[] = {
    CONTRACT("mode 3", r.mode = 3, NVDLA_RULE_CHOICE, F(rubik.mode), 3, 0, 2),
    CONTRACT("precision 3", r.precision = 3, NVDLA_RULE_CHOICE, F(rubik.precision), 3, 0, 2),
    CONTRACT("width 0", r.width = 0, NVDLA_RULE_RANGE, F(rubik.width), 0, 1, 8192),
    CONTRACT("width 8193", r.width = 8193, NVDLA_RULE_RANGE, F(rubik.width), 8193, 1, 8192),
    CONTRACT("height 0", r.height = 0, NVDLA_RULE_RANGE, F(rubik.height), 0, 1, 8192),
    CONTRACT("channels 0", r.channels = 0, NVDLA_RULE_RANGE, F(rubik.channels), 0, 1, 8192),
    CONTRACT("channels 8193", r.channels = 8193, NVDLA_RULE_RANGE, F(rubik.channels), 8193, 1,
             8192),
    CONTRACT("pad", r.pad = 1, NVDLA_RULE_ZERO, F(rubik.pad), 1),
    CONTRACT("stride width 0", r.stride_width = 0, NVDLA_RULE_RANGE, F(rubik.stride_width), 0, 1,
             32),
    CONTRACT("stride width 33", r.stride_width = 33, NVDLA_RULE_RANGE, F(rubik.stride_width), 33, 1,
             32),
    CONTRACT("stride height 33", r.stride_height = 33, NVDLA_RULE_RANGE, F(rubik.stride_height), 33,
             1, 32),
    CONTRACT("channels of no block", r.channels = 383, NVDLA_RULE_MULTIPLE, F(rubik.channels), 383,
             0, 0, 192),
    CONTRACT("channels of half an atom", r.channels = 96, NVDLA_RULE_MULTIPLE, F(rubik.channels),
             96, 0, 0, 192),
    CONTRACT("wide output", r.width = 2731, NVDLA_RULE_OUTPUT_SIZE, F(rubik.width), 8193, 1, 8192),
    CONTRACT("high output", r.height = 4097, NVDLA_RULE_OUTPUT_SIZE, F(rubik.height), 8194, 1,
             8192),
    CONTRACT("stride that does not fit when multiplied", r.input.surface_stride = 0x80000000,
             NVDLA_RULE_RANGE, F(rubik.input.surface_stride), 0x80000000, 0, 0x7fffffff),
    CONTRACT("lines that do not fit when multiplied", r.output.line_stride = 0x80000000,
             NVDLA_RULE_RANGE, F(rubik.output.line_stride), 0x80000000, 0, 0x7fffffff),
    CONTRACT("output line stride", r.output.line_stride = 448, NVDLA_RULE_STRIDE,
             F(rubik.output.line_stride), 448, 480, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    SPLIT("stride width", r.stride_width = 1, NVDLA_RULE_ZERO, F(rubik.stride_width), 1),
    SPLIT("stride height", r.stride_height = 1, NVDLA_RULE_ZERO, F(rubik.stride_height), 1),
    SPLIT("plane line stride of half a beat", r.output.line_stride = 96, NVDLA_RULE_MULTIPLE,
          F(rubik.output.line_stride), 96, 0, 0, 64),
    SPLIT("plane stride of half a beat", r.output.surface_stride = 224, NVDLA_RULE_MULTIPLE,
          F(rubik.output.surface_stride), 224, 0, 0, 64),
    SPLIT("plane stride", r.output.surface_stride = 128, NVDLA_RULE_STRIDE,
          F(rubik.output.surface_stride), 128, 192, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    SPLIT("plane offset", (r.output.offset = 32, slots[1].size += 32), NVDLA_RULE_MULTIPLE,
          F(rubik.output), 32, 0, 0, 64),
    SPLIT("alignment of the planes", slots[1].alignment = 32, NVDLA_RULE_SLOT_ALIGNMENT,
          F(rubik.output.slot), 32, 64, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    MERGE("alignment of the planes to merge", slots[0].alignment = 32, NVDLA_RULE_SLOT_ALIGNMENT,
          F(rubik.input.slot), 32, 64, 0, 0, NVDLA_DMA_RUBIK_READ, 0),
    MERGE("no plane stride", r.input.surface_stride = 0, NVDLA_RULE_STRIDE,
          F(rubik.input.surface_stride), 0, 192, 0, 0, NVDLA_DMA_RUBIK_READ, 0),
    MERGE("in place", (slots[0] = slot(1 << 16, 3, 64), r.output.slot = 0), NVDLA_RULE_OVERLAP,
          F(rubik.output), 0, 0, 3839, 0, NVDLA_DMA_RUBIK_WRITE, 0),
    CONTRACT("stride height 0", r.stride_height = 0, NVDLA_RULE_RANGE, F(rubik.stride_height), 0, 1,
             32),
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
    MERGE("stride width of a merge", r.stride_width = 1, NVDLA_RULE_ZERO, F(rubik.stride_width), 1),
    MERGE("merged plane line stride", r.input.line_stride = 0, NVDLA_RULE_STRIDE,
          F(rubik.input.line_stride), 0, 64, 0, 0, NVDLA_DMA_RUBIK_READ, 0),
    MERGE("merged plane line stride of half a beat", r.input.line_stride = 96, NVDLA_RULE_MULTIPLE,
          F(rubik.input.line_stride), 96, 0, 0, 64),
    MERGE("merged plane stride of half a beat", r.input.surface_stride = 224, NVDLA_RULE_MULTIPLE,
          F(rubik.input.surface_stride), 224, 0, 0, 64),
    MERGE("merged plane offset", (r.input.offset = 32, slots[0].size += 32), NVDLA_RULE_MULTIPLE,
          F(rubik.input), 32, 0, 0, 64),
    CONTRACT("channels of half an atom of int16", (r.precision = 1, r.channels = 336),
             NVDLA_RULE_MULTIPLE, F(rubik.channels), 336, 0, 0, 96),
    SPLIT("input line stride of a split", r.input.line_stride = 1248, NVDLA_RULE_STRIDE,
          F(rubik.input.line_stride), 1248, 1280, 0, 0, NVDLA_DMA_RUBIK_READ, 0),
    SPLIT("plane line stride of fp16", (r.precision = 2, slots[0].size *= 2), NVDLA_RULE_STRIDE,
          F(rubik.output.line_stride), 64, 96, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    MERGE("output line stride of a merge", r.output.line_stride = 1248, NVDLA_RULE_STRIDE,
          F(rubik.output.line_stride), 1248, 1280, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    /* The last line takes its stride as a whole. */
    SPLIT("plane stride of lines with gaps",
          (r.output.line_stride = 128, r.output.surface_stride = 320, slots[1].size *= 2),
          NVDLA_RULE_STRIDE, F(rubik.output.surface_stride), 320, 384, 0, 0, NVDLA_DMA_RUBIK_WRITE,
          1),
};

const Legal kRubikLegal[] = {
    {"contract of one block", base_contract, "nv_full",
     CHANGE((r.stride_width = r.stride_height = 1, r.output = cube(1, 5, 3, 32),
             slots[1].size = slots[0].size))},
};

INSTANTIATE_TEST_SUITE_P(All, RubikFaults, testing::ValuesIn(kRubikFaults), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, RubikBoundaries, testing::ValuesIn(kRubikLegal), row_name<Legal>);

}  // namespace
}  // namespace nvdla::test
