// SPDX-License-Identifier: MIT
//
// Whatever the registers of SDP say, a layer ends or says why it does not; a sanitizer finds
// nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/layers/sdp_generator.hpp"

namespace nvdla::test {
namespace {

TEST(SdpRobustness, AnyRegisterValues) {
  for (const char* name : {"nv_full", "nv_large", "nv_small"}) {
    const nvdla_hw& hw = *nvdla_hw_find(name);
    const auto map = static_cast<model::RegisterMap>(hw.regmap);
    std::vector<std::uint32_t> targets;
    for (const model::RegisterInfo& reg : model::registers())
      if ((reg.unit == NVDLA_UNIT_SDP || reg.unit == NVDLA_UNIT_SDP_RDMA) && reg.present[map] &&
          reg.name != "D_OP_ENABLE" && reg.name != "S_POINTER" && reg.write[map] != 0)
        targets.push_back(model::register_address(map, reg).value());
    unsigned ended = 0, stuck = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
      Random random(seed);
      SdpGenerator generator(hw, random);
      const SdpCase layer = generator.layer();
      UnitRig rig(hw);
      generator.fill(layer, rig);
      program_sdp(layer, rig.regs);
      for (auto changes = pick(random, 1, 6); changes > 0; --changes) {
        const std::uint32_t address = targets[random() % targets.size()];
        std::uint32_t value = static_cast<std::uint32_t>(random());
        // Half of the time one bit, so that more than the first check is reached.
        if (random() % 2 != 0) value = rig.device.read(address) ^ (1u << (random() % 32));
        rig.device.write(address, value);
      }
      enable_sdp(rig.regs);
      unsigned steps = 0;
      while (rig.device.step()) ASSERT_LT(++steps, 100u) << name << ", seed " << seed;
      const std::string text = rig.blocked();
      EXPECT_NE(text, "no reason") << name << ", seed " << seed;
      ++(text.empty() ? ended : stuck);
    }
    EXPECT_GT(ended, 100u) << name;
    EXPECT_GT(stuck, 100u) << name;
  }
}

}  // namespace
}  // namespace nvdla::test
