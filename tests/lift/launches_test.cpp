// SPDX-License-Identifier: MIT
//
// Which register groups work together, and how launches become programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lift/plan.hpp"

namespace nvdla::test {
namespace {

constexpr auto kMap = NVDLA_REGMAP_NV_FULL;

std::uint32_t address(const std::string& name) {
  return *model::register_address(kMap, *model::find_register(name));
}

constexpr std::uint32_t units(std::initializer_list<model::Unit> list) {
  std::uint32_t bits = 0;
  for (const model::Unit unit : list) bits |= 1u << unit;
  return bits;
}

constexpr std::uint32_t kConvolution =
    units({NVDLA_UNIT_CDMA, NVDLA_UNIT_CSC, NVDLA_UNIT_CMAC_A, NVDLA_UNIT_CMAC_B, NVDLA_UNIT_CACC});

class Launches : public testing::Test {
 protected:
  void write(const std::string& name, std::uint32_t value) { tracker.write(address(name), value); }
  void enable(std::initializer_list<const char*> names) {
    for (const std::string name : names) write(name + ".D_OP_ENABLE", 1);
  }
  void enable_convolution() { enable({"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"}); }
  void sdp_mode(bool flying, bool pooled) {
    write("SDP.D_FEATURE_MODE_CFG", (flying ? 1 : 0) | (pooled ? 2 : 0));
  }
  void pdp_from_memory(bool memory) { write("PDP.D_OPERATION_MODE_CFG", memory ? 0x10 : 0); }

  LaunchTracker tracker{kMap};
};

TEST_F(Launches, UnitsThatFeedEachOtherAreOneLayer) {
  sdp_mode(true, true);
  pdp_from_memory(false);
  enable({"PDP", "SDP"});
  EXPECT_TRUE(tracker.run().empty());
  EXPECT_EQ(tracker.waiting(), units({NVDLA_UNIT_SDP, NVDLA_UNIT_PDP}));
  enable_convolution();
  const auto launches = tracker.run();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].units, kConvolution | units({NVDLA_UNIT_SDP, NVDLA_UNIT_PDP}));
  EXPECT_EQ(tracker.waiting(), 0u);
}

// An SDP that reads memory does not take the read DMA of one behind a convolution.
TEST_F(Launches, ReadDmaBelongsToTheSdpOfItsMode) {
  sdp_mode(false, false);
  enable({"SDP"});
  write("SDP_RDMA.D_FEATURE_MODE_CFG", 1);
  enable({"SDP_RDMA"});
  EXPECT_TRUE(tracker.run().empty());

  LaunchTracker other(kMap);
  other.write(address("SDP.D_FEATURE_MODE_CFG"), 1);
  other.write(address("SDP.D_OP_ENABLE"), 1);
  for (const char* unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP_RDMA"})
    other.write(address(std::string(unit) + ".D_OP_ENABLE"), 1);
  const auto launches = other.run();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].units, kConvolution | units({NVDLA_UNIT_SDP}));
  EXPECT_EQ(other.waiting(), units({NVDLA_UNIT_SDP_RDMA}));
}

// Groups of the read DMA move on only with layers that take what it brings.
TEST_F(Launches, ReadDmaBelongsToTheLayerWithOperands) {
  for (const std::uint32_t group : {0u, 1u}) {
    for (const char* unit : {"SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"})
      write(std::string(unit) + ".S_POINTER", group);
    sdp_mode(true, false);
    write("SDP.D_DP_BS_CFG", group == 0 ? 1 : 0);
    write("SDP.D_DP_BS_ALU_CFG", 1);  // from memory
    for (const char* unit : {"BN", "EW"}) write("SDP.D_DP_" + std::string(unit) + "_CFG", 1);
    enable({"SDP"});
    enable_convolution();
  }
  EXPECT_EQ(tracker.run().size(), 1u);
  EXPECT_EQ(tracker.waiting(), kConvolution | units({NVDLA_UNIT_SDP}));
  write("SDP_RDMA.D_FEATURE_MODE_CFG", 1);
  enable({"SDP_RDMA"});
  const auto launches = tracker.run();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].units, kConvolution | units({NVDLA_UNIT_SDP, NVDLA_UNIT_SDP_RDMA}));
  EXPECT_EQ(launches[0].groups, kConvolution | units({NVDLA_UNIT_SDP}));
  EXPECT_EQ(tracker.waiting(), 0u);
}

