// SPDX-License-Identifier: MIT
//
// Passes over a schedule, one by one: the text of the schedule that comes out is compared. Bands,
// images and poolings begin with a graph, whose layers were lowered; waits begin with a schedule.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/graph_text.hpp"
#include "compiler/lower/lowering.hpp"
#include "compiler/lower/schedule_text.hpp"
#include "compiler/passes/passes.hpp"
#include "compiler/passes/pipeline.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla {
namespace {

using SchedulePass = detail::Schedule (*)(detail::Schedule, const detail::Graph&,
                                          detail::PassContext&);

// Returns the layers of a schedule as text, without allocations, after passes of which the last
// one changes so many places.
std::string layers_after(std::initializer_list<SchedulePass> passes, const DeviceInfo& info,
                         const detail::Graph& graph, detail::Schedule schedule, unsigned applied) {
  const BuildOptions options;
  std::uint32_t last = 0;
  for (const SchedulePass pass : passes) {
    detail::PassContext context{info, options};
    schedule = pass(std::move(schedule), graph, context);
    last = context.applied;
  }
  EXPECT_EQ(last, applied);
  schedule.allocations.clear();
  return detail::print_schedule({std::move(schedule), {}});
}

// The same of the layers that a graph is lowered to.
std::string lowered(std::initializer_list<SchedulePass> passes, const char* configuration,
                    std::string_view text, unsigned applied) {
  const DeviceInfo info = configuration_info(configuration);
  std::vector<PassReport> reports;
  const detail::Graph graph = detail::run_passes(detail::parse_graph(text), info, {}, reports);
  detail::Lowering lowering(graph, info);
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) lowering.lower_layer(i);
  return layers_after(passes, info, graph, std::move(lowering).take(), applied);
}

// Layer 2 waits for the later of two that end with SDP. The layer of the processor waits by itself.
TEST(SchedulePasses, LayersWaitOnceForEachUnit) {
  const detail::ScheduleWithLuts before = detail::parse_schedule(R"(schedule
layer 0 "a" conv+sdp
layer 1 "b" conv+sdp
  operation after=[0]
layer 2 "c" pdp
  operation after=[0, 1]
layer 3 "d" conv+sdp
  operation after=[2, 1]
---
layer 4 "softmax" cpu
  operation after=[3]
  softmax
  source @0[line_stride=8] : int8 8x1x1
  destination @1[line_stride=8] : int8 8x1x1
)");
  EXPECT_EQ(
      layers_after({detail::set_waits}, configuration_info("nv_small"), {}, before.schedule, 4),
      R"(schedule
layer 0 "a" conv+sdp
layer 1 "b" conv+sdp waits 0
  operation after=[0]
layer 2 "c" pdp waits 1
  operation after=[0, 1]
layer 3 "d" conv+sdp waits 2, 1
  operation after=[2, 1]
---
layer 4 "softmax" cpu
  operation after=[3]
  softmax
  source @0[line_stride=8] : int8 8x1x1
  destination @1[line_stride=8] : int8 8x1x1
)");
}

// 64 lines of 32 positions of 64 bytes are 128 KiB, all that the buffer of nv_small has, and its
// kernels take banks, too.
constexpr std::string_view kTall = R"(graph
%0 = input "in" : int8 64x64x32
%1 = conv "conv" %0 kernels=8 kernel=3x3 weights=fill(1) : int8 8x62x30
output %1 "out"
)";

// Each band makes 31 of 62 lines of 33 lines of input; the two that both read stay in the buffer,
// as the kernels do.
TEST(SchedulePasses, AConvolutionThatDoesNotFitIsCutIntoBands) {
  EXPECT_EQ(lowered({detail::cut_bands}, "nv_small", kTall, 1), R"(schedule
layer 0 "conv 1/2" conv+sdp
  operation macs=4285440
  conv flags=keep_weights width=32 height=33 channels=64 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=1x1 data_banks=17 weight_banks=2 release=31 post_extension=1 input=@0[line_stride=256 surface_stride=16384] weights=@2
  sdp out_cvt.scale=1 output=@1[line_stride=240 surface_stride=14880]
layer 1 "conv 2/2" conv+sdp
  operation macs=4285440
  conv flags=reuse_data|reuse_weights width=32 height=33 channels=64 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=1x1 data_banks=17 weight_banks=2 post_extension=1 input=@0+7936[line_stride=256 surface_stride=16384] weights=@2
  sdp out_cvt.scale=1 output=@1+7440[line_stride=240 surface_stride=14880]
)");
}

