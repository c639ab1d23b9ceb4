// SPDX-License-Identifier: MIT
//
// What files say and the hardware does not take: it changes nothing, and refuses nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "unit/loadable/write/round_trip.hpp"

namespace nvdla {
namespace {

using namespace loadable;
using test::random_elements;
using test::saved_file;

using Change = std::function<void(DlaTask&)>;

// The program of a network's file, after a change of its descriptors; it compiles. The device may
// lack features of the configuration.
ConvertedProgram converted(const Network& network, const std::string& configuration,
                           const Change& change, std::uint32_t without = 0) {
  const Container container = parse_container(saved_file(network, configuration));
  Task task = decode_task(container, 0);
  change(std::get<DlaTask>(task.work));
  nvdla_hw hw = *nvdla_hw_find(configuration.c_str());
  hw.features &= ~without;
  ConvertedProgram program = convert_task(container, task, hw);
  check_program(program, hw);
  return program;
}

void expect_unchanged(const Network& network, const std::string& configuration,
                      const Change& change) {
  const auto expected = converted(network, configuration, [](DlaTask&) {}).layers;
  const auto found = converted(network, configuration, change).layers;
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::memcmp(&found[i], &expected[i], sizeof(nvdla_layer)), 0) << "layer " << i;
  }
}

// The n-th operation of a kind.
template <typename Part>
Part& part(DlaTask& task, std::size_t n = 0) {
  for (Operation& operation : task.operations) {
    auto* found = std::get_if<Part>(&operation.part);
    if (found != nullptr && n-- == 0) return *found;
  }
  throw std::out_of_range("no such operation");
}

