// SPDX-License-Identifier: MIT
//
// Graphs as text: what is printed is read as the same graph, field by field.
#include "compiler/graph/graph_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/configurations.hpp"
#include "common/random.hpp"
#include "common/runtime/random_graph.hpp"
#include "compiler/operators/network_impl.hpp"
#include "nvdla/types/error.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using detail::graph_difference;
using detail::parse_graph;
using detail::print_graph;

const Network::Impl& graph_of(const Network& network) { return *detail::Handles::impl(network); }

// Prints and reads a graph, twice.
void expect_round_trip(const detail::Graph& graph) {
  const std::string text = print_graph(graph, {.all_values = true});
  const detail::Graph read = parse_graph(text);
  ASSERT_EQ(graph_difference(graph, read), "") << text;
  ASSERT_EQ(print_graph(read, {.all_values = true}), text);
}

// The text has every field of every node, each with another value than the usual one.
constexpr std::string_view kEachKind =
    R"(graph
lut 0 unit=cdp flags=le_linear|hybrid_lo le_index_offset=-3 le_start=-5 le_end=70 le_underflow.scale=2 le=ramp(0, 7) lo=fill(9)
lut 1 lo_index_select=4 lo_overflow.shift=-2 lo=ramp(65535, 65534)
%0 = input "image" : int8 4x6x8 image={format=T_A8B8G8R8 width=8 height=6 x_offset=1 line_stride=64 line_stride_uv=32 offset_uv=4096}
%1 = input "data" : int8 3x6x8 quantization={scale=0.5 zero_point=3}
%2 = input "planes" quantization={scale=2} : fp16 2x3x4x5 planar memory=sram quantization=none
%8 = tensor : int16 1x1x1 producer=4 read gaps=2 view={whole=12 corner={line=3}} folded_for={kernels=3 weights_place=@1+2} desc={shape=2x3x4x5 precision=fp16 atom=16 line_stride=64 surface_stride=128 batch_stride=256 planar}
%3 = conv "conv1" %0 flags=mean kernels=2 kernel=3x3 stride=2x1 padding=1,0,2,0 pad_value=-3 mean=[1, 2, 3, 4] weights=ramp(0, 91) folding=always batching=auto wanted_post_extension=2 macs=7 : int8 2x3x8
%4 = conv %1 proc_precision=int16 kernels=2 dilation=2x3 groups=3 weights=int16 [1, -2] x1={alu=sum mode=channel alu_shift=4 relu alu_values=[3, 4]} winograd=always interleaving=never winograd_truncate=1 any_order form={winograd={conv={mode=winograd width=8} desc={kernels=2 channels=3 precision=int16 stride_height=2 weight_shift=-1}} folded images=3 kernel_lines=2 line_step=2 blocks=[{kernels=1 channels=1}, {first_kernel=1 kernels=1 first_channel=1 channels=2}] kernels_at_once=4} : int16 2x6x8 memory=sram
%5 = deconv "up" %1 kernel_height=2 stride_width=2 pad_top=1 accumulator_shift=3 nan_to_zero zero_point=-4 weights=ramp(1, 1) sdp=[{x2={mul=prelu mul_values=[5]}}, {}] : int8 1x6x16
%6 = sdp "add" %1, %1 x1={alu=max mul=mul mode=element mul_shift=5 tensor=%1 mul_values=fill(7)} x2={alu=min alu_values=[-1]} y={alu=sum mul=mul mode=channel alu_values=[1, 2, 3] mul_values=[4, 5, 6] alu_converter={offset=1 scale=-2 shift=3} mul_converter={} lut=1} converter={offset=-9 scale=3 shift=9} bounds={min=-5 max=6} processing=int16 nan_to_zero relu_behind_y without_y="say \"why\" \\ \x0a" lut_of_cdp=0 : int8 3x6x8
sdp "equal" %1 y={alu=equal alu_values=[7]}
%7 = pool %1 flags=nan_to_zero method=max kernel=2x3 stride=2x2 padding=0,1,0,1 pad_value=[1, 2, 3, 4, 5, 6, 9] recip=32768x21845 flies : int8 3x3x4
%9 = norm "lrn" %1 flags=bypass_mul window=5 in_cvt.scale=1 out_cvt.offset=-7 lut=1 : int8 3x6x8
%10 = rubik "split" %1 mode=split stride=2x3 : int8 3x6x8 planar quantization=none
%11 = copy %1 absorbed_by=12 : int8 3x6x8
%12 = concat "two" %1, %11 axis=height : int8 3x12x8
%13 = concat "odd" %1, %11 parts=[%11, %1] alignment=16 : int8 6x6x8 quantization={scale=3}
%14 = slice %1 corner={channel=1 line=2 column=3} : int8 2x4x5
%15 = pad %1 corner={line=1} value=-128 : int8 3x7x8
%16 = reshape %1 : int8 1x9x16 read
%17 = upsample %1 scale_height=2 scale_width=3 : int8 3x12x24
%18 = cpu.softmax "s" %1 rounding=loadable output={scale=0.25 zero_point=-9} : int8 3x6x8
%19 = cpu.power %1 input={scale=2 zero_point=0} power=0.1 scale=1e-30 shift=-0.5 : int8 3x6x8
%20 = cpu.table %1 results=ramp(0, 1) : int8 3x6x8
%21 = cpu.layer-normalization %1 epsilon=1e-05 gamma=[1, 2.5, -3] beta=[0.5, 1, 2] : int8 3x6x8
%22 = cpu.product %1, %1 a_zero_point=1 b_zero_point=-2 output_zero_point=3 transposed=true factor=0.3 : int8 48x6x8
%23 = cpu.argmax %1 : int8 1x6x8
%24 = cpu.average "mean" %1 kernel_height=6 stride_width=2 pad_top=1 padding_counts=true pad_value=-7 scaled=true input={scale=1 zero_point=0} output={scale=0.5 zero_point=1} steps=2 addend=1 left_shift=2 factor=3 right_shift=4 addend=5 left_shift=6 factor=7 right_shift=8 sums_on_device : int8 3x1x4
%25 = cpu.reshape %1 : int8 6x3x8
%26 = cpu.transpose %1 axis=1 axis=2 axis=0 : int8 6x8x3
%27 = cpu.instance-normalization %1 epsilon=0.001 gamma=[1, 2.5, -3] beta=[0.5, 1, 2] : int8 3x6x8
output %26 "scores"
output %24 "means" quantization={scale=0.5 zero_point=-1}
)";