TEST(SchedulePasses, AConvolutionThatFitsStaysWhole) {
  EXPECT_EQ(lowered({detail::cut_bands}, "nv_full", kTall, 0), R"(schedule
layer 0 "conv" conv+sdp
  operation macs=8570880 whole
  conv width=32 height=64 channels=64 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=1x1 data_banks=4 weight_banks=1 post_extension=1 input=@0[line_stride=1024 surface_stride=65536] weights=@2
  sdp out_cvt.scale=1 output=@1[line_stride=960 surface_stride=59520]
)");
}

// Three lines of 100 positions are 153,600 bytes, more than the buffer of nv_small has. Two parts
// read two columns both.
TEST(SchedulePasses, AConvolutionOfLongLinesIsCutInWidth) {
  EXPECT_EQ(lowered({detail::cut_columns}, "nv_small", R"(graph
%0 = input "in" : int8 512x4x100
%1 = conv "conv" %0 kernels=8 kernel=3x3 padding=0,0,1,1 weights=fill(1) : int8 8x2x100
output %1 "out"
)",
                    1),
            R"(schedule
layer 0 "conv columns 1/2" conv+sdp
  operation macs=3686400
  conv width=51 height=4 channels=512 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=1x1 padding=0,0,1,0 post_extension=1 input=@0[line_stride=800 surface_stride=3200] weights=@2
  sdp out_cvt.scale=1 output=@1[line_stride=800 surface_stride=1600]
layer 1 "conv columns 2/2" conv+sdp
  operation macs=3686400
  conv width=51 height=4 channels=512 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=1x1 padding=0,0,0,1 post_extension=1 input=@0+392[line_stride=800 surface_stride=3200] weights=@2
  sdp out_cvt.scale=1 output=@1+400[line_stride=800 surface_stride=1600]
)");
}

// Surfaces have room for 51 lines, so that each layer steps over whole ones.
TEST(SchedulePasses, LayersTakeEveryThirdLine) {
  EXPECT_EQ(lowered({}, "nv_small", R"(graph
%0 = input "in" : int8 128x49x49
%1 = conv "far" %0 kernels=8 kernel=3x3 dilation=24x24 padding=24,24,24,24 weights=fill(1) : int8 8x49x49
output %1 "out"
)",
                    0),
            R"(schedule
layer 0 "far lines 1/3" conv+sdp
  operation macs=7676928
  conv width=49 height=17 channels=128 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=8x24 padding=8,8,24,24 post_extension=1 input=@0[line_stride=1176 surface_stride=19992] weights=@2
  sdp out_cvt.scale=1 output=@1[line_stride=1176 surface_stride=19992]
layer 1 "far lines 2/3" conv+sdp
  operation macs=7225344
  conv width=49 height=16 channels=128 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=8x24 padding=8,8,24,24 post_extension=1 input=@0+392[line_stride=1176 surface_stride=19992] weights=@2
  sdp out_cvt.scale=1 output=@1+392[line_stride=1176 surface_stride=19992]
layer 2 "far lines 3/3" conv+sdp
  operation macs=7225344
  conv width=49 height=16 channels=128 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=8x24 padding=8,8,24,24 post_extension=1 input=@0+784[line_stride=1176 surface_stride=19992] weights=@2
  sdp out_cvt.scale=1 output=@1+784[line_stride=1176 surface_stride=19992]
)");
}

// Returns the lines of a schedule that name a layer, and what it waits for.
std::string order_of(const std::string& schedule) {
  std::istringstream lines(schedule);
  std::string order;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("layer ")) order += line + "\n";
  return order;
}

