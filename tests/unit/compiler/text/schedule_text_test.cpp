// SPDX-License-Identifier: MIT
//
// Schedules as text: what is printed is read as the same schedule, but for the bytes of constants.
#include "compiler/lower/schedule_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/configurations.hpp"
#include "common/random.hpp"
#include "common/runtime/random_graph.hpp"
#include "compiler/graph/graph_text.hpp"
#include "compiler/lower/lowering.hpp"
#include "compiler/operators/network_impl.hpp"
#include "compiler/passes/pipeline.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using detail::parse_schedule;
using detail::print_schedule;
using detail::schedule_difference;
using detail::ScheduleWithLuts;

// The text has each kind of line, and fields of each part of a descriptor.
constexpr std::string_view kEachLine =
    R"(schedule
lut 0 flags=le_linear le_end=64 le=ramp(0, 1) lo=fill(3)
allocation 0 "input 'image'" size=1024 alignment=32 access=read dedicated
allocation 1 "the constants of layer 0 'conv'" size=384 alignment=256 memory=sram access=read contents=omitted(300, 0x0000000000000000)
allocation 2 "the output \x0a" access=read|write
transfer 0 line_bytes=32 lines=3 surfaces=2 source=@0+64[line_stride=32 surface_stride=96] destination=@2[line_stride=32]
control omitted(128, 0x0000000000000000)
layer 0 "conv" conv+sdp
  operation suffix=" 1/2" macs=27648 images=2 whole cut
  conv mode=winograd flags=compressed|keep_data in_precision=int16 width=8 height=8 channels=3 batch=2 kernels=16 kernel=3x3 stride=1x1 dilation=1x2 padding=1,1,0,1 pad_value=-7 data_banks=3 weight_banks=1 mean=[1, 2, 3, -4] input=@0[line_stride=256 batch_stride=512] weights=@1[bytes=256] wgs=@0+64 wmb=@0+128[bytes=128]
  sdp flags=nan_to_zero out_precision=fp16 x1.flags=enable|relu x1.alu=sum x1.mode=channel x1.operand_bytes=2 x1.operand=@1+128 out_cvt.offset=-3 out_cvt.scale=1 output=@2[line_stride=64 surface_stride=512]
layer 1 conv+sdp+pdp waits 0
  operation suffix=" 2/2" origin=3 after=[0] fused=[4, 5]
  pdp method=max kernel=2x2 stride=2x2 pad_value=[1, 2, 3, 4, 0, 0, 0] recip=3x4 output=@2+512
---
layer 2 "softmax" cpu
  softmax input={scale=0.5 zero_point=3}
  source @2[line_stride=64] : int8 16x8x8 line_stride=64 surface_stride=512
  destination @2[line_stride=64] : fp16 2x16x8x8 atom=16 planar
layer 3 "lrn" cdp waits 0, 2 lut=1
  cdp width=4 in_cvt.scale=1
layer 4 rubik flags=5 num_waits=9
  rubik mode=merge stride=2x1 input=@2
layer 5 bdma waits 4
  bdma num_transfers=1
layer 6 17
---
)";

TEST(ScheduleText, EachLineIsReadAndPrinted) {
  const ScheduleWithLuts schedule = parse_schedule(kEachLine);
  std::string text = print_schedule(schedule, {.all_values = true});
  // Contents are zeros, whose hash is another one.
  for (const std::string_view zeros : {"omitted(300, ", "omitted(128, "})
    text.replace(text.find(zeros) + zeros.size(), 18, "0x0000000000000000");
  EXPECT_EQ(text, kEachLine);
  EXPECT_EQ(schedule_difference(schedule, parse_schedule(text)), "");
  EXPECT_EQ(schedule.schedule.layers[3].waits[1], 2U);
  EXPECT_EQ(schedule.schedule.layers[0].conv.wmb.offset, 128U);
  EXPECT_EQ(schedule.schedule.allocations[1].contents.size(), 300U);
}

