// SPDX-License-Identifier: MIT
//
// Tests requests layer by layer: what is seen of each layer, and the first difference between two
// devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/only_program.hpp"
#include "common/runtime/other_device.hpp"
#include "common/runtime/request_bindings.hpp"
#include "common/runtime/small_program.hpp"
#include "device/compiled_impl.hpp"
#include "device/layer_cuts.hpp"
#include "device/layer_steps.hpp"
#include "nvdla/layer_tensors.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::other_device;

constexpr const char* kModel = "model:nv_small";
const std::vector<std::int16_t> kOne = {1}, kTwo = {2};

std::vector<std::int8_t> numbers(std::size_t count, int step) {
  std::vector<std::int8_t> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<std::int8_t>(static_cast<int>(i) * step % 251 - 125);
  return values;
}

struct Seen {
  LayerTensor tensor;
  std::string layer_name, name;
  std::vector<std::int8_t> elements;
};

// What a visitor is shown, of int8.
class Record {
 public:
  LayerVisitor visitor() {
    return [this](const LayerTensor& t) {
      seen.push_back({t, std::string(t.layer_name), std::string(t.name), {}});
      seen.back().elements.resize(t.desc.shape.elements());
      unpack(t.desc, Layout::kNchw, t.bytes, std::span<std::int8_t>(seen.back().elements));
    };
  }
  std::vector<Seen> seen;
};

std::vector<std::int8_t> output(Request& request, const std::string& name) {
  std::vector<std::int8_t> values(request.network().desc(name).shape.elements());
  request.read(name, Layout::kNchw, values);
  return values;
}

// "in", then "conv" with a pooling on the fly, then "more".
struct Chain {
  explicit Chain(const Device& device) : weights(numbers(12 * 8 * 9, 7)), request(build(device)) {
    request.write("in", Layout::kNchw, numbers(8 * 10 * 12, 3));
  }
  Request build(const Device& device) const {
    Network net;
    Convolution conv{.name = "conv", .kernels = 12, .kernel_height = 3, .kernel_width = 3};
    conv.weights = weights;
    conv.output = {.shift = 9};
    const Tensor a = net.convolution(net.input("in", {8, 10, 12}), conv);
    const Tensor b = net.pooling(a, {.name = "pool",
                                     .kernel_height = 2,
                                     .kernel_width = 2,
                                     .stride_height = 2,
                                     .stride_width = 2});
    net.output(net.pointwise(b, {.name = "more", .x1 = bias(kOne)}), "out", {.scale = 0.5F});
    return net.build(device);
  }
  std::vector<std::int8_t> weights;
  Request request;
};

