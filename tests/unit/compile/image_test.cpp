// SPDX-License-Identifier: MIT
//
// What every register image must be, whatever the layer: complete, inside of
// the registers' fields, sorted by unit, the same every time.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <tuple>

#include "common/compiled.hpp"
#include "common/configurations.hpp"
#include "unit_layers.hpp"

namespace nvdla::test {
namespace {

// Layers that take different units and paths.
std::vector<Base> samples(const char* configuration) {
  std::vector<Base> all = {base_sdp(configuration), base_conv(configuration)};
  Base plain = base_conv(configuration);
  plain.layer.sdp.x1 = {};
  plain.layer.sdp.x2 = {};
  all.push_back(plain);
  Base values = base_sdp(configuration);
  values.layer.sdp.x1.mode = NVDLA_OPERAND_LAYER;
  values.layer.sdp.x1.operand_bytes = 0;
  values.layer.sdp.x1.operand = {};
  values.layer.sdp.x1.alu_value = -1;
  values.layer.sdp.x2 = {};
  all.push_back(values);
  for (auto make :
       {base_pdp, base_bands, base_sdp_pdp, base_conv_pdp, base_cdp, base_image, base_planes})
    all.push_back(make(configuration));
  if (values.hw->features & NVDLA_HW_SDP_Y) {
    for (auto make : {base_y, base_equal}) all.push_back(make(configuration));
  }
  if (values.hw->features & NVDLA_HW_WINOGRAD) all.push_back(base_winograd(configuration));
  if (values.hw->features & NVDLA_HW_RUBIK) {
    for (auto make : {base_contract, base_split, base_merge}) all.push_back(make(configuration));
  }
  if (values.hw->features & NVDLA_HW_BDMA) all.push_back(base_bdma(configuration));
  return all;
}

class Images : public testing::TestWithParam<std::tuple<const char*, std::uint32_t>> {
 protected:
  model::RegisterMap map() const {
    return static_cast<model::RegisterMap>(nvdla_hw_find(std::get<0>(GetParam()))->regmap);
  }
  template <typename Check>
  void for_each(Check check) {
    const auto [configuration, flags] = GetParam();
    for (const Base& base : samples(configuration)) {
      Program program(*base.hw, base.slots, 1, flags, 0, base.luts, base.transfers);
      ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
      ASSERT_TRUE(program.end());
      check(base, program);
    }
  }
};

TEST_P(Images, WriteEveryWritableRegisterOfTheirUnits) {
  for_each([&](const Base&, const Program& program) {
    std::set<std::uint32_t> written;
    for (const auto& write : program.writes(0))
      EXPECT_TRUE(written.insert(write.offset).second)
          << model::register_name(map(), write.offset) << " is written twice";
    for (const auto& info : model::registers()) {
      const bool wanted = (program.image(0).units >> info.unit & 1) != 0 &&
                          info.unit != NVDLA_UNIT_BDMA && info.scope == model::Scope::kGroup &&
                          info.write[map()] != 0 && info.name != "D_OP_ENABLE";
      const auto address = model::register_address(map(), info);
      EXPECT_EQ(address && written.contains(*address), wanted)
          << model::unit_name(info.unit) << "." << info.name;
    }
  });
}

TEST_P(Images, HoldNothingOutsideOfFields) {
  for_each([&](const Base&, const Program& program) {
    for (const auto& write : program.writes(0)) {
      const auto* info = model::register_at(map(), write.offset);
      ASSERT_NE(info, nullptr);
      EXPECT_EQ(write.value & ~info->write[map()], 0u)
          << model::decode(map(), write.offset, write.value);
    }
  });
}

TEST_P(Images, AreSortedByUnit) {
  for_each([&](const Base&, const Program& program) {
    std::set<model::Unit> seen;
    model::Unit last = NVDLA_UNIT_COUNT;
    for (const auto& write : program.writes(0)) {
      const auto* info = model::register_at(map(), write.offset);
      ASSERT_NE(info, nullptr);
      if (info->unit != last) {
        EXPECT_TRUE(seen.insert(info->unit).second);
      }
      last = info->unit;
    }
  });
}

// Every address of a unit that is enabled is either bound or zero, and the
// writes that a binding changes are the two words of one address.
TEST_P(Images, BindAddresses) {
  for_each([&](const Base& base, const Program& program) {
    const auto writes = program.writes(0);
    std::set<std::uint32_t> bound;
    for (const auto& reloc : program.relocs(0)) {
      ASSERT_LT(reloc.slot, base.slots.size());
      EXPECT_LT(reloc.offset, base.slots[reloc.slot].size);
      ASSERT_LT(reloc.low, writes.size());
      EXPECT_EQ(writes[reloc.low].value, 0u);
      EXPECT_TRUE(bound.insert(reloc.low).second);
      const auto* low = model::register_at(map(), writes[reloc.low].offset);
      EXPECT_EQ(low->fields[0].kind, model::FieldKind::kAddress) << low->name;
      if (reloc.high == NVDLA_RELOC_NONE) {
        EXPECT_EQ(low->unit, NVDLA_UNIT_CACC);
        continue;
      }
      ASSERT_LT(reloc.high, writes.size());
      EXPECT_EQ(writes[reloc.high].value, 0u);
      const auto* high = model::register_at(map(), writes[reloc.high].offset);
      EXPECT_NE(high->name.find("HIGH"), std::string_view::npos) << high->name;
      EXPECT_EQ(high->unit, low->unit);
    }
  });
}

TEST_P(Images, AreTheSameEveryTime) {
  const auto [configuration, flags] = GetParam();
  for (const Base& base : samples(configuration)) {
    Program a(*base.hw, base.slots, 3, flags, 0, base.luts, base.transfers);
    Program b(*base.hw, base.slots, 3, flags, 0, base.luts, base.transfers);
    for (int i = 0; i < 3; i++) {
      ASSERT_TRUE(a.add(base.layer));
      ASSERT_TRUE(b.add(base.layer));
    }
    const nvdla_program& p = a.get();
    const nvdla_program& q = b.get();
    ASSERT_EQ(p.num_writes, q.num_writes);
    ASSERT_EQ(p.num_relocs, q.num_relocs);
    EXPECT_EQ(std::memcmp(p.writes, q.writes, p.num_writes * sizeof(*p.writes)), 0);
    EXPECT_EQ(std::memcmp(p.relocs, q.relocs, p.num_relocs * sizeof(*p.relocs)), 0);
    EXPECT_EQ(std::memcmp(p.accesses, q.accesses, p.num_accesses * sizeof(*p.accesses)), 0);
    EXPECT_EQ(std::memcmp(p.layers, q.layers, 3 * sizeof(*p.layers)), 0);
    // Layer by layer, too.
    EXPECT_EQ(std::memcmp(a.writes(0).data(), a.writes(2).data(), a.writes(0).size_bytes()), 0);
  }
}

TEST_P(Images, StayBelowWhatALayerMayTake) {
  for_each([](const Base&, const Program& program) {
    const nvdla_program& p = program.get();
    EXPECT_LE(p.num_writes, p.max_writes);
    EXPECT_LE(p.num_relocs, p.max_relocs);
    EXPECT_LE(p.num_accesses, p.max_accesses);
    EXPECT_GT(program.image(0).cycles, 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Images,
                         testing::Combine(testing::ValuesIn(kConfigurations),
                                          testing::Values(0u, NVDLA_PROGRAM_STATS)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param)) +
                                  (std::get<1>(tested.param) != 0 ? "_with_statistics" : "");
                         });

TEST(Image, RdmaOnlyWhereSomethingIsRead) {
  const auto units = [](const Base& base) {
    Program program(*base.hw, base.slots, 1);
    EXPECT_TRUE(program.add(base.layer)) << to_string(program.error());
    return program.image(0).units;
  };
  const std::uint32_t conv = 1u << NVDLA_UNIT_CDMA | 1u << NVDLA_UNIT_CSC |
                             1u << NVDLA_UNIT_CMAC_A | 1u << NVDLA_UNIT_CMAC_B |
                             1u << NVDLA_UNIT_CACC | 1u << NVDLA_UNIT_SDP;
  const std::uint32_t rdma = 1u << NVDLA_UNIT_SDP_RDMA;
  Base base = base_conv("nv_small");
  EXPECT_EQ(units(base), conv | rdma);
  base.layer.sdp.x1 = {};
  EXPECT_EQ(units(base), conv | rdma);
  base.layer.sdp.x2 = {};
  EXPECT_EQ(units(base), conv);
  base.layer.sdp.x2.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_RELU;
  EXPECT_EQ(units(base), conv);
  base.layer.sdp.x2.alu = NVDLA_ALU_SUM;
  base.layer.sdp.x2.alu_value = 7;
  EXPECT_EQ(units(base), conv);
  base = base_sdp("nv_small");
  base.layer.sdp.x1 = {};
  base.layer.sdp.x2 = {};
  EXPECT_EQ(units(base), 1u << NVDLA_UNIT_SDP | rdma);
}

TEST(Image, CountersAreReadWithStatisticsOnly) {
  const Base base = base_conv("nv_full");
  Program without(*base.hw, base.slots, 1);
  ASSERT_TRUE(without.add(base.layer));
  EXPECT_EQ(without.image(0).counters, 0u);
  Program with(*base.hw, base.slots, 1, NVDLA_PROGRAM_STATS);
  ASSERT_TRUE(with.add(base.layer));
  const std::uint64_t counters = with.image(0).counters;
  for (auto counter : {NVDLA_COUNTER_CDMA_DATA_STALL, NVDLA_COUNTER_CACC_SATURATION,
                       NVDLA_COUNTER_SDP_SATURATION, NVDLA_COUNTER_SDP_BRDMA_STALL,
                       NVDLA_COUNTER_SDP_NRDMA_STALL, NVDLA_COUNTER_SDP_WRITE_STALL})
    EXPECT_TRUE(counters >> counter & 1) << counter;
  for (auto counter : {NVDLA_COUNTER_SDP_MRDMA_STALL, NVDLA_COUNTER_SDP_LUT_HYBRID,
                       NVDLA_COUNTER_CDMA_NAN_DATA, NVDLA_COUNTER_PDP_NAN_IN})
    EXPECT_FALSE(counters >> counter & 1) << counter;
}

TEST(Image, CountersOfSpecialNumbersAreReadInHalfPrecisionOnly) {
  for (const auto precision : {NVDLA_PRECISION_INT16, NVDLA_PRECISION_FP16}) {
    Base base = base_conv("nv_full");
    base.layer.conv.in_precision = precision;
    base.layer.conv.proc_precision = precision;
    base.layer.conv.pad_value = 0;
    base.layer.conv.clip_truncate = 0;
    base.layer.sdp.proc_precision = precision;
    base.layer.sdp.out_precision = precision;
    base.layer.sdp.x1 = {};
    base.layer.sdp.x2 = {};
    if (precision == NVDLA_PRECISION_FP16) base.layer.sdp.out_cvt = {};
    for (auto& slot : base.slots) slot.size *= 4;
    Program program(*base.hw, base.slots, 1, NVDLA_PROGRAM_STATS);
    ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
    for (auto counter : {NVDLA_COUNTER_CDMA_NAN_DATA, NVDLA_COUNTER_CDMA_NAN_WEIGHT,
                         NVDLA_COUNTER_CDMA_INF_DATA, NVDLA_COUNTER_CDMA_INF_WEIGHT})
      EXPECT_EQ(program.image(0).counters >> counter & 1, precision == NVDLA_PRECISION_FP16)
          << counter;
  }
}

// The secondary memory is told to each client by itself.
TEST(Image, MemoryOfEachClient) {
  Base base = base_conv("nv_full");
  base.slots[kWeights].memory = NVDLA_MEMORY_SRAM;
  base.slots[kX2].memory = NVDLA_MEMORY_SRAM;
  Program program(*base.hw, base.slots, 1);
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  const std::uint64_t bases[5] = {};
  const auto values = program.registers(0, bases);
  const auto value = [&](const char* name) {
    return values.at(*model::register_address(NVDLA_REGMAP_NV_FULL, *model::find_register(name)));
  };
  EXPECT_EQ(value("CDMA.D_DAIN_RAM_TYPE"), 1u);
  EXPECT_EQ(value("CDMA.D_WEIGHT_RAM_TYPE"), 0u);
  EXPECT_EQ(value("SDP.D_DST_DMA_CFG"), 1u);
  EXPECT_EQ(value("SDP_RDMA.D_BRDMA_CFG") >> 5, 1u);
  EXPECT_EQ(value("SDP_RDMA.D_NRDMA_CFG") >> 5, 0u);
}

}  // namespace
}  // namespace nvdla::test
