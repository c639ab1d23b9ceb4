// SPDX-License-Identifier: MIT
//
// Records on devices whose registers and memory can be reached, here the model as one of them.
#include "tools/replay/targets/bare_target.hpp"

#include <gtest/gtest.h>

#include "backend/open/open_registers.hpp"
#include "common/runtime/expect_error.hpp"
#include "recorded.hpp"
#include "tools/replay/player.hpp"
#include "unit/tools/temporary_folder.hpp"

namespace nvdla {
namespace {

using replay::BareTarget;

class BareTargets : public testing::Test {
 protected:
  static BareTarget open(const std::vector<replay::Dump>& jobs) {
    const nvdla_hw& hw = *jobs.front().hw;
    return {detail::open_bare(std::string("model:") + hw.name), hw, true};
  }
  std::vector<replay::Dump> record(const char* configuration) {
    const test::RecordedNetwork network = {
        "conv",
        configuration,
        {.channels = 20, .height = 7, .width = 5},
        Precision::kInt8,
        [](Network& net, Tensor in) { return test::convolve(net, in, 20, 30, Precision::kInt8); }};
    return test::record(folder_.path() / "a.record", network, 2).jobs;
  }

  replay::TemporaryFolder folder_;
};

TEST_F(BareTargets, PlayRecords) {
  for (const char* configuration : {"nv_small", "nv_full"}) {
    auto jobs = record(configuration);
    BareTarget target = open(jobs);
    auto outcome = replay::play(replay::record_script(jobs, "a.record"), target);
    EXPECT_EQ(outcome.verdict, replay::Verdict::kPass) << outcome.reason;
    EXPECT_GT(outcome.bytes_compared, 0U);
    jobs[1].written[0].bytes[3] ^= std::byte{1};
    BareTarget other = open(jobs);
    outcome = replay::play(replay::record_script(jobs, "a.record"), other);
    EXPECT_EQ(outcome.failures.size(), 1U);
  }
}

// One unit is to get more than the other gives.
TEST_F(BareTargets, SeeThatALayerDoesNotEnd) {
  auto jobs = record("nv_small");
  const auto* info = model::find_register("SDP.D_DATA_CUBE_HEIGHT");
  const std::uint32_t offset = *model::register_address(NVDLA_REGMAP_NV_SMALL, *info);
  for (auto& write : jobs[0].writes)
    if (write.offset == offset) write.value += 1;
  BareTarget target = open(jobs);
  const auto outcome = replay::play(replay::record_script(jobs, "a.record"), target);
  EXPECT_EQ(outcome.stuck, 0U);
  EXPECT_NE(outcome.reason.find("layer 0 does not end here ("), std::string::npos)
      << outcome.reason;
}

// Memory that nobody gave reads as zeros, as it does on the model.
TEST_F(BareTargets, MemoryIsThereWhereItIsNeeded) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_small");
  BareTarget target(detail::open_bare("model:nv_small"), hw, true);
  std::vector<std::byte> bytes(10000, std::byte{7}), back(12000);
  target.load(model::Ram::kPrimary, 0x10ffc, bytes);
  target.fetch(model::Ram::kPrimary, 0x10ff0, back);
  EXPECT_EQ(back[11], std::byte{0});
  EXPECT_EQ(back[12], std::byte{7});
  EXPECT_EQ(back[10011], std::byte{7});
  EXPECT_EQ(back[10012], std::byte{0});
  target.fill(model::Ram::kPrimary, 0x11000, 5, 9);
  target.fetch(model::Ram::kPrimary, 0x10ffc, std::span(back).first(10));
  EXPECT_EQ(back[3], std::byte{7});
  EXPECT_EQ(back[4], std::byte{9});
  EXPECT_EQ(back[9], std::byte{7});
  test::expect_error(
      ErrorCode::kNoMemory,
      "model:nv_small has no memory of 4096 bytes at 0x100000000, where the trace "
      "needs it",
      [&] { target.load(model::Ram::kPrimary, 0x100000000, std::span(bytes).first(8)); });
}

}  // namespace
}  // namespace nvdla