TEST(GraphText, EachKindOfNodeIsReadAndPrinted) {
  const detail::Graph graph = parse_graph(kEachKind);
  EXPECT_EQ(print_graph(graph), kEachKind);
  EXPECT_EQ(graph_difference(graph, parse_graph(kEachKind)), "");
}

// A variant that a new kind of node joins, and structures that a new field joins, do not compile
// here before they are in the text above and in compiler/graph/node_fields.hpp.
[[maybe_unused]] void list_members(detail::Graph graph, detail::LayerNode layer) {
  static_assert(std::variant_size_v<decltype(layer.part)> == 13);
  static_assert(std::variant_size_v<decltype(cpu::Operation::kind)> == 10);
  [[maybe_unused]] auto& [tensors, inputs, outputs, layers, luts] = graph;
  [[maybe_unused]] auto& [name, input, output, part, operands, macs, absorbed_by] = layer;
  [[maybe_unused]] auto [shape, precision, image, producer, read, planar, memory, quantization,
                         gaps, view, folded_for, pixel, layout] = detail::TensorNode{};
  [[maybe_unused]] auto [operators, y, converter, bounds, processing, nan, relu_y, without_y, lut] =
      detail::SdpNode{};
  [[maybe_unused]] auto [alu, mul, mode, alus, muls, tensor, alu_shift, mul_shift, relu] =
      detail::OperatorNode{};
  [[maybe_unused]] auto [conv, weights, groups, sdp, tuning, truncate, any_order, form] =
      detail::ConvNode{};
  [[maybe_unused]] auto [folding, pixels, winograd, batch, turns, extension] =
      Convolution::Tuning{};
  [[maybe_unused]] auto [tiles, folded, images, lines, line_step, blocks, at_once] =
      detail::ConvForm{};
  [[maybe_unused]] auto [conv_of_tiles, desc_of_tiles] = detail::WinogradForm{};
  [[maybe_unused]] auto [weights_of_tiles, step_x, step_y, weight_shift] = WinogradDesc{};
  [[maybe_unused]] auto [first_kernel, block_kernels, first_channel, channels] =
      detail::KernelBlock{};
  [[maybe_unused]] auto [whole, corner_of_view] = detail::View{};
  [[maybe_unused]] auto [desc, shift, nan_to_zero, zero_point, kernels, phases] =
      detail::DeconvNode{};
  [[maybe_unused]] auto [of_input, of_weights, sx, sy, pt, pb, pl, pr, eb, er] =
      DeconvolutionDesc{};
  [[maybe_unused]] auto [pdp, flies] = detail::PoolNode{};
  [[maybe_unused]] auto [cdp, lut_of_norm] = detail::NormNode{};
  [[maybe_unused]] auto [rubik] = detail::RubikNode{};
  [[maybe_unused]] auto [axis, parts, alignment] = detail::ConcatNode{};
  [[maybe_unused]] auto [corner_of_slice] = detail::SliceNode{};
  [[maybe_unused]] auto [corner, value] = detail::PadNode{};
  [[maybe_unused]] auto [scale_height, scale_width] = detail::UpsampleNode{};
  [[maybe_unused]] auto [operation, sums_on_device] = detail::CpuNode{};
  static_assert(sizeof(detail::OperatorYNode) == sizeof(detail::OperatorNode) +
                                                     2 * sizeof(std::optional<Converter>) +
                                                     sizeof(std::optional<std::uint32_t>));
  static_assert(std::is_empty_v<detail::CopyNode> && std::is_empty_v<detail::ReshapeNode>);
}

