// SPDX-License-Identifier: MIT
//
// From events to layers: fusion, order, waits, and what is refused.
#include "loadable/read/order.hpp"

#include <gtest/gtest.h>

#include "common/runtime/expect_error.hpp"
#include "unit/loadable/maker.hpp"

namespace nvdla {
namespace {

using namespace loadable;
using test::expect_error;
using test::make_operation;

class Order : public testing::Test {
 protected:
  // Adds an operation that reads and writes memory, at the end of its type's chain.
  int add(std::uint8_t type) {
    const int i = static_cast<int>(task_.operations.size());
    task_.operations.push_back(make_operation(type, static_cast<std::int16_t>(i)));
    if (auto* sdp = std::get_if<SdpPart>(&task_.operations.back().part)) {
      sdp->surface.src_data.type = sdp->surface.dst_data.type = kCubeDram;
    }
    if (auto* pdp = std::get_if<PdpPart>(&task_.operations.back().part)) {
      pdp->surface.src_data.type = pdp->surface.dst_data.type = kCubeDram;
    }
    if (task_.network.op_head[type] == -1)
      task_.network.op_head[type] = static_cast<std::int16_t>(i);
    return i;
  }

  CommonDesc& common(int i) { return task_.operations[static_cast<std::size_t>(i)].common; }

  void tell(int from, int to, std::uint8_t event) {
    common(from).consumers[common(to).op_type] = {static_cast<std::int16_t>(to), event, 0};
    ++common(to).dependency_count;
  }

  void fuse(int up, int down) {
    tell(up, down, kProgrammed);
    common(down).fused_parent = {static_cast<std::int16_t>(up), kEnabled, 0};
    ++common(up).dependency_count;
    auto& from = task_.operations[static_cast<std::size_t>(up)].part;
    auto& to = task_.operations[static_cast<std::size_t>(down)].part;
    if (auto* sdp = std::get_if<SdpPart>(&from)) sdp->surface.dst_data.type = kCubeHardware;
    if (auto* sdp = std::get_if<SdpPart>(&to)) sdp->surface.src_data.type = kCubeHardware;
    if (auto* pdp = std::get_if<PdpPart>(&to)) pdp->surface.src_data.type = kCubeHardware;
  }

  std::vector<LayerGroup> order() { return order_operations(task_, "task 0"); }
  void expect_refused(const std::string& text) {
    expect_error(ErrorCode::kInvalidArgument, text, [&] { order(); });
  }

  DlaTask task_;
};

using Ops = std::vector<std::uint16_t>;
using Waits = std::vector<std::uint32_t>;

TEST_F(Order, FusedOperationsAreOneLayerWithoutWaits) {
  const int conv = add(kConv), sdp = add(kSdp), pdp = add(kPdp);
  fuse(conv, sdp);
  fuse(sdp, pdp);
  const auto groups = order();
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].operations, (Ops{0, 1, 2}));
  EXPECT_TRUE(groups[0].waits.empty());
  EXPECT_EQ(group_name(task_, groups[0]), "conv 0 + sdp 1 + pdp 2");
}

// As in NVIDIA's networks: conv and sdp fused, pooling after, the next conv waits for it.
TEST_F(Order, ChainsAreProgramOrderAndCompletionIsAWait) {
  const int conv0 = add(kConv), sdp1 = add(kSdp), pdp2 = add(kPdp);
  const int conv3 = add(kConv), sdp4 = add(kSdp), pdp5 = add(kPdp);
  fuse(conv0, sdp1);
  tell(sdp1, pdp2, kCompleted);
  tell(conv0, conv3, kProgrammed);
  tell(sdp1, sdp4, kProgrammed);
  tell(pdp2, pdp5, kProgrammed);
  tell(pdp2, conv3, kCompleted);
  fuse(conv3, sdp4);
  tell(sdp4, pdp5, kCompleted);
  const auto groups = order();
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].operations, (Ops{0, 1}));
  EXPECT_EQ(groups[1].operations, (Ops{2}));
  EXPECT_EQ(groups[1].waits, (Waits{0}));
  EXPECT_EQ(groups[2].operations, (Ops{3, 4}));
  EXPECT_EQ(groups[2].waits, (Waits{1}));
  EXPECT_EQ(groups[3].operations, (Ops{5}));
  EXPECT_EQ(groups[3].waits, (Waits{2}));
}

TEST_F(Order, IsStableAndFollowsDependenciesNotIndices) {
  const int pdp = add(kPdp), cdp = add(kCdp), sdp = add(kSdp), rubik = add(kRubik);
  tell(sdp, pdp, kCompleted);
  tell(pdp, cdp, kDataDone);
  const auto groups = order();
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].operations, (Ops{static_cast<std::uint16_t>(sdp)}));
  EXPECT_EQ(groups[1].operations, (Ops{static_cast<std::uint16_t>(pdp)}));
  EXPECT_EQ(groups[1].waits, (Waits{0}));
  EXPECT_EQ(groups[2].operations, (Ops{static_cast<std::uint16_t>(cdp)}));
  EXPECT_EQ(groups[2].waits, (Waits{1}));
  EXPECT_EQ(groups[3].operations, (Ops{static_cast<std::uint16_t>(rubik)}));
}

TEST_F(Order, ProgrammedEventsBetweenTypesAreWaits) {
  const int sdp = add(kSdp), pdp = add(kPdp);
  tell(sdp, pdp, kProgrammed);
  const auto groups = order();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].waits, (Waits{0}));
}