// Both bands of a layer of 3x3 read lines of both bands before.
TEST(SchedulePasses, BandsOfALayerAreComputedFromLinesOfTheirOwn) {
  EXPECT_EQ(lowered({detail::interleave_bands, detail::cut_bands, detail::set_waits}, "nv_full",
                    R"(graph
%0 = input "in" : int8 64x16x16
%1 = conv "narrow" %0 kernels=32 kernel=1x1 weights=fill(1) interleaving=always : int8 32x16x16
%2 = conv "same" %1 kernels=32 kernel=3x3 padding=1,1,1,1 weights=fill(1) interleaving=always : int8 32x16x16
output %2 "out"
)",
                    2),
            R"(schedule
layer 0 "narrow 1/2" conv+sdp
  operation macs=262144 cut
  conv flags=keep_weights width=16 height=8 channels=64 batch=1 kernels=32 kernel=1x1 stride=1x1 dilation=1x1 data_banks=15 weight_banks=1 post_extension=1 input=@0[line_stride=512 surface_stride=8192] weights=@3
  sdp out_cvt.scale=1 output=@1[line_stride=512 surface_stride=8192]
layer 1 "narrow 2/2" conv+sdp
  operation macs=262144 cut
  conv flags=reuse_weights width=16 height=8 channels=64 batch=1 kernels=32 kernel=1x1 stride=1x1 dilation=1x1 data_banks=15 weight_banks=1 post_extension=1 input=@0+4096[line_stride=512 surface_stride=8192] weights=@3
  sdp out_cvt.scale=1 output=@1+4096[line_stride=512 surface_stride=8192]
layer 2 "same 1/2" conv+sdp waits 1
  operation macs=1179648 origin=1 cut after=[1]
  conv flags=keep_weights width=16 height=9 channels=32 batch=1 kernels=32 kernel=3x3 stride=1x1 dilation=1x1 padding=1,0,1,1 data_banks=15 weight_banks=1 post_extension=1 input=@1[line_stride=512 surface_stride=8192] weights=@4
  sdp out_cvt.scale=1 output=@2[line_stride=512 surface_stride=8192]
layer 3 "same 2/2" conv+sdp waits 1
  operation macs=1179648 origin=1 cut after=[1]
  conv flags=reuse_weights width=16 height=9 channels=32 batch=1 kernels=32 kernel=3x3 stride=1x1 dilation=1x1 padding=0,1,1,1 data_banks=15 weight_banks=1 post_extension=1 input=@1+3584[line_stride=512 surface_stride=8192] weights=@4
  sdp out_cvt.scale=1 output=@2+4096[line_stride=512 surface_stride=8192]
)");
}

// A residual block of ResNet-50, which the logic computes in 34,866 cycles in four bands, in 41,212
// whole. A band of 3x3 waits for the band behind its own; between a band and what it reads there
// are always others.
constexpr std::string_view kBlock = R"(graph
%0 = input "in" : int8 256x28x28
%1 = conv "narrow" %0 kernels=64 kernel=1x1 weights=fill(1) : int8 64x28x28
%2 = conv "same" %1 kernels=64 kernel=3x3 padding=1,1,1,1 weights=fill(1) : int8 64x28x28
%3 = conv "wide" %2 kernels=256 kernel=1x1 weights=fill(1) : int8 256x28x28
output %3 "out"
)";

TEST(SchedulePasses, BandsOfNeighboursTakeTurns) {
  EXPECT_EQ(order_of(lowered({detail::interleave_bands, detail::set_waits}, "nv_full", kBlock, 10)),
            R"(layer 0 "narrow 1/5" conv+sdp
layer 1 "narrow 2/5" conv+sdp
layer 2 "narrow 3/5" conv+sdp
layer 3 "same 1/5" conv+sdp waits 1
layer 4 "narrow 4/5" conv+sdp
layer 5 "same 2/5" conv+sdp waits 2
layer 6 "wide 1/5" conv+sdp waits 3
layer 7 "narrow 5/5" conv+sdp
layer 8 "same 3/5" conv+sdp waits 4
layer 9 "wide 2/5" conv+sdp waits 5
layer 10 "same 4/5" conv+sdp waits 7
layer 11 "wide 3/5" conv+sdp waits 8
layer 12 "same 5/5" conv+sdp waits 7
layer 13 "wide 4/5" conv+sdp waits 10
layer 14 "wide 5/5" conv+sdp waits 12
)");
}

TEST(SchedulePasses, PoolingsTakeTurnsWithConvolutions) {
  EXPECT_EQ(order_of(lowered({detail::interleave_bands, detail::set_waits}, "nv_full", R"(graph
%0 = input "in" : int8 64x24x24
%1 = conv "conv" %0 kernels=64 kernel=3x3 padding=1,1,1,1 weights=fill(1) : int8 64x24x24
%2 = pool "pool" %1 method=max kernel=3x3 stride=1x1 padding=1,1,1,1 : int8 64x24x24
%3 = conv "next" %2 kernels=64 kernel=1x1 weights=fill(1) : int8 64x24x24
output %1 "sums"
output %3 "out"
)",
                             10)),
            R"(layer 0 "conv 1/5" conv+sdp
layer 1 "conv 2/5" conv+sdp
layer 2 "conv 3/5" conv+sdp
layer 3 "conv 4/5" conv+sdp
layer 4 "pool 1/5" pdp waits 1
layer 5 "conv 5/5" conv+sdp
layer 6 "pool 2/5" pdp waits 2
layer 7 "pool 3/5" pdp waits 3
layer 8 "next 1/5" conv+sdp waits 4
layer 9 "pool 4/5" pdp waits 5
layer 10 "next 2/5" conv+sdp waits 6
layer 11 "pool 5/5" pdp waits 5
layer 12 "next 3/5" conv+sdp waits 7
layer 13 "next 4/5" conv+sdp waits 9
layer 14 "next 5/5" conv+sdp waits 11
)");
}

