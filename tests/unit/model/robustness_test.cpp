// SPDX-License-Identifier: MIT
//
// Registers that no driver would write: the model ends or blocks with a reason, and a sanitizer
// finds nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/layers/model_layer.hpp"

namespace nvdla::test {
namespace {

using model::Device;
using model::Memory;
using model::RegisterInfo;

constexpr model::Unit kUnits[] = {NVDLA_UNIT_CDMA,   NVDLA_UNIT_CSC,  NVDLA_UNIT_CMAC_A,
                                  NVDLA_UNIT_CMAC_B, NVDLA_UNIT_CACC, NVDLA_UNIT_SDP_RDMA,
                                  NVDLA_UNIT_SDP};

class Robustness : public testing::TestWithParam<const char*> {};

TEST_P(Robustness, AnyRegisterValues) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  const auto map = static_cast<model::RegisterMap>(hw.regmap);
  std::vector<const RegisterInfo*> targets;
  for (const RegisterInfo& reg : model::registers())
    for (const model::Unit unit : kUnits)
      if (reg.unit == unit && reg.present[map] && reg.scope == model::Scope::kGroup &&
          reg.name != "D_OP_ENABLE" && reg.write[map] != 0)
        targets.push_back(&reg);
  Memory memory;
  unsigned ended = 0, blocked = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const TestLayer layer = random_layer(hw, random, seed % 3 != 0);
    if (seed % 50 == 0) memory.clear();
    Device device(hw, memory);
    Registers regs(device);
    program(layer, regs, 0, 0);
    for (auto changes = pick(random, 1, 3); changes > 0; --changes) {
      const RegisterInfo& reg = *targets[random() % targets.size()];
      const std::uint32_t address = model::register_address(map, reg).value();
      std::uint32_t value = static_cast<std::uint32_t>(random());
      // Half of the time one bit, so that more than the first check is reached.
      if (random() % 2 != 0) value = device.read(address) ^ (1u << (random() % 32));
      device.write(address, value);
    }
    enable(layer, regs);
    unsigned steps = 0;
    while (device.step()) ASSERT_LT(++steps, 100u) << "seed " << seed;
    if (device.idle()) {
      ++ended;
    } else {
      ++blocked;
      ASSERT_FALSE(device.blocked().empty()) << "seed " << seed;
      for (const auto& one : device.blocked()) ASSERT_NE(one.reason, "") << "seed " << seed;
    }
  }
  EXPECT_GT(ended, 100u);
  EXPECT_GT(blocked, 100u);
}

INSTANTIATE_TEST_SUITE_P(Configurations, Robustness,
                         testing::Values("nv_full", "nv_medium_512", "nv_small"),
                         [](const auto& which) { return std::string(which.param); });

TEST(QuirkTest, TheReferenceModelIgnoresAtomics) {
  Random random(1);
  TestLayer layer = random_layer(*nvdla_hw_find("nv_small"), random, true);
  for (const model::Quirks quirks : {model::Quirks::kRtl, model::Quirks::kCmodel}) {
    Memory memory;
    load(layer, memory);
    model::Options options;
    options.quirks = quirks;
    Device device(*layer.hw, memory, options);
    Registers regs(device);
    program(layer, regs, 0, 0);
    regs.change("CSC.D_ATOMICS", "ATOMICS", regs.field("CSC.D_ATOMICS", "ATOMICS") + 1);
    enable(layer, regs);
    while (device.step()) {
    }
    EXPECT_EQ(device.idle(), quirks == model::Quirks::kCmodel);
  }
}

}  // namespace
}  // namespace nvdla::test