// A convolution of 3 x 3, in any precision and mode.
struct Layer {
  explicit Layer(Precision precision, std::uint32_t channels = 12)
      : bytes(random_elements<std::int8_t>(20 * channels * 9, 3)),
        words(random_elements<std::int16_t>(bytes.size(), 3)),
        halves(random_elements<std::uint16_t>(bytes.size(), 3)) {
    conv.name = "conv";
    conv.kernels = 20;
    conv.kernel_height = conv.kernel_width = 3;
    conv.pad_left = conv.pad_right = conv.pad_top = conv.pad_bottom = 1;
    if (precision == Precision::kInt8) conv.weights = bytes;
    if (precision == Precision::kInt16) conv.weights = words;
    if (precision == Precision::kFp16) conv.weights = halves;
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  std::vector<std::int8_t> bytes;
  std::vector<std::int16_t> words;
  std::vector<std::uint16_t> halves;
  Convolution conv{};
};

constexpr CvtParam kSomeConverter = {.scale = 5, .truncate = 3, .enable = 1, .offset = 7};

TEST(Unused, ConvertersOfConvolutionsOfHalves) {
  Layer layer(Precision::kFp16);
  Network network;
  const Tensor in = network.input("in", {12, 5, 6}, Precision::kFp16);
  network.output(network.convolution(in, layer.conv), "out");
  expect_unchanged(network, "nv_full", [](DlaTask& task) {
    ConvOp& conv = part<ConvPart>(task).op;
    conv.in_cvt = kSomeConverter;
    conv.out_cvt.truncate = 2;
    part<SdpPart>(task).op.out_cvt = kSomeConverter;
  });
}

// SDP's output and both sides of CDP have converters without a switch.
TEST(Unused, SwitchesOfConvertersThatAreAlwaysOn) {
  const std::vector<std::int16_t> values = {5};
  Network network;
  network.output(
      network.pointwise(
          network.input("in", {20, 5, 6}),
          {.name = "sum", .x1 = bias(values), .output = {.offset = -3, .scale = 77, .shift = 6}}),
      "out");
  expect_unchanged(network, "nv_small",
                   [](DlaTask& task) { part<SdpPart>(task).op.out_cvt.enable = 0; });
  const auto nothing =
      converted(network, "nv_small", [](DlaTask& task) { part<SdpPart>(task).op.out_cvt = {}; });
  EXPECT_EQ(nothing.layers[0].sdp.out_cvt.scale, 1);
  EXPECT_EQ(nothing.layers[0].sdp.out_cvt.offset, 0);
}

TEST(Unused, ShiftOfAnOperatorYWithoutProducts) {
  const std::vector<std::int32_t> values = {5};
  OperatorY y;
  y.alu = NVDLA_ALU_MAX;
  y.alu_values = values;
  Network network;
  network.output(network.pointwise(network.input("in", {20, 5, 6}), {.name = "y", .y = y}), "out");
  expect_unchanged(network, "nv_full",
                   [](DlaTask& task) { part<SdpPart>(task).op.y_op.truncate = 9; });
}

// The units are told of kernels elsewhere.
TEST(Unused, CubeOfTheWeights) {
  for (const Rewrite winograd : {Rewrite::kNever, Rewrite::kAlways}) {
    Layer layer(Precision::kFp16);
    layer.conv.tuning.winograd = winograd;
    Network network;
    const Tensor in = network.input("in", {12, 10, 14}, Precision::kFp16);
    network.output(network.convolution(in, layer.conv), "out");
    // None, as loaded into the buffer, and as it was.
    for (const std::uint16_t side : {0, 4, 3}) {
      expect_unchanged(network, "nv_full", [&](DlaTask& task) {
        ConvPart& conv = part<ConvPart>(task);
        EXPECT_EQ(conv.op.conv_mode == 1, winograd == Rewrite::kAlways);
        conv.surface.weight_data.width = conv.surface.weight_data.height = side;
        conv.surface.weight_data.channel = 0;
      });
    }
  }
  Layer pixels(Precision::kInt8, 4);
  Network network;
  const ImageDesc desc{.format = NVDLA_PIXEL_A8B8G8R8, .width = 9, .height = 9};
  network.output(network.convolution(network.image("in", desc), pixels.conv), "out");
  expect_unchanged(network, "nv_small", [](DlaTask& task) {
    ConvPart& conv = part<ConvPart>(task);
    ASSERT_EQ(conv.op.kernel_width_csc, 1);
    conv.surface.weight_data.width = 1;  // folded into the channels
    conv.surface.weight_data.channel = 12;
  });
}

// Published software rounds weights up to 128 bytes; the device fetches its own entries.
TEST(Unused, RoundingOfTheWeights) {
  Layer layer(Precision::kInt8, 13);
  Network network;
  network.output(network.convolution(network.input("in", {13, 9, 9}), layer.conv), "out");
  for (const char* configuration : {"nv_small", "nv_medium_512", "nv_large"}) {
    expect_unchanged(network, configuration, [](DlaTask& task) {
      DataCube& weights = part<ConvPart>(task).surface.weight_data;
      ASSERT_GE(weights.size, 2340U);  // 20 x 9 x 13, and up to an entry
      ASSERT_LE(weights.size, 2368U);
      weights.size = 2432;
    });
  }
  // But a file that says less, or more, is of other weights.
  for (const std::uint32_t size : {2336U, 2440U}) {
    test::expect_error(ErrorCode::kInvalidProgram,
                       "weights.bytes " + std::to_string(size) + " is not in 2344..2344", [&] {
                         converted(network, "nv_small", [&](DlaTask& task) {
                           part<ConvPart>(task).surface.weight_data.size = size;
                         });
                       });
  }
}

// Banks for a part of the weights: where all of them have to stay, they take free ones.
TEST(Unused, FewerWeightBanksThanAreFree) {
  Layer layer(Precision::kInt8, 64);
  Network network;
  network.output(network.convolution(network.input("in", {64, 9, 9}), layer.conv), "out");
  // 20 kernels of 576 bytes and 128 are three banks.
  const auto change = [&](std::uint8_t data) {
    return [data](DlaTask& task) {
      ConvOp& conv = part<ConvPart>(task).op;
      ASSERT_EQ(conv.weight_bank, 3);
      conv.data_bank = data == 0 ? conv.data_bank : data;
      conv.weight_bank = 2;
    };
  };
  expect_unchanged(network, "nv_small", change(0));
  EXPECT_EQ(converted(network, "nv_small", change(29)).layers[0].conv.weight_banks, 3U);
  test::expect_error(
      ErrorCode::kInvalidProgram,
      "weight_banks 2 do not hold all weights, and this device loses what is freed before the next "
      "convolution starts: 3 are needed, only 2 are left: split the layer",
      [&] { converted(network, "nv_small", change(30)); });
}

// A kernel that does not follow is still seen.
TEST(Unused, NotTheKernelOfTheUnits) {
  Layer layer(Precision::kInt8);
  Network network;
  network.output(network.convolution(network.input("in", {12, 9, 9}), layer.conv), "out");
  test::expect_error(ErrorCode::kInvalidProgram, "weights.bytes 2160 is not in 1440..1440", [&] {
    converted(network, "nv_small",
              [](DlaTask& task) { part<ConvPart>(task).op.kernel_width_csc = 2; });
  });
}

TEST(Unused, OffsetBesideMeansAndMeansOfNoComponent) {
  const std::vector<std::int16_t> mean = {9};
  Layer pixels(Precision::kInt8, 1);
  pixels.conv.input.mean = mean;
  Network network;
  const ImageDesc desc{.format = NVDLA_PIXEL_R8, .width = 9, .height = 9};
  network.output(network.convolution(network.image("in", desc), pixels.conv), "out");
  expect_unchanged(network, "nv_small", [](DlaTask& task) {
    ConvOp& conv = part<ConvPart>(task).op;
    ASSERT_EQ(conv.mean_format, 1);
    conv.in_cvt.offset = 77;
    conv.mean_gu = conv.mean_bv = conv.mean_ax = 5;
  });
}

TEST(Unused, SignsAndMeansOfHalves) {
  Layer pixels(Precision::kFp16, 1);
  Network network;
  const ImageDesc desc{.format = NVDLA_PIXEL_R16_F, .width = 9, .height = 9};
  network.output(network.convolution(network.image("in", desc), pixels.conv), "out");
  expect_unchanged(network, "nv_full", [](DlaTask& task) {
    ConvOp& conv = part<ConvPart>(task).op;
    conv.in_cvt = kSomeConverter;
    conv.pixel_override = conv.mean_format = 1;
    conv.mean_ry = 5;
  });
}

TEST(Unused, UpperBitsOfPaddingOfBytes) {
  Layer layer(Precision::kInt8);
  layer.conv.pad_value = -3;
  Network network;
  network.output(network.convolution(network.input("in", {12, 9, 9}), layer.conv), "out");
  expect_unchanged(network, "nv_small",
                   [](DlaTask& task) { part<ConvPart>(task).op.pad_val = 0xfd; });
}

// More lines than there are, or than come at once.
TEST(Unused, GrainsThatTheHardwareDoesNotTake) {
  Layer layer(Precision::kInt8);
  Network network;
  network.output(network.convolution(network.input("in", {12, 9, 16}), layer.conv), "out");
  const auto grain = [&](std::uint16_t lines, std::uint32_t gap) {
    return converted(network, "nv_small",
                     [&](DlaTask& task) {
                       ConvPart& conv = part<ConvPart>(task);
                       conv.op.fetch_grain = lines;
                       conv.surface.src_data.line_stride += gap;
                       // All in the memory of the cube, over one another.
                       if (gap != 0) conv.surface.src_data.height = 4;
                       if (gap != 0) conv.op.input_height_csc = conv.op.release = 4;
                       if (gap != 0) conv.op.input_height_cmac = 4;
                       if (gap != 0) part<SdpPart>(task).surface.dst_data.height = 4;
                     })
        .layers[0]
        .conv.fetch_grain;
  };
  EXPECT_EQ(grain(9, 0), 9U);
  EXPECT_EQ(grain(10, 0), 9U);
  EXPECT_EQ(grain(4096, 0), 9U);
  EXPECT_EQ(grain(4, 8), 1U);

  Layer pixels(Precision::kInt8, 1);
  Network images;
  const ImageDesc desc{.format = NVDLA_PIXEL_R8, .width = 16, .height = 9};
  images.output(images.convolution(images.image("in", desc), pixels.conv), "out");
  expect_unchanged(images, "nv_small",
                   [](DlaTask& task) { part<ConvPart>(task).op.fetch_grain = 8; });
}

// One position is a run of atoms, of operands, too.
TEST(Unused, StridesOfOnePosition) {
  const auto values = random_elements<std::int16_t>(40, 3);
  Network network;
  const Tensor in = network.input("in", {40, 1, 1});
  network.output(network.pointwise(in, {.name = "sum", .x1 = bias(values), .x2 = scale(values, 4)}),
                 "out");
  for (const char* configuration : {"nv_small", "nv_full"}) {
    expect_unchanged(network, configuration, [](DlaTask& task) {
      SdpPart& sdp = part<SdpPart>(task);
      sdp.op.x1_op.mode = sdp.op.x2_op.mode = NVDLA_OPERAND_ELEMENT;
      sdp.surface.x1_data.surf_stride = sdp.surface.x2_data.surf_stride = 4096;
      sdp.surface.src_data.surf_stride = sdp.surface.dst_data.surf_stride = 8192;
    });
  }
}

// Two convolutions of 64 x 64 weights, which are one bank of nv_small.
struct TwoLayers {
  TwoLayers() {
    Convolution conv{.name = "one", .kernels = 64};
    conv.weights = weights;
    const Tensor in = network.input("in", {64, 5, 5});
    const Tensor between = network.convolution(in, conv);
    conv.name = "two";
    network.output(network.convolution(between, conv), "out");
  }