TEST_F(Launches, ReadDmaThatReadsNothingEndsByItself) {
  write("SDP_RDMA.D_FEATURE_MODE_CFG", 1);
  for (const char* dma : {"BRDMA", "NRDMA"}) write("SDP_RDMA.D_" + std::string(dma) + "_CFG", 1);
  enable({"SDP_RDMA"});
  EXPECT_TRUE(tracker.run().empty());
  EXPECT_EQ(tracker.waiting(), units({NVDLA_UNIT_SDP_RDMA}));

  LaunchTracker other(kMap);
  for (const char* name :
       {"D_FEATURE_MODE_CFG", "D_BRDMA_CFG", "D_NRDMA_CFG", "D_ERDMA_CFG", "D_OP_ENABLE"})
    other.write(address("SDP_RDMA." + std::string(name)), 1);
  EXPECT_TRUE(other.run().empty());
  EXPECT_EQ(other.waiting(), 0u);
}

TEST_F(Launches, GroupsRunInTheOrderInWhichTheyWereEnabled) {
  pdp_from_memory(true);
  write("PDP.D_DATA_CUBE_IN_WIDTH", 7);
  enable({"PDP", "PDP_RDMA"});
  for (const char* unit : {"PDP", "PDP_RDMA"}) write(std::string(unit) + ".S_POINTER", 1);
  pdp_from_memory(true);
  write("PDP.D_DATA_CUBE_IN_WIDTH", 9);
  enable({"PDP", "PDP_RDMA"});
  const auto launches = tracker.run();
  ASSERT_EQ(launches.size(), 2u);
  const std::uint32_t both = units({NVDLA_UNIT_PDP, NVDLA_UNIT_PDP_RDMA});
  for (unsigned i = 0; i < 2; i++) {
    EXPECT_EQ(launches[i].units, both);
    EXPECT_EQ(launches[i].groups, i == 0 ? 0u : both);
    EXPECT_EQ(launches[i].registers.read(NVDLA_UNIT_PDP, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH),
              i == 0 ? 7u : 9u);
  }
  EXPECT_EQ(tracker.producer(NVDLA_UNIT_PDP), 1u);
}

// The group keeps its registers, not its enable bit.
TEST_F(Launches, AGroupRunsAgainOnlyWhenEnabledAgain) {
  write("RBK.D_DATAIN_SIZE_1", 5);
  enable({"RBK"});
  EXPECT_EQ(tracker.run().size(), 1u);
  EXPECT_TRUE(tracker.run().empty());
  enable({"RBK"});
  const auto again = tracker.run();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].registers.read(NVDLA_UNIT_RBK, NVDLA_RBK_D_DATAIN_SIZE_1), 5u);
}

// There is one copy of the tables: what they hold when the layer runs counts.
TEST_F(Launches, SingleRegistersAreThoseOfTheRun) {
  write("CDP.S_LUT_CFG", 1);
  enable({"CDP", "CDP_RDMA"});
  write("CDP.S_LUT_CFG", 0);
  write("CDP.S_LUT_ACCESS_CFG", 0x20000);
  write("CDP.S_LUT_ACCESS_DATA", 77);
  const auto launches = tracker.run();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].registers.read(NVDLA_UNIT_CDP, NVDLA_CDP_S_LUT_CFG), 0u);
  EXPECT_EQ(launches[0].registers.tables(NVDLA_UNIT_CDP).le[0], 77u);
}

// Random traces write every register, the port to tables too.
TEST_F(Launches, TablesHoldWhatWasWrittenWithTheirPortOpen) {
  constexpr std::uint32_t kWrite = NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ACCESS_TYPE_MASK;
  constexpr std::uint32_t kLo = NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_TABLE_ID_MASK;
  for (const std::string unit : {"SDP", "CDP"}) {
    write(unit + ".S_LUT_ACCESS_CFG", kWrite | 3);
    write(unit + ".S_LUT_ACCESS_DATA", 0x1111);
    write(unit + ".S_LUT_ACCESS_DATA", 0x2222);
    write(unit + ".S_LUT_ACCESS_CFG", kWrite | kLo | 256);
    write(unit + ".S_LUT_ACCESS_DATA", 0x3333);
    write(unit + ".S_LUT_ACCESS_CFG", 3);
    write(unit + ".S_LUT_ACCESS_DATA", 0x4444);
    enable({unit == "SDP" ? "SDP" : "CDP", unit == "SDP" ? "SDP_RDMA" : "CDP_RDMA"});
  }
  const auto launches = tracker.run();
  ASSERT_EQ(launches.size(), 2u);
  for (const model::Unit unit : {NVDLA_UNIT_SDP, NVDLA_UNIT_CDP}) {
    const auto& tables = launches[0].registers.tables(unit);
    EXPECT_EQ(tables.le[3], 0x1111);
    EXPECT_EQ(tables.le[4], 0x2222);
    EXPECT_EQ(tables.lo[256], 0x3333);
    EXPECT_EQ(std::count(tables.le.begin(), tables.le.end(), 0), 63);
    EXPECT_EQ(std::count(tables.lo.begin(), tables.lo.end(), 0), 256);
  }
}

