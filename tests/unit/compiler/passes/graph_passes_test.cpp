// SPDX-License-Identifier: MIT
//
// Passes over a graph, one by one: a small graph goes in as text, and the text of the graph that
// comes out is compared.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "common/runtime/expect_error.hpp"
#include "compiler/compile.hpp"
#include "compiler/graph/graph_text.hpp"
#include "compiler/lower/conv.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla {
namespace {

using Pass = detail::Graph (*)(detail::Graph, detail::PassContext&);

// Runs the pass for a device, and expects that it changes so many places of the graph.
void expect_graph(Pass pass, const char* configuration, std::string_view before,
                  std::string_view after, unsigned applied) {
  const DeviceInfo info = configuration_info(configuration);
  const BuildOptions options;
  detail::PassContext context{info, options};
  const detail::Graph graph = pass(detail::parse_graph(before), context);
  EXPECT_EQ(detail::print_graph(graph), after);
  EXPECT_EQ(context.applied, applied);
}

TEST(GraphPasses, PaddingBecomesTheConvolutions) {
  expect_graph(detail::absorb_padding, "nv_small", R"(graph
%0 = input "in" : int8 8x6x6
%1 = pad "pad" %0 corner={line=1 column=2} value=3 : int8 8x8x9
%2 = conv "conv" %1 kernels=8 kernel=3x3 weights=ramp(0, 1) : int8 8x6x7
output %2 "out"
)",
               R"(graph
%0 = input "in" : int8 8x6x6
%1 = pad "pad" %0 corner={line=1 column=2} value=3 absorbed_by=1 : int8 8x8x9 read
%2 = conv "conv" %0 kernels=8 kernel=3x3 padding=1,1,2,1 pad_value=3 weights=ramp(0, 1) : int8 8x6x7
output %2 "out"
)",
               1);
}

TEST(GraphPasses, WinogradIsChosenWhereItTakesFewerSteps) {
  expect_graph(detail::choose_winograd, "nv_full", R"(graph
%0 = input "in" : int8 32x8x8
%1 = conv "conv" %0 kernels=32 kernel=3x3 padding=1,1,1,1 weights=fill(1) winograd=auto : int8 32x8x8
output %1 "out"
)",
               R"(graph
%0 = input "in" : int8 32x8x8
%1 = conv "conv" %0 kernels=32 kernel=3x3 padding=1,1,1,1 weights=fill(1) winograd=auto form={winograd={conv={mode=winograd width=8 height=8 channels=32 batch=1 kernels=32 kernel=3x3 stride=1x1 dilation=1x1 padding=1,3,1,3 post_extension=1 clip_truncate=2} desc={kernels=32 channels=32 kernel_height=3 kernel_width=3 weight_shift=2}}} : int8 32x8x8
output %1 "out"
)",
               1);
}

TEST(GraphPasses, AnInputIsFoldedForItsOnlyReader) {
  expect_graph(detail::fold_inputs, "nv_small", R"(graph
%0 = input "in" : int8 3x32x32
%1 = conv "conv" %0 kernels=8 kernel=3x3 weights=ramp(0, 1) folding=always : int8 8x30x30
output %1 "out"
)",
               R"(graph
%0 = input "in" : int8 3x32x32 folded_for={width=32 height=32 channels=3 batch=1 kernels=8 kernel=3x3 stride=1x1 dilation=1x1 post_extension=1}
%1 = conv "conv" %0 kernels=8 kernel=3x3 weights=ramp(0, 1) folding=always form={folded} : int8 8x30x30
output %1 "out"
)",
               1);
}

TEST(GraphPasses, AnInputOfFewChannelsLiesAsPixels) {
  expect_graph(detail::read_inputs_as_pixels, "nv_small", R"(graph
%0 = input "in" : int8 1x28x28
%1 = conv "conv" %0 kernels=8 kernel=5x5 weights=ramp(0, 1) : int8 8x24x24
output %1 "out"
)",
               R"(graph
%0 = input "in" : int8 1x28x28 pixel=1
%1 = conv "conv" %0 mode=image flags=convert|signed_pixels kernels=8 kernel=5x5 cvt_scale=1 weights=ramp(0, 1) form={kernel_lines=1} : int8 8x24x24
output %1 "out"
)",
               1);
}

TEST(GraphPasses, APoolingFliesThatAloneReadsItsInput) {
  expect_graph(detail::mark_flying_poolings, "nv_small", R"(graph
%0 = input "in" : int8 8x8x8
%1 = sdp "relu" %0 x1={relu} : int8 8x8x8
%2 = pool "pool" %1 method=max kernel=2x2 stride=2x2 : int8 8x4x4
%3 = pool "behind a pooling" %2 method=max kernel=2x2 stride=2x2 : int8 8x2x2
output %3 "out"
)",
               R"(graph
%0 = input "in" : int8 8x8x8
%1 = sdp "relu" %0 x1={relu} : int8 8x8x8
%2 = pool "pool" %1 method=max kernel=2x2 stride=2x2 flies : int8 8x4x4
%3 = pool "behind a pooling" %2 method=max kernel=2x2 stride=2x2 : int8 8x2x2
output %3 "out"
)",
               1);
}