TEST(VisitLayers, ShowsWhatIsInMemory) {
  Chain chain(Device::open(kModel));
  Record record;
  chain.request.visit_layers(record.visitor());
  ASSERT_EQ(record.seen.size(), 2U);
  EXPECT_EQ(record.seen[0].layer_name, "conv+pool");
  EXPECT_EQ(record.seen[0].tensor.desc.shape, (Shape{12, 4, 5}));
  EXPECT_EQ(record.seen[0].tensor.layer, 0U);
  EXPECT_EQ(record.seen[1].tensor.layer, 1U);
  EXPECT_EQ(record.seen[1].name, "output 'out'");
  EXPECT_EQ(record.seen[1].tensor.quantization.scale, 0.5F);
  // It was no run.
  std::vector<std::int8_t> result(12 * 4 * 5);
  expect_error(ErrorCode::kInvalidArgument, "has not run yet",
               [&] { chain.request.read("out", Layout::kNchw, result); });
  chain.request.run();
  result = output(chain.request, "out");
  EXPECT_EQ(record.seen[1].elements, result);
  for (std::size_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(std::min(record.seen[0].elements[i] + 1, 127), result[i]);
}

TEST(VisitLayers, WhatTheVisitorThrowsEndsIt) {
  Chain chain(Device::open(kModel));
  int calls = 0;
  EXPECT_THROW(chain.request.visit_layers([&](const LayerTensor&) {
    ++calls;
    throw std::runtime_error("enough");
  }),
               std::runtime_error);
  EXPECT_EQ(calls, 1);
}

TEST(CompareLayers, EqualDevicesAreEqual) {
  Chain chain(Device::open(kModel));
  EXPECT_FALSE(chain.request.compare_layers(Device::open("model:nv_small,threads=1")));
  chain.request.run();
  const auto before = output(chain.request, "out");
  EXPECT_FALSE(chain.request.compare_layers(Device::open(kModel)));
  EXPECT_EQ(output(chain.request, "out"), before);
}

// All results but one saturate, with the fault or without.
TEST(CompareLayers, TheFirstElementIsNamedExactly) {
  const Device wrong = other_device(kModel, [](nvdla_layer& layer) {
    if (layer.sdp.x1.alu_value == 2) layer.sdp.x1.alu_value = 3;
  });
  const Shape shape = {.channels = 11, .height = 5, .width = 7};
  Network net;
  const Tensor a = net.pointwise(net.input("in", shape), {.name = "first", .x1 = bias(kOne)});
  net.output(net.pointwise(a, {.name = "second", .x1 = bias(kTwo)}), "out", {.scale = 0.25F});
  Request request = net.build(wrong);
  std::vector<std::int8_t> in(shape.elements(), 127);
  in[(9 * 5 + 3) * 7 + 6] = 4;
  request.write("in", Layout::kNchw, in);
  Record record;
  const auto found = request.compare_layers(Device::open(kModel), record.visitor());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->layer, 1U);
  EXPECT_EQ(found->layer_name, "second");
  EXPECT_EQ(std::vector({found->n, found->c, found->h, found->w}),
            std::vector<std::uint32_t>({0, 9, 3, 6}));
  EXPECT_EQ(found->different, 1U);
  EXPECT_EQ(
      describe(*found),
      "layer 1 'second' (sdp): output 'out' differs at n 0, c 9, h 3, w 6: 0x08 (2), expected "
      "0x07 (1.75); 1 of 385 elements differ");
  // The one that differs is shown, too, as the device has it.
  ASSERT_EQ(record.seen.size(), 2U);
  EXPECT_EQ(record.seen[1].elements[(9 * 5 + 3) * 7 + 6], 8);
}

TEST(CompareLayers, HalvesAreNamedByBitsAndValue) {
  const Device wrong = other_device(
      "model:nv_full", [](nvdla_layer& layer) { layer.sdp.x1.flags |= NVDLA_SDP_RELU; });
  const std::vector<float> one = {1};
  Operator add;
  add.alu = NVDLA_ALU_SUM;
  add.alu_reals = one;
  Network net;
  net.output(net.pointwise(net.input("in", {2, 1, 2}, Precision::kFp16), {.name = "a", .x1 = add}),
             "out");
  Request request = net.build(wrong);
  request.write("in", Layout::kNchw, std::vector<float>{1, 2, 3, -2.5F});
  const auto found = request.compare_layers(Device::open("model:nv_full"));
  ASSERT_TRUE(found);
  EXPECT_EQ(describe(*found),
            "layer 0 'a' (sdp): output 'out' differs at n 0, c 1, h 0, w 1: 0x0000 (0), expected "
            "0xbe00 (-1.5); 1 of 4 elements differ");
}

// The first cube's layer writes two lines, and so the second cube, which is nobody's yet.
TEST(CompareLayers, BytesOutsideOfElementsAreCompared) {
  const Device wrong = other_device(kModel, [](nvdla_layer& layer) {
    if (layer.sdp.output.offset == 0) layer.sdp.height = 2;
  });
  Network net;
  net.output(net.pointwise(net.input("in", {8, 1, 1, 2}), {.name = "a", .x1 = bias(kTwo)}), "out");
  Request request = net.build(wrong);
  const auto found = request.compare_layers(Device::open(kModel));
  ASSERT_TRUE(found);
  EXPECT_EQ(describe(*found),
            "layer 0 'a cube 1/2' (sdp): output 'out' is equal, but not byte 0x8 of its buffer, "
            "outside of all elements: 0x02, expected 0x00; 8 of 16 bytes differ");
}