// Without the bytes that are not in the text.
ScheduleWithLuts with_zeros(ScheduleWithLuts schedule) {
  for (detail::Allocation& allocation : schedule.schedule.allocations)
    std::fill(allocation.contents.begin(), allocation.contents.end(), std::byte{0});
  std::fill(schedule.schedule.control.begin(), schedule.schedule.control.end(), std::byte{0});
  return schedule;
}

void expect_round_trip(const ScheduleWithLuts& schedule) {
  const std::string text = print_schedule(schedule, {.all_values = true});
  ASSERT_EQ(schedule_difference(with_zeros(schedule), parse_schedule(text)), "") << text;
}

// Runs the pipeline up to where memory is planned; graphs are printed and read on the way.
ScheduleWithLuts lower(const detail::Graph& from, const DeviceInfo& info) {
  std::vector<PassReport> reports;
  const detail::Graph graph = detail::run_passes(from, info, {}, reports);
  const std::string text = detail::print_graph(graph, {.all_values = true});
  EXPECT_EQ(detail::graph_difference(graph, detail::parse_graph(text)), "") << text;
  detail::Lowering lowering(graph, info);
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) lowering.lower_layer(i);
  return {detail::run_passes(std::move(lowering).take(), graph, info, {}, reports), graph.luts};
}

TEST(ScheduleText, RandomGraphsAreReadAsTheyArePrinted) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed);
    const std::string configuration = test::kConfigurations[seed % test::kConfigurations.size()];
    const DeviceInfo info = configuration_info(configuration);
    const test::RandomGraph graph(random, info);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_round_trip(lower(*detail::Handles::impl(graph.network()), info));
    if (HasFailure()) return;
  }
}

TEST(ScheduleText, CompiledNetworksAreReadAsTheyArePrinted) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    test::Random random(seed);
    const std::string configuration = test::kConfigurations[seed % test::kConfigurations.size()];
    const Device device = Device::open("model:" + configuration);
    const test::RandomGraph graph(random, device.info());
    const CompiledNetwork compiled = graph.network().compile(device);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ScheduleWithLuts schedule = detail::schedule_of(*detail::Handles::impl(compiled));
    EXPECT_EQ(schedule.schedule.layers.size(), compiled.layers());
    expect_round_trip(schedule);
    if (HasFailure()) return;
  }
}

TEST(ScheduleText, DifferencesNameTheField) {
  const auto difference = [](std::string_view from, std::string_view to) {
    std::string other(kEachLine);
    other.replace(other.find(from), from.size(), to);
    return schedule_difference(parse_schedule(kEachLine), parse_schedule(other));
  };
  EXPECT_EQ(difference("stride=1x1", "stride=1x2"), "layer 0 'conv 1/2': conv.stride");
  EXPECT_EQ(difference("x1.alu=sum", "x1.alu=max"), "layer 0 'conv 1/2': sdp.x1.alu");
  EXPECT_EQ(difference("origin=3", "origin=4"), "layer 1 ' 2/2': origin");
  EXPECT_EQ(difference("scale=0.5", "scale=0.25"), "layer 2 'softmax': operation");
  EXPECT_EQ(difference("atom=16", "atom=8"), "layer 2 'softmax': destination: atom");
  EXPECT_EQ(difference("waits 0, 2", "waits 1, 2"), "layer 3 'lrn': waits");
  EXPECT_EQ(difference("lines=3", "lines=4"), "transfer 0: lines");
  EXPECT_EQ(difference("alignment=256", "alignment=128"), "allocation 1: alignment");
  EXPECT_EQ(difference("le_end=64", "le_end=65"), "lut 0: le_end");
  EXPECT_EQ(difference("omitted(128", "omitted(127"), "control");
  EXPECT_EQ(difference("---\nlayer 2", "layer 2"), "segment starts");
}

}  // namespace
}  // namespace nvdla