TEST_F(Launches, TransfersBelongToTheLaunchBehindThem) {
  write("BDMA.CFG_LINE", 1);
  write("BDMA.CFG_OP", 1);
  write("BDMA.CFG_OP", 1);
  write("BDMA.CFG_LAUNCH0", 1);
  write("BDMA.CFG_LINE", 2);
  write("BDMA.CFG_OP", 1);
  write("BDMA.CFG_LAUNCH1", 1);
  const auto launches = tracker.run();
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].registers.commands().size(), 2u);
  ASSERT_EQ(launches[1].registers.commands().size(), 1u);
  EXPECT_EQ(launches[1].registers.commands()[0].at(NVDLA_BDMA_CFG_LINE), 2u);
}

class Plans : public testing::Test {
 protected:
  template <typename Action>
  void add(Action action) {
    script.commands.push_back({0, std::move(action)});
  }
  void write(const std::string& name, std::uint32_t value) {
    add(replay::WriteRegister{address(name), value});
  }
  std::size_t programs(const Plan& plan) const {
    return static_cast<std::size_t>(std::count_if(
        plan.steps.begin(), plan.steps.end(),
        [](const Step& step) { return std::holds_alternative<PlannedProgram>(step); }));
  }

  replay::Script script;
};

TEST_F(Plans, LayersWaitForWhatTheScriptWaitedFor) {
  script.map = kMap;
  write("RBK.D_OP_ENABLE", 1);
  write("CDP.D_OP_ENABLE", 1);
  write("CDP_RDMA.D_OP_ENABLE", 1);
  add(replay::WaitInterrupt{});
  write("RBK.D_OP_ENABLE", 1);
  write("RBK.D_OP_ENABLE", 1);
  add(replay::WaitInterrupt{});
  write("CDP.D_OP_ENABLE", 1);
  write("CDP_RDMA.D_OP_ENABLE", 1);
  const Plan plan = make_plan(script);
  ASSERT_EQ(plan.launches.size(), 5u);
  EXPECT_EQ(programs(plan), 1u);
  using Waits = std::vector<std::uint32_t>;
  const Waits first_two = {1, 0};  // by unit
  EXPECT_EQ(plan.waits[0], Waits{});
  EXPECT_EQ(plan.waits[1], Waits{});
  EXPECT_EQ(plan.waits[2], first_two);
  EXPECT_EQ(plan.waits[3], first_two);
  EXPECT_EQ(plan.waits[4], Waits{3});
}

TEST_F(Plans, MemoryThatIsTouchedEndsAProgram) {
  script.map = kMap;
  add(replay::FillMemory{replay::Ram::kPrimary, 0, 64, 1});
  write("RBK.D_OP_ENABLE", 1);
  add(replay::CheckCrc{replay::Ram::kPrimary, 0, 64, 1});
  write("RBK.D_OP_ENABLE", 1);
  const Plan plan = make_plan(script);
  EXPECT_EQ(programs(plan), 2u);
  ASSERT_EQ(plan.steps.size(), 4u);
  EXPECT_TRUE(std::holds_alternative<PlannedProgram>(plan.steps[1]));
  EXPECT_TRUE(plan.waits[1].empty());
}

TEST_F(Plans, UnitsThatNeverRunAreAnError) {
  script.map = kMap;
  write("CDP.D_OP_ENABLE", 1);
  EXPECT_THROW(make_plan(script), LiftError);
}

TEST_F(Plans, CountersAreThoseOfTheLastLayerInTheGroup) {
  script.map = kMap;
  for (const std::uint32_t group : {0u, 1u}) {
    write("CDP.S_POINTER", group);
    write("CDP_RDMA.S_POINTER", group);
    write("CDP.D_OP_ENABLE", 1);
    write("CDP_RDMA.D_OP_ENABLE", 1);
  }
  add(replay::Finish{});
  write("CDP.S_POINTER", 0);
  add(replay::CheckRegister{.offset = address("CDP.D_NAN_INPUT_NUM"), .value = 3});
  add(replay::CheckRegister{.offset = address("CDP.S_STATUS"), .value = 0});
  const Plan plan = make_plan(script);
  const auto* check = std::get_if<CheckCounter>(&plan.steps.back());
  ASSERT_NE(check, nullptr);
  EXPECT_EQ(check->launch, 0u);
  EXPECT_EQ(check->counter, static_cast<std::uint32_t>(NVDLA_COUNTER_CDP_NAN_IN));
  EXPECT_TRUE(counts(plan.launches[0], NVDLA_COUNTER_CDP_NAN_IN));
  EXPECT_FALSE(counts(plan.launches[0], NVDLA_COUNTER_CDP_LUT_HYBRID));
}

}  // namespace
}  // namespace nvdla::test