TEST(CompareLayers, VerdictsOfComparisons) {
  const Device wrong =
      other_device("model:nv_full", [](nvdla_layer& layer) { layer.sdp.y.alu_value = 9; });
  Network net;
  const std::vector<std::int32_t> eight = {8};
  Comparison equal{.name = "equal"};
  equal.values = eight;
  net.compare(net.input("in", {32, 1, 2}), equal);
  Request request = net.build(wrong);
  const std::vector<std::int8_t> in(64, 8);
  request.write("in", Layout::kNchw, in);
  const auto found = request.compare_layers(Device::open("model:nv_full"));
  ASSERT_TRUE(found);
  EXPECT_EQ(describe(*found),
            "layer 0 'equal' (sdp): the comparison finds a difference, expected none");
  EXPECT_FALSE(net.build(Device::open("model:nv_full"))
                   .compare_layers(Device::open("model:nv_full,threads=1")));
}

// Cubes of a batch whose weights stay in the convolution buffer.
TEST(CompareLayers, LayersThatShareTheConvolutionBuffer) {
  const auto weights = numbers(8 * 8, 5);
  Convolution conv{.name = "conv", .kernels = 8};
  conv.weights = weights;
  conv.output = {.shift = 6};
  Network net;
  net.output(net.convolution(net.input("in", {8, 3, 4, 3}), conv), "out");
  const auto in = numbers(3 * 8 * 3 * 4, 7);
  Record record;
  Request good = net.build(Device::open(kModel));
  good.write("in", Layout::kNchw, in);
  ASSERT_EQ(good.network().layers(), 3U);
  EXPECT_FALSE(good.compare_layers(Device::open(kModel), record.visitor()));
  good.run();
  std::vector<std::int8_t> all;
  for (const Seen& seen : record.seen)
    all.insert(all.end(), seen.elements.begin(), seen.elements.end());
  EXPECT_EQ(all, output(good, "out"));

  std::uint64_t second = 0;
  const Device wrong = other_device(kModel, [&](nvdla_layer& layer) {
    if (layer.sdp.output.offset == second) layer.sdp.out_cvt.truncate = 5;
  });
  second = good.network().desc("out").batch_stride;
  Request bad = net.build(wrong);
  bad.write("in", Layout::kNchw, in);
  const auto found = bad.compare_layers(Device::open(kModel));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->layer, 1U);
  EXPECT_EQ(found->layer_name, "conv cube 2/3");
}

// The same with all cubes in one place: each is seen as its layer left it.
TEST(CompareLayers, LayersThatShareTheBufferAndWriteOverEachOther) {
  const auto weights = numbers(8 * 8, 5);
  Convolution conv{.name = "conv", .kernels = 8};
  conv.weights = weights;
  conv.output = {.shift = 6};
  Network net;
  net.output(net.convolution(net.input("in", {8, 3, 4, 3}), conv), "out");
  Request request = net.build(Device::open(kModel));
  request.write("in", Layout::kNchw, numbers(3 * 8 * 3 * 4, 7));
  request.run();
  const auto expected = output(request, "out");

  const CompiledNetwork::Impl& impl = *detail::Handles::impl(request.network());
  detail::ProgramPart part = test::only_program(impl);
  for (nvdla_layer& layer : part.layers) layer.sdp.output.offset = 0;
  const std::vector<detail::LayerStep> steps = {
      detail::ProgramStep{&part, test::request_bindings(request)}};
  const auto cuts = detail::cut_layers(part.desc(), impl.device.info().atom);
  ASSERT_EQ(cuts.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cuts[i].first, 0U);
    EXPECT_EQ(cuts[i].last, i);
    EXPECT_EQ(cuts[i].shown, i);
  }
  Record record;
  const Device reference = Device::open(kModel);
  EXPECT_FALSE(
      detail::LayerRunner(impl.device, &reference, steps, {}).run(record.visitor()).has_value());
  std::vector<std::int8_t> all;
  for (const Seen& seen : record.seen)
    all.insert(all.end(), seen.elements.begin(), seen.elements.end());
  EXPECT_EQ(all, expected);
}

