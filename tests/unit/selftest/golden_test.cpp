// SPDX-License-Identifier: MIT
//
// The golden layers that are built in, and both ways to run them.
#include "selftest/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "breakable_model.hpp"
#include "selftest/bare_runner.hpp"
#include "selftest/device_runner.hpp"

namespace nvdla::test {
namespace {

using namespace selftest;

constexpr auto kLimit = std::chrono::seconds(60);

void expect_golden(Runner& runner, const Golden& golden) {
  SCOPED_TRACE(std::string(golden.configuration) + " " + std::string(golden.unit) + " " +
               std::string(golden.name));
  const auto load = runner.load(work_of(golden));
  const Ran ran = load->run();
  ASSERT_EQ(ran.end, End::kDone) << ran.text;
  const auto output = load->bytes(golden.inputs.size());
  EXPECT_TRUE(std::equal(output.begin(), output.end(), golden.output.begin(), golden.output.end()));
  EXPECT_FALSE(load->stray());
  ASSERT_EQ(ran.stats.size(), 1u);
  EXPECT_GE(ran.stats[0].end_ns, ran.stats[0].start_ns);
}

TEST(GoldenLayers, EachConfigurationHasEachUnit) {
  for (u32 i = 0; i < nvdla_hw_count(); ++i) {
    const nvdla_hw& hw = *nvdla_hw_get(i);
    std::set<std::string_view> units, wanted = {"conv", "sdp", "pdp", "cdp"};
    if (hw.features & NVDLA_HW_BDMA) wanted.insert("bdma");
    if (hw.features & NVDLA_HW_RUBIK) wanted.insert("rubik");
    for (const Golden& golden : goldens())
      if (golden.configuration == hw.name) units.insert(golden.unit);
    EXPECT_EQ(units, wanted) << hw.name;
  }
}

TEST(GoldenLayers, RunThroughTheApi) {
  for (const Golden& golden : goldens()) {
    DeviceRunner runner(Device::open("model:" + std::string(golden.configuration) + ",threads=1"),
                        kLimit);
    expect_golden(runner, golden);
  }
}

TEST(GoldenLayers, RunOnBareRegisters) {
  for (const Golden& golden : goldens()) {
    const nvdla_hw& hw = *nvdla_hw_find(std::string(golden.configuration).c_str());
    BreakableModel device(hw, {});
    BareRunner runner(device, hw, kLimit);
    expect_golden(runner, golden);
    expect_golden(runner, golden);
  }
}

}  // namespace
}  // namespace nvdla::test
