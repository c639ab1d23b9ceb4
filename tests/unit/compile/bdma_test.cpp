// SPDX-License-Identifier: MIT
//
// Rules of copies: one fault per test, and the neighbour that is still legal.
#include <gtest/gtest.h>

#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

class BdmaFaults : public testing::TestWithParam<Fault> {};
TEST_P(BdmaFaults, IsNamedExactly) { expect_fault(GetParam()); }
class BdmaBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(BdmaBoundaries, IsAccepted) { expect_legal(GetParam()); }

const Fault kBdmaFaults[] = {
    BDMA("no transfers", l.bdma.num_transfers = 0, NVDLA_RULE_RANGE, F(bdma.num_transfers), 0, 1,
         20),
    BDMA("21 transfers", l.bdma.num_transfers = 21, NVDLA_RULE_RANGE, F(bdma.num_transfers), 21, 1,
         20),
    BDMA("transfers of nobody", l.bdma.first_transfer = 1, NVDLA_RULE_RANGE, F(bdma.first_transfer),
         1, 0, 0),
    BDMA("line of 0", t[1].line_bytes = 0, NVDLA_RULE_RANGE, TRANSFER_FIELD(line_bytes), 0, 32,
         262144, 0, 0, 0, OF_TRANSFER(1)),
    BDMA("line too long", t[0].line_bytes = 262176, NVDLA_RULE_RANGE, TRANSFER_FIELD(line_bytes),
         262176, 32, 262144, 0, 0, 0, OF_TRANSFER(0)),
    BDMA("line of 33", t[0].line_bytes = 33, NVDLA_RULE_MULTIPLE, TRANSFER_FIELD(line_bytes), 33, 0,
         0, 32, 0, 0, OF_TRANSFER(0)),
    BDMA("no lines", t[0].lines = 0, NVDLA_RULE_RANGE, TRANSFER_FIELD(lines), 0, 1, 8192, 0, 0, 0,
         OF_TRANSFER(0)),
    BDMA("8193 lines", t[0].lines = 8193, NVDLA_RULE_RANGE, TRANSFER_FIELD(lines), 8193, 1, 8192, 0,
         0, 0, OF_TRANSFER(0)),
    BDMA("no surfaces", t[0].surfaces = 0, NVDLA_RULE_RANGE, TRANSFER_FIELD(surfaces), 0, 1, 8192,
         0, 0, 0, OF_TRANSFER(0)),
    BDMA("8193 surfaces", t[0].surfaces = 8193, NVDLA_RULE_RANGE, TRANSFER_FIELD(surfaces), 8193, 1,
         8192, 0, 0, 0, OF_TRANSFER(0)),
    BDMA("pad", t[0].pad = 1, NVDLA_RULE_ZERO, TRANSFER_FIELD(pad), 1, 0, 0, 0, 0, 0,
         OF_TRANSFER(0)),
    BDMA("source line stride", t[0].source.line_stride = 200, NVDLA_RULE_MULTIPLE,
         TRANSFER_FIELD(source.line_stride), 200, 0, 0, 32, 0, 0, OF_TRANSFER(0)),
    BDMA("source surface stride", t[0].source.surface_stride = 8, NVDLA_RULE_MULTIPLE,
         TRANSFER_FIELD(source.surface_stride), 8, 0, 0, 32, 0, 0, OF_TRANSFER(0)),
    BDMA("short source line stride", t[0].source.line_stride = 128, NVDLA_RULE_STRIDE,
         TRANSFER_FIELD(source.line_stride), 128, 160, 0, 0, NVDLA_DMA_BDMA_READ, 0,
         OF_TRANSFER(0)),
    BDMA("short source line stride of two lines", (t[0].lines = 2, t[0].source.line_stride = 128),
         NVDLA_RULE_STRIDE, TRANSFER_FIELD(source.line_stride), 128, 160, 0, 0, NVDLA_DMA_BDMA_READ,
         0, OF_TRANSFER(0)),
    BDMA("a destination line that repeats", t[1].destination.line_stride = 0, NVDLA_RULE_STRIDE,
         TRANSFER_FIELD(destination.line_stride), 0, 32, 0, 0, NVDLA_DMA_BDMA_WRITE, 1,
         OF_TRANSFER(1)),
    BDMA("a destination surface that repeats", t[0].destination.surface_stride = 0,
         NVDLA_RULE_STRIDE, TRANSFER_FIELD(destination.surface_stride), 0, 640, 0, 0,
         NVDLA_DMA_BDMA_WRITE, 1, OF_TRANSFER(0)),
    BDMA("short source surface stride of a line that repeats",
         (t[0].source.line_stride = 0, t[0].source.surface_stride = 128), NVDLA_RULE_STRIDE,
         TRANSFER_FIELD(source.surface_stride), 128, 160, 0, 0, NVDLA_DMA_BDMA_READ, 0,
         OF_TRANSFER(0)),
    BDMA("the slot of a line that repeats",
         (t[1].source.line_stride = 0, t[1].source.offset = slots[0].size), NVDLA_RULE_EXTENT,
         TRANSFER_FIELD(source), 2815, 2784, 2784, 0, NVDLA_DMA_BDMA_READ, 0, OF_TRANSFER(1)),
    /* The last line takes its stride as a whole. */
    BDMA("short source surface stride", t[0].source.surface_stride = 736, NVDLA_RULE_STRIDE,
         TRANSFER_FIELD(source.surface_stride), 736, 768, 0, 0, NVDLA_DMA_BDMA_READ, 0,
         OF_TRANSFER(0)),
    BDMA("short source surface stride of two lines",
         (t[0].lines = 2, t[0].source.surface_stride = 352), NVDLA_RULE_STRIDE,
         TRANSFER_FIELD(source.surface_stride), 352, 384, 0, 0, NVDLA_DMA_BDMA_READ, 0,
         OF_TRANSFER(0)),
    BDMA("short source surface stride of single lines",
         (t[0].lines = 1, t[0].source.surface_stride = 128), NVDLA_RULE_STRIDE,
         TRANSFER_FIELD(source.surface_stride), 128, 160, 0, 0, NVDLA_DMA_BDMA_READ, 0,
         OF_TRANSFER(0)),
    BDMA("short destination line stride", t[0].destination.line_stride = 128, NVDLA_RULE_STRIDE,
         TRANSFER_FIELD(destination.line_stride), 128, 160, 0, 0, NVDLA_DMA_BDMA_WRITE, 1,
         OF_TRANSFER(0)),
    BDMA("short destination surface stride", t[0].destination.surface_stride = 608,
         NVDLA_RULE_STRIDE, TRANSFER_FIELD(destination.surface_stride), 608, 640, 0, 0,
         NVDLA_DMA_BDMA_WRITE, 1, OF_TRANSFER(0)),
    BDMA("source batch stride", t[0].source.batch_stride = 32, NVDLA_RULE_ZERO,
         TRANSFER_FIELD(source.batch_stride), 32, 0, 0, 0, 0, 0, OF_TRANSFER(0)),
    BDMA("destination line stride", t[1].destination.line_stride = 16, NVDLA_RULE_MULTIPLE,
         TRANSFER_FIELD(destination.line_stride), 16, 0, 0, 32, 0, 0, OF_TRANSFER(1)),
    BDMA("source slot", t[1].source.slot = 2, NVDLA_RULE_SLOT_INDEX, TRANSFER_FIELD(source.slot), 2,
         0, 1, 0, NVDLA_DMA_BDMA_READ, 2, OF_TRANSFER(1)),
    BDMA("source offset", t[0].source.offset = 16, NVDLA_RULE_MULTIPLE, TRANSFER_FIELD(source), 16,
         0, 0, 32, NVDLA_DMA_BDMA_READ, 0, OF_TRANSFER(0)),
    BDMA("destination is read only", t[0].destination.slot = 0, NVDLA_RULE_SLOT_ACCESS,
         TRANSFER_FIELD(destination.slot), NVDLA_SLOT_WRITE, 0, 0, 0, NVDLA_DMA_BDMA_WRITE, 0,
         OF_TRANSFER(0)),
    BDMA(
        "two memories",
        (slots.push_back(slots[1]), slots[2].memory = NVDLA_MEMORY_SRAM, t[1].destination.slot = 2),
        NVDLA_RULE_TRANSFER_MEMORY, TRANSFER_FIELD(destination.slot), NVDLA_MEMORY_SRAM, 0, 0, 0,
        NVDLA_DMA_BDMA_WRITE, 2, OF_TRANSFER(1)),
    BDMA("chain", (slots[1].access = 3, t[1].source.slot = 1), NVDLA_RULE_OVERLAP,
         F(bdma.first_transfer), 0, 0, 479, 0, NVDLA_DMA_BDMA_WRITE, 1),
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

const Legal kBdmaLegal[] = {
    {"strides as long as what they step over", base_bdma, "nv_full",
     CHANGE((t[0].source.line_stride = 160, t[0].source.surface_stride = 640))},
    {"strides of one line and one surface", base_bdma, "nv_full",
     CHANGE((t[0].lines = t[0].surfaces = 1,
             t[0].source.line_stride = t[0].source.surface_stride = 0,
             t[0].destination.line_stride = t[0].destination.surface_stride = 32))},
    {"a line of the source for all lines", base_bdma, "nv_full",
     CHANGE((t[1].source.line_stride = 0, t[1].source.offset = slots[0].size - 32))},
    {"a surface of the source for all surfaces", base_bdma, "nv_full",
     CHANGE((t[0].source.surface_stride = 0, t[0].source.offset = 2048))},
    {"surfaces of a line each", base_bdma, "nv_full",
     CHANGE((t[0].source.line_stride = 0, t[0].source.surface_stride = 160))},
    {"longest transfer", base_bdma, "nv_full",
     CHANGE((t[1].line_bytes = 262144, t[1].lines = 1, slots[0].size = slots[1].size = 1 << 20))},
    {"20 transfers", base_bdma, "nv_full",
     CHANGE((t.assign(20, nvdla_transfer(t[0])), l.bdma.num_transfers = 20))},
};

// The engine pushes the layer's own transfers.
TEST(Bdma, LayersKnowTheirTransfers) {
  Base base = base_bdma("nv_full");
  base.layer.bdma.first_transfer = base.layer.bdma.num_transfers = 1;
  Program program(*base.hw, base.slots, 1, 0, 0, {}, base.transfers);
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  EXPECT_EQ(program.image(0).first_transfer, 1u);
  EXPECT_EQ(program.image(0).num_transfers, 1u);
}

INSTANTIATE_TEST_SUITE_P(All, BdmaFaults, testing::ValuesIn(kBdmaFaults), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, BdmaBoundaries, testing::ValuesIn(kBdmaLegal), row_name<Legal>);

}  // namespace
}  // namespace nvdla::test
