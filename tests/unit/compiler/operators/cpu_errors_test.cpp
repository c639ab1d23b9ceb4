// SPDX-License-Identifier: MIT
//
// Layers of the CPU that cannot be: each names its layer, what was found and what would be right.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla {
namespace {

constexpr Quantization kFine = {1 / 16.0F, 0};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const std::vector<float> kTooShort = {1, 2}, kWithNan = {1, 1, 1, kNan, 1, 1, 1, 1};

struct Bad {
  std::string name;
  std::string text;  // behind "layer 1 'bad': "
  std::function<Tensor(Network&, Tensor)> add;
};

std::ostream& operator<<(std::ostream& out, const Bad& bad) { return out << bad.name; }

class BadCpuLayers : public ::testing::TestWithParam<Bad> {};

TEST_P(BadCpuLayers, AreNamed) {
  Network net;
  const Tensor unknown =
      net.pointwise(net.input("in", {.channels = 8, .height = 3, .width = 4}), {.name = "same"});
  test::expect_error(ErrorCode::kInvalidArgument, "layer 1 'bad': " + GetParam().text,
                     [&] { GetParam().add(net, unknown); });
  EXPECT_EQ(net.layers(), 1U) << "half of it was added";
}

const Bad kBad[] = {
    {"unknown", "the quantisation of input is not known: say it",
     [](Network& net, Tensor t) { return net.softmax(t, {.name = "bad"}); }},
    {"scale", "input scale 0 is not a positive number",
     [](Network& net, Tensor t) {
       return net.softmax(t, {.name = "bad", .input = Quantization{0, 0}});
     }},
    {"output_scale", "output scale nan is not a positive number",
     [](Network& net, Tensor t) {
       return net.softmax(t, {.name = "bad", .input = kFine, .output = Quantization{kNan, 0}});
     }},
    {"zero_point", "input zero point 128 is not in -128..127",
     [](Network& net, Tensor t) {
       return net.softmax(t, {.name = "bad", .input = Quantization{1, 128}});
     }},
    {"zero_point_of_fp16", "input zero point 3: fp16 has none",
     [](Network& net, Tensor) {
       const Tensor in = net.input("half", {8, 1, 1}, Precision::kFp16);
       return net.softmax(in, {.name = "bad", .input = Quantization{1, 3}});
     }},
    {"zero_point_as_loadables", "as_loadables: zero point -5, a loadable has none",
     [](Network& net, Tensor t) {
       return net.softmax(t, {.name = "bad",
                              .input = Quantization{1, 7},
                              .output = Quantization{1, -5},
                              .as_loadables = true});
     }},
    {"zero_point_of_a_power_as_loadables", "as_loadables: zero point 7, a loadable has none",
     [](Network& net, Tensor t) {
       return net.power(t, {.name = "bad", .input = Quantization{1, 7}, .as_loadables = true});
     }},
    {"int16_as_loadables", "as_loadables: int16 is none of int8, fp16",
     [](Network& net, Tensor) {
       const Tensor in = net.input("wide", {8, 1, 1}, Precision::kInt16);
       return net.softmax(in, {.name = "bad", .as_loadables = true});
     }},
    {"power", "power nan, scale 1, shift 0: all are finite",
     [](Network& net, Tensor t) {
       return net.power(t, {.name = "bad", .input = kFine, .power = kNan});
     }},
    {"function", "the function is empty",
     [](Network& net, Tensor t) { return net.apply(t, {.name = "bad", .input = kFine}); }},
    {"gamma", "2 values of gamma for 8 channels",
     [](Network& net, Tensor t) {
       return net.layer_normalization(t, {.name = "bad", .input = kFine, .gamma = kTooShort});
     }},
    {"beta", "beta 3 is nan",
     [](Network& net, Tensor t) {
       return net.layer_normalization(t, {.name = "bad", .input = kFine, .beta = kWithNan});
     }},
    {"instances", "2 values of gamma for 8 channels",
     [](Network& net, Tensor t) {
       return net.instance_normalization(t, {.name = "bad", .input = kFine, .gamma = kTooShort});
     }},
    {"epsilon", "epsilon -1 is not 0 or a positive number",
     [](Network& net, Tensor t) {
       return net.layer_normalization(t, {.name = "bad", .input = kFine, .epsilon = -1});
     }},
    {"product", "a has 8 channels, which are multiplied with the 12 positions of b",
     [](Network& net, Tensor t) {
       return net.product(t, t, {.name = "bad", .a = kFine, .b = kFine});
     }},
    {"transposed", "a has 8 channels, which are multiplied with the 9 channels of b",
     [](Network& net, Tensor t) {
       const Tensor b = net.input("b", {9, 1, 1});
       return net.product(t, b, {.name = "bad", .a = kFine, .b = kFine, .transposed = true});
     }},
    {"columns", "output channels 8200 is not in 1..8192",
     [](Network& net, Tensor t) {
       const Tensor b = net.input("b", {8, 100, 82});
       return net.product(t, b, {.name = "bad", .a = kFine, .b = kFine, .transposed = true});
     }},
    {"precisions", "a is int8, b is fp16",
     [](Network& net, Tensor t) {
       const Tensor b = net.input("b", {8, 1, 1}, Precision::kFp16);
       return net.product(t, b, {.name = "bad", .a = kFine, .transposed = true});
     }},
    {"batches", "a has 1 cubes, b has 2",
     [](Network& net, Tensor t) {
       const Tensor b = net.input("b", {8, 1, 1, 2});
       return net.product(t, b, {.name = "bad", .a = kFine, .transposed = true});
     }},
    {"factor", "factor inf is not finite",
     [](Network& net, Tensor t) {
       return net.product(t, t,
                          {.name = "bad",
                           .a = kFine,
                           .b = kFine,
                           .transposed = true,
                           .factor = std::numeric_limits<double>::infinity()});
     }},
    {"classes", "int8 has numbers for 128 channels, the input has 200",
     [](Network& net, Tensor) {
       return net.argmax(net.input("many", {200, 1, 1}),
                         {.name = "bad", .precision = Precision::kInt8});
     }},
    {"precision_of_classes", "precision 2: channels are numbered in int8 (0) or int16 (1)",
     [](Network& net, Tensor t) {
       return net.argmax(t, {.name = "bad", .precision = Precision::kFp16});
     }},
    {"axes", "order names height twice",
     [](Network& net, Tensor t) {
       return net.transpose(t,
                            {.name = "bad", .order = {Axis::kHeight, Axis::kHeight, Axis::kWidth}});
     }},
    {"image", "input: input 'camera' is an image",
     [](Network& net, Tensor) {
       return net.argmax(net.image("camera", {.width = 8, .height = 8}), {.name = "bad"});
     }},
    {"planes", "input: input 'planes' is planar: merge() it first",
     [](Network& net, Tensor) {
       return net.argmax(net.planar_input("planes", {8, 1, 1}, Precision::kInt8), {.name = "bad"});
     }},
    {"foreign", "input: the tensor belongs to another network",
     [](Network& net, Tensor) {
       Network other;
       return net.argmax(other.input("in", {8, 1, 1}), {.name = "bad"});
     }},
};

INSTANTIATE_TEST_SUITE_P(Networks, BadCpuLayers, ::testing::ValuesIn(kBad),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace nvdla