TEST(GraphText, RandomGraphsAreReadAsTheyArePrinted) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed);
    const std::string configuration = test::kConfigurations[seed % test::kConfigurations.size()];
    const DeviceInfo info = configuration_info(configuration);
    const test::RandomGraph graph(random, info);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_round_trip(graph_of(graph.network()));
    if (HasFatalFailure()) return;
  }
}

TEST(GraphText, NamesOfTensorsMayBeWords) {
  const std::string text = R"(
# A comment.
graph
  %image = input "image" : int8 3x4x4   # another one
  %sum = sdp %image x1={
      alu=sum
      alu_values=[1]
  } : int8 3x4x4
  output %sum "sum"
)";
  EXPECT_EQ(print_graph(parse_graph(text)), R"(graph
%0 = input "image" : int8 3x4x4
%1 = sdp %0 x1={alu=sum alu_values=[1]} : int8 3x4x4
output %1 "sum"
)");
}

TEST(GraphText, LongConstantsAreLeftOutUnlessAllAreAskedFor) {
  Network network;
  const auto weights = test::random_values<std::int8_t>(3 * 3 * 9, 5, -127, 127);
  Convolution conv{.name = "conv", .kernels = 3, .kernel_height = 3, .kernel_width = 3};
  conv.weights = std::span<const std::int8_t>(weights);
  network.output(
      network.convolution(network.input("in", {.channels = 3, .height = 5, .width = 5}), conv),
      "out");
  const std::string text = print_graph(graph_of(network));
  const std::size_t at = text.find("weights=omitted(81, 0x");
  ASSERT_NE(at, std::string::npos) << text;
  try {
    parse_graph(text);
    FAIL() << "it was read without its weights";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "line 3, column 50: the text leaves 81 values out: it is read only with the option "
        "that fills them with zeros");
  }
  const detail::Graph filled = parse_graph(text, {.fill_omitted = true});
  EXPECT_EQ(graph_difference(graph_of(network), filled), "layer 0 'conv': weights");
  EXPECT_NE(print_graph(filled).find("weights=fill(0)"), std::string::npos);
  expect_round_trip(graph_of(network));
}

TEST(GraphText, GeneratorsWrapAroundAsTheirElementsDo) {
  const detail::Graph graph = parse_graph(R"(graph
%0 = input "in" : int8 1x8x8
%1 = conv %0 kernels=1 kernel=1x7 weights=ramp(100, 50) : int8 1x8x2
)");
  const auto& conv = std::get<detail::ConvNode>(graph.layers[0].part);
  const std::vector<std::int8_t> expected = {100, -106, -56, -6, 44, 94, -112};
  EXPECT_EQ(std::get<std::vector<std::int8_t>>(*conv.weights), expected);
  EXPECT_NE(print_graph(graph).find(" weights=ramp(100, 50) "), std::string::npos);
}

TEST(GraphText, DifferencesNameTheField) {
  const std::string text = R"(graph
%0 = input "in" : int8 3x4x4
%1 = sdp "sum" %0 x1={alu=sum alu_values=[1]} : int8 3x4x4
output %1 "out"
)";
  const auto difference = [&](std::string_view from, std::string_view to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return graph_difference(parse_graph(text), parse_graph(other));
  };
  EXPECT_EQ(difference("alu=sum", "alu=max"), "layer 0 'sum': x1.alu");
  EXPECT_EQ(difference("[1]", "[2]"), "layer 0 'sum': x1.alu_values");
  EXPECT_EQ(difference("\"sum\"", "\"max\""), "layer 0 'sum': name");
  EXPECT_EQ(difference("\"sum\" %0 x1={alu=sum alu_values=[1]}", "\"sum\" %0 macs=1"),
            "layer 0 'sum': macs");
  EXPECT_EQ(difference("sdp \"sum\" %0 x1={alu=sum alu_values=[1]}", "copy \"sum\" %0"),
            "tensor 1: quantization");
  EXPECT_EQ(difference("[1]} : int8 3x4x4", "[1]} : int8 3x4x4 memory=sram"), "tensor 1: memory");
  EXPECT_EQ(difference("\"in\"", "\"on\""), "input 0: name");
  EXPECT_EQ(difference("output %1 \"out\"\n", ""), "1 outputs, and 0");
}

TEST(GraphText, GraphsOfMissingTensorsAreNotPrinted) {
  detail::Graph graph =
      parse_graph("graph\n%0 = input \"in\" : int8 1x1x1\n%1 = copy %0 : int8 1x1x1");
  graph.layers[0].input = 5;
  EXPECT_THROW(print_graph(graph), Error);
}

}  // namespace
}  // namespace nvdla