// Bands of different layers gain nothing if convolutions wait for the one before. Bands of one
// layer gain if they cut its lines into fewer stripes.
TEST(SchedulePasses, LayersTakeNoTurnsWhereConvolutionsWaitForTheOneBefore) {
  EXPECT_EQ(order_of(lowered({detail::interleave_bands}, "nv_small", kBlock, 1)),
            R"(layer 0 "narrow" conv+sdp
layer 1 "same" conv+sdp
layer 2 "wide 1/5" conv+sdp
layer 3 "wide 2/5" conv+sdp
layer 4 "wide 3/5" conv+sdp
layer 5 "wide 4/5" conv+sdp
layer 6 "wide 5/5" conv+sdp
)");
}

// All weights are in the buffer, so the second image finds them there.
TEST(SchedulePasses, EachImageOfABatchIsALayer) {
  EXPECT_EQ(lowered({detail::cut_bands, detail::cut_images}, "nv_small", R"(graph
%0 = input "in" : int8 2x8x6x6
%1 = conv "conv" %0 kernels=8 kernel=3x3 weights=fill(1) : int8 2x8x4x4
output %1 "out"
)",
                    1),
            R"(schedule
layer 0 "conv" conv+sdp
  operation suffix=" cube 1/2" macs=9216 whole
  conv flags=keep_weights width=6 height=6 channels=8 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=1x1 data_banks=1 weight_banks=1 post_extension=1 input=@0[line_stride=48 surface_stride=288] weights=@2
  sdp out_cvt.scale=1 output=@1[line_stride=32 surface_stride=128]
layer 1 "conv" conv+sdp
  operation suffix=" cube 2/2" macs=9216 whole
  conv flags=reuse_weights width=6 height=6 channels=8 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=1x1 data_banks=1 weight_banks=1 post_extension=1 input=@0+288[line_stride=48 surface_stride=288] weights=@2
  sdp out_cvt.scale=1 output=@1+128[line_stride=32 surface_stride=128]
)");
}

TEST(SchedulePasses, APoolingBecomesPartOfTheLayerBefore) {
  EXPECT_EQ(lowered({detail::fuse_poolings}, "nv_small", R"(graph
%0 = input "in" : int8 8x8x8
%1 = conv "conv" %0 kernels=8 kernel=1x1 weights=fill(1) : int8 8x8x8
%2 = pool "pool" %1 method=max kernel=2x2 stride=2x2 : int8 8x4x4
output %2 "out"
)",
                    1),
            R"(schedule
layer 0 "conv" conv+sdp+pdp
  operation suffix="+pool" macs=4096 whole fused=[1]
  conv width=8 height=8 channels=8 batch=1 kernels=8 kernel=1x1 stride=1x1 dilation=1x1 post_extension=1 input=@0[line_stride=64 surface_stride=512] weights=@3
  sdp out_cvt.scale=1
  pdp method=max kernel=2x2 stride=2x2 bands=1 output=@2[line_stride=32 surface_stride=128]
)");
}

// The output of the convolution is read by two, so it has to be written.
TEST(SchedulePasses, APoolingBesideAnotherReaderStaysALayer) {
  EXPECT_EQ(lowered({detail::fuse_poolings}, "nv_small", R"(graph
%0 = input "in" : int8 8x8x8
%1 = conv "conv" %0 kernels=8 kernel=1x1 weights=fill(1) : int8 8x8x8
%2 = pool "pool" %1 method=max kernel=2x2 stride=2x2 : int8 8x4x4
output %1 "whole"
output %2 "out"
)",
                    0),
            R"(schedule
layer 0 "conv" conv+sdp
  operation macs=4096 whole
  conv width=8 height=8 channels=8 batch=1 kernels=8 kernel=1x1 stride=1x1 dilation=1x1 post_extension=1 input=@0[line_stride=64 surface_stride=512] weights=@3
  sdp out_cvt.scale=1 output=@1[line_stride=64 surface_stride=512]
layer 1 "pool" pdp
  operation origin=1 whole after=[0]
  pdp method=max width=8 height=8 channels=8 kernel=2x2 stride=2x2 bands=1 input=@1[line_stride=64 surface_stride=512] output=@2[line_stride=32 surface_stride=128]
)");
}

}  // namespace
}  // namespace nvdla