  // The file says that the second takes the weights of the first.
  std::vector<nvdla_layer> layers(std::uint8_t banks, std::uint8_t skip, std::uint8_t more = 0,
                                  std::uint32_t without = 0) {
    const auto change = [&](DlaTask& task) {
      ConvPart &one = part<ConvPart>(task), &two = part<ConvPart>(task, 1);
      one.op.skip_weight_rls = skip;
      two.op.weight_reuse = 1;
      two.surface.weight_data = one.surface.weight_data;
      one.op.data_bank = two.op.data_bank = 4;
      one.op.weight_bank = banks;
      two.op.weight_bank = static_cast<std::uint8_t>(banks + more);
    };
    return converted(network, "nv_small", change, without).layers;
  }

  std::vector<std::int8_t> weights = random_elements<std::int8_t>(64 * 64, 3);
  Network network;
};

TEST(Unused, ReuseOfWhatWasFreed) {
  TwoLayers file;
  const auto kept = file.layers(2, 1);
  EXPECT_EQ(kept.at(0).conv.flags, std::uint32_t{NVDLA_CONV_KEEP_WEIGHTS});
  EXPECT_EQ(kept.at(1).conv.flags, std::uint32_t{NVDLA_CONV_REUSE_WEIGHTS});
  const auto freed = file.layers(2, 0);
  EXPECT_EQ(freed.at(0).conv.flags, 0U);
  EXPECT_EQ(freed.at(1).conv.flags, 0U);
}

// Which empties the buffer.
TEST(Unused, ReuseAfterAChangeOfBanks) {
  const auto layers = TwoLayers().layers(2, 1, 1);
  EXPECT_EQ(layers.at(0).conv.flags, 0U);
  EXPECT_EQ(layers.at(1).conv.flags, 0U);
}

// Of groups that fill their banks it is not proven that they stay: they are fetched again, or,
// where they have to stay anyhow, both layers take another bank.
TEST(Unused, ReuseOfWeightsThatFillTheirBanks) {
  TwoLayers file;
  const auto streamed = file.layers(1, 1, 0, NVDLA_HW_WEIGHT_GATING);
  EXPECT_EQ(streamed.at(0).conv.flags, 0U);
  EXPECT_EQ(streamed.at(1).conv.flags, 0U);
  EXPECT_EQ(streamed.at(0).conv.weight_banks, 1U);
  const auto stay = file.layers(1, 1);
  EXPECT_EQ(stay.at(0).conv.flags, std::uint32_t{NVDLA_CONV_KEEP_WEIGHTS});
  EXPECT_EQ(stay.at(1).conv.flags, std::uint32_t{NVDLA_CONV_REUSE_WEIGHTS});
  EXPECT_EQ(stay.at(0).conv.weight_banks, 2U);
  EXPECT_EQ(stay.at(1).conv.weight_banks, 2U);
}

// Twenty cubes with the same weights, which the writer fetches again before others have waited for
// too long. A file that reuses them everywhere is legal for the hardware, and not for its users.
TEST(Unused, ReuseForLongerThanALayerMayTakeIsRefused) {
  const auto weights = random_elements<std::int8_t>(std::size_t{8} * 8 * 32 * 32, 5);
  Convolution conv{.name = "conv", .kernels = 8, .kernel_height = 32, .kernel_width = 32};
  conv.weights = weights;
  Network network;
  network.output(network.convolution(network.input("in", {8, 4000, 100, 20}), conv), "out");
  EXPECT_GT(converted(network, "nv_small", [](DlaTask&) {}).layers.size(), 20U);

  std::size_t begins = 0;
  const auto change = [&](DlaTask& task) {
    ConvOp* before = nullptr;
    for (Operation& operation : task.operations) {
      auto* found = std::get_if<ConvPart>(&operation.part);
      if (found == nullptr) continue;
      if (before != nullptr && found->op.data_reuse == 0 && found->op.weight_reuse == 0) {
        before->skip_weight_rls = found->op.weight_reuse = 1;
        ++begins;
      }
      before = &found->op;
    }
  };
  test::expect_error(
      ErrorCode::kInvalidProgram,
      "(conv): flags reuses what layers from 0 on left in the convolution buffer, so nobody else "
      "may "
      "run in between: together they take 5000970880 cycles in the worst case, 5000000000 are "
      "allowed: fetch again instead of reusing",
      [&] { converted(network, "nv_small", change); });
  EXPECT_GT(begins, 0U);
}

// The first of a task finds nothing.
TEST(Unused, ReuseByTheFirst) {
  Layer layer(Precision::kInt8);
  Network network;
  network.output(network.convolution(network.input("in", {12, 9, 9}), layer.conv), "out");
  expect_unchanged(network, "nv_small", [](DlaTask& task) {
    ConvOp& conv = part<ConvPart>(task).op;
    conv.data_reuse = conv.weight_reuse = 1;
  });
}

}  // namespace
}  // namespace nvdla
