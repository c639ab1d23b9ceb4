// SPDX-License-Identifier: MIT
//
// Rules of the compiler that networks can break, each in the words of who made the network: layers,
// tensors and tables by name, and no word of slots.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/only_program.hpp"
#include "compiler/lower/user_fields.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {
namespace {

const std::vector<std::int8_t> kWeights(8 * 8 * 9, 1);
const std::vector<std::int16_t> kOne = {1};

Convolution conv(std::uint32_t size = 1) {
  Convolution c{.name = "filter", .kernels = 8, .kernel_height = size, .kernel_width = size};
  c.weights = std::span(kWeights).first(std::size_t{64} * size * size);
  return c;
}

// Valid but for what a case changes.
nvdla_lut table(nvdla_lut_unit unit) {
  nvdla_lut lut = {};
  lut.unit = unit;
  lut.le_start = lut.lo_start = 0;
  lut.le_end = 64;
  lut.lo_end = 256;
  return lut;
}

struct Broken {
  std::string name;
  const char* device;
  nvdla_rule rule;
  std::string text;  // which the message contains
  // Adds layers behind the input "in" of 8x4x4; the output is "out" unless there is none.
  std::function<Tensor(Network&, Tensor)> add;
};

std::ostream& operator<<(std::ostream& out, const Broken& broken) { return out << broken.name; }

template <typename Change>
auto with_conv(const Change& change, std::uint32_t size = 1) {
  return [=](Network& net, Tensor in) {
    Convolution c = conv(size);
    change(c);
    return net.convolution(in, c);
  };
}

template <typename Change>
auto with_pointwise(const Change& change) {
  return [=](Network& net, Tensor in) {
    Pointwise p{.name = "point"};
    change(p);
    return net.pointwise(in, p);
  };
}

template <typename Change>
auto with_table(nvdla_lut_unit unit, const Change& change) {
  return [=](Network& net, Tensor in) {
    nvdla_lut lut = table(unit);
    change(lut);
    // The first table is right, the second layer has the wrong one.
    const nvdla_lut right = table(unit);
    if (unit == NVDLA_LUT_CDP) {
      in = net.normalization(in, {.name = "before", .lut = &right});
      return net.normalization(in, {.name = "lrn", .lut = &lut});
    }
    Pointwise p{.name = "before"};
    p.y.lut = &right;
    in = net.pointwise(in, p);
    p.name = "curve";
    p.y.lut = &lut;
    return net.pointwise(in, p);
  };
}

const std::vector<Broken>& cases() {
  static const std::vector<Broken> kCases = {
      {"accumulator_shift", "nv_small", NVDLA_RULE_RANGE,
       "layer 0 'filter' (conv): arithmetic.accumulator_shift 17 ",
       with_conv([](Convolution& c) { c.arithmetic.accumulator_shift = 17; })},
      {"pad_value", "nv_small", NVDLA_RULE_RANGE, "layer 0 'filter' (conv): pad_value 1000",
       with_conv(
           [](Convolution& c) {
             c.pad_left = c.pad_right = c.pad_top = c.pad_bottom = 1;
             c.pad_value = 1000;
           },
           3)},
      {"converter", "nv_small", NVDLA_RULE_RANGE, "layer 0 'filter' (sdp): output.shift 64",
       with_conv([](Convolution& c) { c.output.shift = 64; })},
      {"alu_shift", "nv_small", NVDLA_RULE_RANGE, "layer 0 'point' (sdp): x1.alu_shift 64",
       with_pointwise([](Pointwise& p) { p.x1 = bias(kOne, 64); })},
      {"mul_shift", "nv_small", NVDLA_RULE_RANGE, "layer 0 'point' (sdp): x2.mul_shift 64",
       with_pointwise([](Pointwise& p) { p.x2 = scale(kOne, 64); })},
      {"y_shift", "nv_full", NVDLA_RULE_RANGE, "layer 0 'point' (sdp): y.mul_shift 1024",
       with_pointwise([](Pointwise& p) {
         static const std::vector<std::int32_t> kFactor = {3};
         p.y.mul = NVDLA_MUL_MUL;
         p.y.mul_values = kFactor;
         p.y.mul_shift = 1024;
       })},
      {"y_on_small", "nv_small", NVDLA_RULE_FEATURE,
       "layer 0 'point' (sdp): y.flags needs the third SDP operator (Y), which nv_small does not "
       "have",
       with_pointwise([](Pointwise& p) {
         static const std::vector<std::int32_t> kFactor = {3};
         p.y.mul = NVDLA_MUL_MUL;
         p.y.mul_values = kFactor;
       })},
      {"int16_on_small", "nv_small", NVDLA_RULE_FEATURE, "layer 0 'point' (sdp): ",
       with_pointwise([](Pointwise& p) { p.precision = Precision::kInt16; })},
      {"rubik_on_small", "nv_small", NVDLA_RULE_FEATURE, "layer 0 'wide'",
       [](Network& net, Tensor in) {
         return net.contract(in, {.name = "wide", .stride_height = 2, .stride_width = 2});
       }},
      {"contraction", "nv_full", NVDLA_RULE_MULTIPLE, "layer 0 'wide' (rubik): channels",
       [](Network& net, Tensor in) {
         return net.contract(in, {.name = "wide", .stride_height = 2, .stride_width = 2});
       }},
      {"lrn_offset", "nv_full", NVDLA_RULE_RANGE, "layer 0 'lrn' (cdp): input.offset 1000",
       [](Network& net, Tensor in) {
         const nvdla_lut lut = table(NVDLA_LUT_CDP);
         return net.normalization(in, {.name = "lrn", .input = {.offset = 1000}, .lut = &lut});
       }},
      {"lrn_shift", "nv_full", NVDLA_RULE_RANGE, "layer 0 'lrn' (cdp): output.shift 64",
       [](Network& net, Tensor in) {
         const nvdla_lut lut = table(NVDLA_LUT_CDP);
         return net.normalization(in, {.name = "lrn", .output = {.shift = 64}, .lut = &lut});
       }},
      {"table_of_sdp", "nv_full", NVDLA_RULE_LUT_RANGE,
       "the look-up table of layer 1 'curve': lo_end -1",
       with_table(NVDLA_LUT_SDP, [](nvdla_lut& lut) { lut.lo_end = -1; })},
      {"table_of_cdp", "nv_full", NVDLA_RULE_LUT_RANGE,
       "the look-up table of layer 1 'lrn': lo_end -1",
       with_table(NVDLA_LUT_CDP, [](nvdla_lut& lut) { lut.lo_end = -1; })},
      {"steps_of_a_table", "nv_full", NVDLA_RULE_RANGE,
       "the look-up table of layer 1 'curve': lo_index_select 100",
       with_table(NVDLA_LUT_SDP, [](nvdla_lut& lut) { lut.lo_index_select = 100; })},
      {"image_converter", "nv_small", NVDLA_RULE_RANGE, "layer 0 'filter' (conv): input.shift 40",
       [](Network& net, Tensor) {
         Convolution c{.name = "filter", .kernels = 1};
         c.weights = std::span(kWeights).first(1);
         c.input.shift = 40;
         return net.convolution(net.image("camera", {.width = 8, .height = 8}), c);
       }},
      {"image_dilation", "nv_small", NVDLA_RULE_RANGE, "layer 0 'filter' (conv): dilation_width 2",
       [](Network& net, Tensor) {
         Convolution c{.name = "filter", .kernels = 1, .kernel_height = 3, .kernel_width = 3};
         c.weights = std::span(kWeights).first(9);
         c.dilation_width = 2;
         return net.convolution(net.image("camera", {.width = 8, .height = 8}), c);
       }},
      {"pixels_of_int16", "nv_small", NVDLA_RULE_FEATURE,
       "layer 0 'filter' (conv): in_precision needs int16, which nv_small does not have",
       [](Network& net, Tensor) {
         Convolution c{.name = "filter", .kernels = 1};
         c.weights = std::span(kWeights).first(1);
         return net.convolution(
             net.image("camera", {.format = NVDLA_PIXEL_R16, .width = 8, .height = 8}), c);
       }},
      {"one_part_of_a_layer", "nv_small", NVDLA_RULE_RANGE,
       "layer 0 'filter cube 1/2' (conv): arithmetic.accumulator_shift 17",
       [](Network& net, Tensor) {
         const Tensor in = net.input("pair", {.channels = 8, .height = 4, .width = 4, .batch = 2});
         Convolution c = conv();
         c.arithmetic.accumulator_shift = 17;
         return net.convolution(in, c);
       }},
  };
  return kCases;
}

class Rules : public ::testing::TestWithParam<Broken> {};

TEST_P(Rules, SayNamesNotSlots) {
  const Broken& broken = GetParam();
  Network net;
  const Tensor out = broken.add(net, net.input("in", {8, 4, 4}));
  net.output(out, "out");
  const Device device = Device::open("model:" + std::string(broken.device));
  const auto error =
      test::expect_error(ErrorCode::kInvalidProgram, broken.text, [&] { net.build(device); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(rule_name(error->rule()), rule_name(broken.rule));
  EXPECT_FALSE(error->field().empty());
  EXPECT_EQ(std::string(error->what()).find("slot"), std::string::npos) << error->what();
}

INSTANTIATE_TEST_SUITE_P(Networks, Rules, ::testing::ValuesIn(cases()),
                         [](const auto& broken) { return broken.param.name; });

// A copy has two transfers, whose numbers are those of layers, too; and the tables of compressed
// weights lie in a slot that the network does not know.
TEST(RulesBesideTransfers, NameTheLayer) {
  std::vector<std::int8_t> sparse(std::size_t{64} * 64 * 9);
  for (std::size_t i = 0; i < sparse.size(); i += 16) sparse[i] = 3;
  const auto build = [&](std::uint32_t shift) {
    Network net;
    net.output(net.copy(net.input("pair", {8, 4, 4, 2}), "copy"), "twins");
    Convolution filter = conv();
    filter.output.shift = shift;
    net.output(net.convolution(net.input("in", {8, 4, 4}), filter), "out");
    Convolution large{.name = "sparse", .kernels = 64, .kernel_height = 3, .kernel_width = 3};
    large.weights = sparse;
    net.output(net.convolution(net.input("wide", {64, 8, 8}), large), "sums");
    return net.build(Device::open("model:nv_full"));
  };
  const Request right = build(9);
  const auto& part = test::only_program(right);
  ASSERT_EQ(part.transfers.size(), 2U);
  EXPECT_EQ(part.bound.back(), detail::ProgramPart::kOwn);
  test::expect_error(ErrorCode::kInvalidProgram, "layer 1 'filter' (sdp): output.shift 64 ",
                     [&] { build(64); });
}

// No message about a converter uses the descriptor's word for its shift.
TEST(RulesOfConverters, UseTheNamesOfTheApplication) {
  const nvdla_layer layer = {};
  const auto* base = reinterpret_cast<const char*>(&layer);
  for (const nvdla_convert* converter :
       {&layer.sdp.out_cvt, &layer.sdp.y.alu_cvt, &layer.sdp.y.mul_cvt, &layer.cdp.in_cvt,
        &layer.cdp.out_cvt}) {
    const auto at =
        static_cast<std::uint32_t>(reinterpret_cast<const char*>(&converter->truncate) - base);
    EXPECT_TRUE(detail::user_field(at).ends_with(".shift")) << at;
  }
  EXPECT_EQ(detail::user_field(offsetof(nvdla_layer, conv.width)), "");
}

// Memory that is not there is said of the tensor.
TEST(RulesOfMemory, NameTheTensor) {
  const Device device = Device::open("model:nv_small");
  const auto refused = [&](const std::string& text, const auto& place) {
    Network net;
    const Tensor in = net.input("in", {8, 4, 4});
    const Tensor middle = net.pointwise(in, {.name = "first"});
    const Tensor out = net.pointwise(middle, {.name = "second"});
    net.output(out, "scores");
    net.place(place(in, middle, out), Memory::kSram);
    test::expect_error(ErrorCode::kNotAvailable, text + ": nv_small has no secondary memory",
                       [&] { net.build(device); });
  };
  refused("input 'in'", [](Tensor in, Tensor, Tensor) { return in; });
  refused("the output of layer 0 'first'", [](Tensor, Tensor middle, Tensor) { return middle; });
  refused("output 'scores'", [](Tensor, Tensor, Tensor out) { return out; });
}

}  // namespace
}  // namespace nvdla