TEST(GraphPasses, GroupsBecomeBlocksOfKernels) {
  expect_graph(detail::cut_groups, "nv_small", R"(graph
%0 = input "in" : int8 32x8x8
%1 = conv "depthwise" %0 kernels=32 kernel=3x3 groups=32 weights=ramp(0, 1) : int8 32x6x6
output %1 "out"
)",
               R"(graph
%0 = input "in" : int8 32x8x8
%1 = conv "depthwise" %0 kernels=32 kernel=3x3 groups=32 weights=ramp(0, 1) form={blocks=[{kernels=16 channels=16}, {first_kernel=16 kernels=16 first_channel=16 channels=16}]} : int8 32x6x6
output %1 "out"
)",
               1);
}

// 49 lines of 49 positions are 300 KiB: of every second line the kernels see 25, of every third 17.
TEST(GraphPasses, LinesThatLieTooFarApartAreTakenInSteps) {
  constexpr std::string_view kFar = R"(graph
%0 = input "in" : int8 128x49x49
%1 = conv "far" %0 kernels=8 kernel=3x3 dilation=24x24 padding=24,24,24,24 weights=fill(1) : int8 8x49x49
output %1 "out"
)";
  expect_graph(detail::step_lines, "nv_small", kFar, R"(graph
%0 = input "in" : int8 128x49x49
%1 = conv "far" %0 kernels=8 kernel=3x3 dilation=24x24 padding=24,24,24,24 weights=fill(1) form={line_step=3} : int8 8x49x49
output %1 "out"
)",
               1);
  expect_graph(detail::step_lines, "nv_full", kFar, kFar, 0);
}

// One line of padding above: the first of two layers reads lines 1, 3, ... 47 and the second one
// lines 0, 2, ... 48.
TEST(LineSteps, TheTallestLayerNeedNotBeTheFirst) {
  detail::ConvNode node;
  nvdla_conv& conv = node.conv;
  conv.width = 4;
  conv.height = 49;
  conv.channels = 128;
  conv.batch = 1;
  conv.kernels = 8;
  conv.kernel_width = conv.stride_width = conv.stride_height = conv.dilation_width = 1;
  conv.kernel_height = 3;
  conv.dilation_height = 24;
  conv.pad_top = 1;
  node.form.line_step = 2;
  const auto parts = detail::cut_into_steps(conv, 2);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].conv.height, 24U);
  EXPECT_EQ(detail::tallest_layer(node).height, 25U);
}

TEST(GraphPasses, KernelsThatFillTheBufferAreCut) {
  expect_graph(detail::cut_kernels, "nv_small", R"(graph
%0 = input "in" : int8 2048x3x3
%1 = conv "fc" %0 kernels=8 kernel=3x3 weights=fill(0) : int8 8x1x1
output %1 "out"
)",
               R"(graph
%0 = input "in" : int8 2048x3x3
%1 = conv "fc" %0 kernels=8 kernel=3x3 weights=fill(0) form={kernels_at_once=6} : int8 8x1x1
output %1 "out"
)",
               1);
}

constexpr std::string_view kParts = R"(graph
%0 = input "in" : int8 8x4x4
%1 = conv "a" %0 kernels=4 weights=fill(1) : int8 4x4x4
%2 = conv "b" %0 kernels=6 weights=fill(1) : int8 6x4x4
%3 = concat "both" %1, %2 : int8 10x4x4
%4 = pool "pool" %3 method=max kernel=2x2 stride=2x2 : int8 10x2x2
%5 = conv "c" %4 kernels=1 weights=ramp(1, 1) : int8 1x2x2
output %5 "out"
)";

TEST(GraphPasses, PartsBeginAtoms) {
  expect_graph(detail::align_parts, "nv_small", kParts, R"(graph
%0 = input "in" : int8 8x4x4
%1 = conv "a" %0 kernels=4 weights=fill(1) : int8 4x4x4
%2 = conv "b" %0 kernels=6 weights=fill(1) : int8 6x4x4
%3 = concat "both" %1, %2 alignment=8 : int8 14x4x4 gaps=4
%4 = pool "pool" %3 method=max kernel=2x2 stride=2x2 : int8 14x2x2 gaps=4
%5 = conv "c" %4 kernels=1 weights=[1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 9, 10] macs=40 : int8 1x2x2
output %5 "out"
)",
               1);
}

TEST(GraphPasses, TheUserKnowsNothingOfGaps) {
  const DeviceInfo info = configuration_info("nv_small");
  const BuildOptions options;
  detail::PassContext context{info, options};
  const detail::Graph before = detail::parse_graph(kParts);
  const detail::UserNetwork user = detail::user_network(detail::align_parts(before, context), {});
  ASSERT_EQ(context.applied, 1U);
  for (std::size_t i = 0; i < before.layers.size(); ++i) {
    EXPECT_EQ(user.layers[i].input, before.tensors[before.layers[i].input].shape) << i;
    EXPECT_EQ(user.layers[i].output, before.tensors[before.layers[i].output].shape) << i;
  }
}

