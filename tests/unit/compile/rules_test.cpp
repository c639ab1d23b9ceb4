// SPDX-License-Identifier: MIT
//
// Rules of every layer: its header, sections that it does not have, its time.
#include <gtest/gtest.h>

#include <cstring>

#include "common/configurations.hpp"
#include "unit_faults.hpp"

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

class HeaderFaults : public testing::TestWithParam<Fault> {};
TEST_P(HeaderFaults, IsNamedExactly) { expect_fault(GetParam()); }

const Fault kRulesFaults[] = {
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

INSTANTIATE_TEST_SUITE_P(All, HeaderFaults, testing::ValuesIn(kRulesFaults), row_name<Fault>);

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

// As a whole: 64 bits, and not the half that is not zero.
TEST(Rules, UnusedOffsetsAreNamedAsAWhole) {
  const std::uint32_t offsets[] = {
      F(conv.input.offset),     F(conv.input_uv.offset), F(conv.weights.offset),
      F(conv.wgs.offset),       F(conv.wmb.offset),      F(sdp.x1.operand.offset),
      F(sdp.x2.operand.offset), F(sdp.y.operand.offset), F(sdp.input.offset),
      F(sdp.output.offset),     F(pdp.input.offset),     F(pdp.output.offset),
      F(cdp.input.offset),      F(cdp.output.offset),    F(rubik.input.offset),
      F(rubik.output.offset),
  };
  for (const std::uint32_t field : offsets) {
    SCOPED_TRACE(field);
    Base base = field < F(cdp) ? base_bdma("nv_full") : base_sdp("nv_full");
    const std::uint64_t offset = 0x123456789abcdef0;
    std::memcpy(reinterpret_cast<char*>(&base.layer) + field, &offset, sizeof(offset));
    const nvdla_error error = compile(base);
    EXPECT_EQ(error.rule, NVDLA_RULE_ZERO);
    EXPECT_EQ(error.field, field);
    EXPECT_EQ(error.value, static_cast<std::int64_t>(offset));
  }
}

// Each feature is asked for by itself: a device that lacks just it says so.
TEST(Rules, FeaturesAreNamedOneByOne) {
  const struct {
    std::uint32_t flag, feature, field;
    Base (*base)(const char*);
    Mutation change;
  } cases[] = {
      {NVDLA_HW_COMPRESSION, NVDLA_FEATURE_COMPRESSION, F(conv.flags), base_conv,
       CHANGE(c.flags = NVDLA_CONV_COMPRESSED)},
      {NVDLA_HW_BATCH, NVDLA_FEATURE_BATCH, F(conv.batch), base_batch, CHANGE()},
      {NVDLA_HW_WINOGRAD, NVDLA_FEATURE_WINOGRAD, F(conv.mode), base_winograd, CHANGE()},
      {NVDLA_HW_RUBIK, NVDLA_FEATURE_RUBIK, F(kind), base_contract, CHANGE()},
      {NVDLA_HW_BDMA, NVDLA_FEATURE_BDMA, F(kind), base_bdma, CHANGE(t.clear())},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.feature);
    Base base = each.base("nv_full");
    nvdla_hw hw = *base.hw;
    hw.features &= ~each.flag;
    base.hw = &hw;
    each.change(base);
    const nvdla_error error = compile(base);
    EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE) << to_string(error);
    EXPECT_EQ(error.field, each.field);
    EXPECT_EQ(error.value, each.feature);
  }
}

// What a layer of any kind may take depends on the clock: five seconds.
TEST(Rules, CyclesAreBounded) {
  for (auto make : {base_conv, base_conv_pdp, base_sdp, base_sdp_pdp, base_pdp, base_cdp,
                    base_contract, base_bdma}) {
    Base base = make(make == base_contract || make == base_bdma ? "nv_full" : "nv_small");
    SCOPED_TRACE(base.layer.kind);
    // Long enough for a clock of more than one kHz.
    if (base.layer.kind == NVDLA_LAYER_BDMA) {
      base.transfers[0].line_bytes = 1 << 18;
      base.transfers[0].lines = base.transfers[0].surfaces = 1;
      for (nvdla_slot& slot : base.slots) slot.size = 1 << 20;
    } else if (base.layer.kind == NVDLA_LAYER_RUBIK) {
      base.layer.rubik.width = 50;
      base.layer.rubik.input = cube(0, 50, 3, 32);
      base.layer.rubik.output = cube(1, 150, 6, 32);
      for (nvdla_slot& slot : base.slots) slot.size *= 10;
    }
    Program program(*base.hw, base.slots, 1, 0, 0, base.luts, base.transfers);
    ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
    const std::uint64_t cycles = program.image(0).cycles;
    const auto enough = static_cast<std::uint32_t>((cycles + 4999) / 5000);
    EXPECT_EQ(compile(base, enough).rule, NVDLA_RULE_NONE);
    ASSERT_GT(enough, 1u) << cycles << " cycles: what is longer is needed";
    const nvdla_error error = compile(base, enough - 1);
    EXPECT_EQ(error.rule, NVDLA_RULE_CYCLES) << to_string(error);
    EXPECT_EQ(error.object, NVDLA_OBJECT_LAYER);
    EXPECT_EQ(error.field, LAYER_FIELD(kind));
    EXPECT_EQ(error.value, static_cast<std::int64_t>(cycles));
    EXPECT_EQ(error.min, 0);
    EXPECT_EQ(error.max, 5000 * (enough - 1));
  }
}

}  // namespace
}  // namespace nvdla::test