// Convolutions 1 and 4 go together, with what lies between; waits inside of a cut stay.
TEST(CutLayers, RunTogetherWhatSharesTheConvolutionBuffer) {
  std::vector<nvdla_layer> layers(7);
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    nvdla_layer& layer = layers[i];
    const bool conv = i == 1 || i == 4 || i == 6;
    layer.kind = conv ? NVDLA_LAYER_CONV_SDP : NVDLA_LAYER_SDP;
    if (conv) {
      nvdla_conv& c = layer.conv;
      c.width = c.height = c.channels = c.batch = c.kernels = 1;
      c.kernel_width = c.kernel_height = 1;
      c.stride_width = c.stride_height = c.dilation_width = c.dilation_height = 1;
    }
    layer.sdp.width = layer.sdp.height = layer.sdp.channels = 1;
    layer.sdp.output.offset = i * 8;
    layer.num_waits = i == 0 ? 0 : 1;
    layer.waits[0] = i - 1;
  }
  layers[4].conv.flags = NVDLA_CONV_REUSE_WEIGHTS;
  layers[4].num_waits = 2;
  layers[4].waits[0] = 0;
  layers[4].waits[1] = 2;
  const ProgramDesc program = {.layers = layers};
  const auto cuts = detail::cut_layers(program, 8);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const detail::LayerCut& cut : cuts) {
    EXPECT_EQ(cut.shown, cut.first);
    EXPECT_FALSE(cut.again);
    found.emplace_back(cut.first, cut.last);
  }
  EXPECT_EQ(found,
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {1, 4}, {5, 5}, {6, 6}}));
  std::vector<nvdla_layer> room;
  const ProgramDesc part = detail::cut_program(program, cuts[1], room);
  ASSERT_EQ(part.layers.size(), 4U);
  EXPECT_EQ(part.layers[0].num_waits, 0U);
  EXPECT_EQ(part.layers[3].num_waits, 1U);
  EXPECT_EQ(part.layers[3].waits[0], 1U);
  EXPECT_EQ(part.layers[3].waits[1], 0U);
}

TEST(CompareLayers, OnlyWithTheSameConfiguration) {
  Chain chain(Device::open(kModel));
  expect_error(ErrorCode::kNotAvailable,
               "layers are compared on devices of one configuration: the device is nv_small, the "
               "reference nv_full",
               [&] { chain.request.compare_layers(Device::open("model:nv_full")); });
}

TEST(CompareLayers, FailuresNameTheDeviceAndTheLayer) {
  Chain chain(Device::open(kModel));
  const Device refuses = other_device(kModel, [](nvdla_layer& layer) {
    if (layer.kind == NVDLA_LAYER_SDP) layer.sdp.width = 0;
  });
  const auto error =
      expect_error(ErrorCode::kInvalidProgram, "on the reference, model: layer 1 'more'",
                   [&] { chain.request.compare_layers(refuses); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->layer(), 1);
}

TEST(CompareLayers, AHangNamesTheDeviceAndTheLayer) {
  Chain chain(Device::open(kModel));
  const Device real = Device::open(kModel);
  int made = 0;
  const Device hangs = other_device(
      kModel, [](nvdla_layer&) {},
      [&](const Program& program) {
        if (++made == 2) test::break_layer(real, program, 0);
      });
  const auto error = expect_error(ErrorCode::kHang,
                                  "on the reference, model: layer 1 'more', in a program of layers "
                                  "1..1: layer 0 (sdp) does not "
                                  "end",
                                  [&] { chain.request.compare_layers(hangs); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->layer(), 1);
}

}  // namespace
}  // namespace nvdla