TEST_F(Order, CompletionWithinATypeIsAWaitToo) {
  const int a = add(kPdp), b = add(kPdp);
  tell(a, b, kCompleted);
  EXPECT_EQ(order()[1].waits, (Waits{0}));
}

// Units end in program order, so the last of each is enough: a layer has room for eight waits.
TEST_F(Order, ManyLayersOfOneUnitAreOneWait) {
  std::vector<int> before;
  for (int i = 0; i < 12; ++i) before.push_back(add(kSdp));
  const int conv = add(kConv), sdp = add(kSdp), pdp = add(kPdp), cdp = add(kCdp);
  for (std::size_t i = 1; i < before.size(); ++i) tell(before[i - 1], before[i], kProgrammed);
  tell(before.back(), sdp, kProgrammed);
  for (const int i : before) tell(i, cdp, kCompleted);
  fuse(conv, sdp);
  fuse(sdp, pdp);
  tell(pdp, cdp, kCompleted);
  const auto groups = order();
  ASSERT_EQ(groups.size(), 14U);
  // The last layer's SDP ends behind all others.
  EXPECT_EQ(groups[12].operations.size(), 3U);
  EXPECT_EQ(groups[13].waits, (Waits{12}));
}

// The pooling behind it may still work when SDP has ended something later.
TEST_F(Order, WhatEndsInAnotherUnitIsWaitedFor) {
  const int first = add(kSdp), pdp = add(kPdp), second = add(kSdp), cdp = add(kCdp);
  fuse(first, pdp);
  tell(first, second, kProgrammed);
  tell(pdp, cdp, kCompleted);
  tell(second, cdp, kCompleted);
  EXPECT_EQ(order()[2].waits, (Waits{0, 1}));
}

TEST_F(Order, RefusesReferencesToItself) {
  const int sdp = add(kSdp);
  tell(sdp, sdp, kCompleted);
  expect_refused("task 0: operation 0 (sdp): its consumer is itself");
}

TEST_F(Order, RefusesAFusedParentThatIsItself) {
  const int sdp = add(kSdp);
  common(sdp).fused_parent = {0, kEnabled, 0};
  expect_refused("operation 0 (sdp): its fused parent is itself");
}

TEST_F(Order, RefusesReferencesToNothing) {
  add(kSdp);
  common(0).consumers[kPdp] = {7, kCompleted, 0};
  expect_refused("operation 0 (sdp): consumer 7 is not in -1..0");
}

TEST_F(Order, RefusesUnknownEvents) {
  const int sdp = add(kSdp), pdp = add(kPdp);
  tell(sdp, pdp, 6);
  expect_refused("consumer waits for event 6, not in 1..5");
}

TEST_F(Order, RefusesAConsumerOfAnotherType) {
  const int sdp = add(kSdp);
  add(kPdp);
  common(sdp).consumers[kCdp] = {1, kCompleted, 0};
  expect_refused("operation 0 (sdp): its consumer of type cdp is operation 1 (pdp)");
}

TEST_F(Order, RefusesCyclesOfOneType) {
  const int a = add(kSdp), b = add(kSdp);
  tell(a, b, kProgrammed);
  tell(b, a, kProgrammed);
  expect_refused("operation 0 (sdp): a cycle of operations of one type");
}

TEST_F(Order, RefusesCyclesOfSeveralTypes) {
  const int sdp = add(kSdp), pdp = add(kPdp), cdp = add(kCdp);
  tell(sdp, pdp, kCompleted);
  tell(pdp, cdp, kCompleted);
  tell(cdp, sdp, kCompleted);
  expect_refused("operation 0 (sdp) is in a cycle");
}

TEST_F(Order, RefusesUnreachableOperations) {
  add(kSdp);
  add(kSdp);
  expect_refused("operation 1 (sdp) is unreachable");
}

TEST_F(Order, RefusesAHeadOfAnotherType) {
  add(kSdp);
  task_.network.op_head[kPdp] = 0;
  expect_refused("op_head of pdp is operation 0 (sdp)");
}

TEST_F(Order, RefusesWrongDependencyCounts) {
  const int sdp = add(kSdp), pdp = add(kPdp);
  tell(sdp, pdp, kCompleted);
  common(pdp).dependency_count = 2;
  expect_refused("operation 1 (pdp): dependency_count is 2, but 1 events lead to it");
}

TEST_F(Order, RefusesAConvolutionWithoutSdp) {
  add(kConv);
  expect_refused("operation 0 (conv): no sdp is fused to it");
}

TEST_F(Order, RefusesImpossibleFusion) {
  const int conv = add(kConv), sdp = add(kSdp), pdp = add(kPdp), cdp = add(kCdp);
  fuse(conv, sdp);
  tell(pdp, cdp, kProgrammed);
  common(cdp).fused_parent = {static_cast<std::int16_t>(pdp), kEnabled, 0};
  ++common(pdp).dependency_count;
  expect_refused("operation 3 (cdp) cannot be fused to operation 2 (pdp)");
}

TEST_F(Order, RefusesSurfacesThatContradictFusion) {
  const int sdp = add(kSdp);
  std::get<SdpPart>(task_.operations[static_cast<std::size_t>(sdp)].part).surface.src_data.type =
      kCubeHardware;
  expect_refused("its source is the unit before but it has no fused parent");
}

TEST_F(Order, RefusesToWaitForTheEndOfAFusedOperation) {
  const int conv = add(kConv), sdp = add(kSdp);
  fuse(conv, sdp);
  common(conv).consumers[kSdp].event = kCompleted;
  expect_refused("are fused, but one waits for event 1 of the other");
}

}  // namespace
}  // namespace nvdla