TEST(GraphPasses, PartsAreWrittenWhereTheyBelong) {
  expect_graph(detail::place_views, "nv_small", R"(graph
%0 = input "in" : int8 8x4x4
%1 = sdp "a" %0 : int8 8x4x4
%2 = sdp "b" %0 : int8 8x4x4
%3 = concat "both" %1, %2 : int8 16x4x4
%4 = slice "upper" %3 corner={channel=8} : int8 8x4x4
%5 = sdp "c" %4 : int8 8x4x4
output %5 "out"
)",
               R"(graph
%0 = input "in" : int8 8x4x4
%1 = sdp "a" %0 : int8 8x4x4 view={whole=3}
%2 = sdp "b" %0 : int8 8x4x4 view={whole=3 corner={channel=8}}
%3 = concat "both" %1, %2 : int8 16x4x4
%4 = slice "upper" %3 corner={channel=8} : int8 8x4x4 view={whole=3 corner={channel=8}}
%5 = sdp "c" %4 : int8 8x4x4
output %5 "out"
)",
               3);
}

TEST(GraphPasses, TensorsGetStrides) {
  expect_graph(detail::lay_out_tensors, "nv_small", R"(graph
%0 = input "in" : int8 12x4x5
%1 = sdp "a" %0 : int8 12x4x5
output %1 "out"
)",
               R"(graph
%0 = input "in" : int8 12x4x5 desc={shape=12x4x5 atom=8 line_stride=40 surface_stride=160}
%1 = sdp "a" %0 : int8 12x4x5 desc={shape=12x4x5 atom=8 line_stride=40 surface_stride=160}
output %1 "out"
)",
               2);
}

// A MiB of weights does not stay in the buffer, so each image by itself would fetch them again.
TEST(GraphPasses, AConvolutionTakesImagesThatShareItsWeights) {
  expect_graph(detail::choose_images, "nv_full", R"(graph
%0 = input "in" : int8 4x1024x1x1
%1 = conv "fc" %0 kernels=1024 weights=fill(1) batching=auto : int8 4x1024x1x1
output %1 "out"
)",
               R"(graph
%0 = input "in" : int8 4x1024x1x1
%1 = conv "fc" %0 kernels=1024 weights=fill(1) batching=auto form={images=4} : int8 4x1024x1x1
output %1 "out"
)",
               1);
}

// The multipliers take 64 channels a step, and a kernel line has three positions of three: four
// lines (1, 2 and 4 exist) are 36 of them, so the whole kernel takes one step.
TEST(GraphPasses, KernelLinesOfImagesLieSideBySide) {
  expect_graph(detail::choose_kernel_lines, "nv_full", R"(graph
%0 = input "image" : int8 3x8x8 image={format=T_B8G8R8X8 width=8 height=8 line_stride=32}
%1 = conv "conv" %0 kernels=8 kernel=3x3 weights=fill(1) : int8 8x6x6
output %1 "out"
)",
               R"(graph
%0 = input "image" : int8 3x8x8 image={format=T_B8G8R8X8 width=8 height=8 line_stride=32}
%1 = conv "conv" %0 kernels=8 kernel=3x3 weights=fill(1) form={kernel_lines=4} : int8 8x6x6
output %1 "out"
)",
               1);
}

// Sums of 16 elements are a depthwise convolution with weights of one, divided by 16 as 2^30 /
// 2^34.
TEST(GraphPasses, SumsOfTheProcessorMoveToTheDevice) {
  expect_graph(detail::expand_cpu_layers, "nv_full", R"(graph
%0 = input "in" : int8 8x4x4
%1 = cpu.average "mean" %0 kernel_height=4 kernel_width=4 stride_height=4 stride_width=4 sums_on_device : int8 8x1x1
output %1 "out"
)",
               R"(graph
%0 = input "in" : int8 8x4x4
%2 = conv "mean step 1/2" %0 kernels=8 kernel=4x4 groups=8 weights=fill(1) y={mul=mul mul_shift=34 mul_values=[1073741824]} : int16 8x1x1
%1 = sdp "mean step 2/2" %2 bounds={min=-2147483648 max=2147483647} processing=int8 : int8 8x1x1
output %1 "out"
)",
               1);
}

// A text may ask for what add_average() never does: windows of different sizes, or a padding value.
TEST(GraphPasses, SumsThatTheDeviceCannotTakeAreNamed) {
  for (const std::string window : {"kernel_height=3 kernel_width=3 pad_top=1",
                                   "kernel_height=4 kernel_width=4 padding_counts pad_value=7"}) {
    const std::string text =
        "graph\n%0 = input \"in\" : int8 8x4x4\n%1 = cpu.average \"mean\" %0 " + window +
        " sums_on_device : int8 8x3x2\noutput %1 \"out\"\n";
    const DeviceInfo info = configuration_info("nv_full");
    const BuildOptions options;
    detail::PassContext context{info, options};
    test::expect_error(ErrorCode::kInvalidArgument, "layer 'mean': sums_on_device: ", [&] {
      detail::expand_cpu_layers(detail::parse_graph(text), context);
    });
  }
}

}  // namespace
}  // namespace nvdla
