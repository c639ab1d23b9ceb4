// SPDX-License-Identifier: MIT
//
// The networks that are shipped: their sizes, their numbers, and that a comparison finds what
// differs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "catalogue.hpp"
#include "check.hpp"
#include "describe.hpp"
#include "real_reference.hpp"

namespace networks {
namespace {

using nvdla::Precision;

// Published counts of parameters, less what is no weight: a bias for each kernel, or two numbers
// for each channel of a batch normalisation (of YOLO four), and then biases of the last layer only.
TEST(Catalogue, HasAsManyWeightsAsPublished) {
  const std::map<std::string, std::uint64_t> published = {
      {"lenet5", 61'706 - 236},
      {"alexnet", 62'378'344 - 10'568},
      // Half of the weights of the second, fourth and fifth convolution are left.
      {"alexnet-groups", 60'965'224 - 10'568},
      {"resnet18", 11'689'512 - 9'600 - 1'000},
      {"resnet50", 25'557'032 - 53'120 - 1'000},
      {"resnet152", 60'192'808 - 151'424 - 1'000},
      {"squeezenet", 1'235'496 - 3'944},
      {"googlenet", 6'998'552 - 8'280},
      {"mobilenetv1", 4'231'976 - 21'888 - 1'000},
      {"mobilenetv2", 3'504'872 - 34'112 - 1'000},
      {"efficientnet-b0", 5'288'548 - 2 * 21'008 - 10'340},
      {"vgg16", 138'357'544 - 13'416},
      {"vgg19", 143'667'240 - 14'696},
      {"densenet121", 7'978'856 - 83'648 - 1'000},
      {"yolo", 15'867'885 - 12'224 - 125},
      // Of 32 features and one mask, biases of the deconvolutions and the last layer.
      {"unet", 7'763'041 - 5'888 - 481},
      // One of twelve blocks; two normalisations.
      {"transformer", 7'087'872 - 6'912 - 3'072}};
  EXPECT_EQ(catalogue().size(), published.size());
  for (const Entry& entry : catalogue())
    EXPECT_EQ(entry.graph().weights(), published.at(entry.name)) << entry.name;
}

TEST(Catalogue, NamesOfLayersDiffer) {
  for (const Entry& entry : catalogue()) {
    std::map<std::string, int> seen;
    const Graph graph = entry.graph();
    for (const Layer& layer : graph.layers())
      EXPECT_EQ(seen[layer.name]++, 0) << entry.name << " " << layer.name;
  }
}

// Another activation, or a table fewer, changes no weight.
TEST(Catalogue, SubstitutesForTables) {
  for (const Entry& entry : catalogue()) {
    for (const char* configuration : {"nv_full", "nv_small"}) {
      const nvdla::DeviceInfo info = nvdla::configuration_info(configuration);
      const Graph graph = entry.graph_for(info);
      EXPECT_EQ(graph.weights(), entry.graph().weights()) << entry.name;
      for (const Layer& layer : graph.layers())
        EXPECT_LE(has_table(activation_of(layer)), info.has_lut) << entry.name << layer.name;
    }
    EXPECT_EQ(entry.without_tables != nullptr, *entry.substitutes != 0) << entry.name;
  }
}

// A block with its shortcut, whose image is what it read.
TEST(Part, IsANetworkOfItsOwn) {
  const Graph part = part_of(resnet50(), "stage2.2.reduce..stage2.2.expand");
  ASSERT_EQ(part.layers().size(), 4U);
  EXPECT_EQ(part.shape(Graph::image()).channels, 512U);
  EXPECT_EQ(part.shape(Graph::image()).width, 28U);
  EXPECT_EQ(part.layers()[3].inputs, (std::vector<Value>{2, Graph::image()}));
  EXPECT_EQ(std::get<Conv>(part.layers()[3].what).shortcut, Graph::image());
  const Graph one = part_of(resnet50(), "conv1");
  ASSERT_EQ(one.layers().size(), 2U);
  EXPECT_EQ(one.shape(Graph::image()).channels, 3U);
  // A part that is the whole is drawn as the whole.
  const Graph whole =
      part_of(lenet5(), lenet5().layers()[1].name + ".." + lenet5().layers().back().name);
  EXPECT_EQ(draw(whole, 1, Precision::kInt8).results, draw(lenet5(), 1, Precision::kInt8).results);
}

TEST(Drawn, NumbersFollowFromTheSeed) {
  const Network one = draw(lenet5(), 1, Precision::kInt8);
  EXPECT_EQ(draw(lenet5(), 1, Precision::kInt8).results, one.results);
  const Network two = draw(lenet5(), 2, Precision::kInt8);
  EXPECT_NE(two.numbers[1].weights, one.numbers[1].weights);
  EXPECT_NE(two.results[0], one.results[0]);
}

TEST(Drawn, ResultsThatShowNothingAreKnown) {
  Integers result(100, 1);
  EXPECT_TRUE(use_of(result).good());
  std::fill_n(result.begin(), 96, std::int8_t{0});
  EXPECT_FALSE(use_of(result).good());
  std::fill_n(result.begin(), 96, std::int8_t{1});
  std::fill_n(result.begin(), 3, std::int8_t{127});
  EXPECT_TRUE(use_of(result).good());
  std::fill_n(result.begin() + 3, 3, std::int8_t{-128});
  EXPECT_FALSE(use_of(result).good());
}

Verdict verdict_of(const Network& network, Precision precision) {
  Verdict verdict;
  check_every_tensor(nvdla::Device::open("model:nv_full"), network, precision, verdict);
  return verdict;
}

// Elements are at most 127 steps in int8, and a few times as many in fp16, which ends at 65504.
TEST(Drawn, ManyResidualBlocksStayInTheRangeOfFp16) {
  Graph deep({.channels = 16, .height = 8, .width = 8});
  Value x = Graph::image();
  for (int i = 0; i < 60; ++i) {
    const std::string name = std::to_string(i);
    const Value y = deep.conv(x, name + ".first", {.kernels = 16});
    x = deep.conv(y, name + ".second", {.kernels = 16, .shortcut = x});
  }
  const Network network = draw(deep, 1, Precision::kFp16);
  for (const double step : steps(network)) EXPECT_LT(step, 16);
  for (const Integers& result : network.results) EXPECT_TRUE(use_of(result).good());
  EXPECT_EQ(verdict_of(network, Precision::kFp16).different, 0U);
}

TEST(Comparison, FindsOneElement) {
  Network network = draw(lenet5(), 1, Precision::kInt8);
  EXPECT_EQ(verdict_of(network, Precision::kInt8).different, 0U);
  // Of the first layer: channel 2, line 3, column 4 of 6 x 28 x 28.
  std::int8_t& element = network.results[1][(3 * 28 + 4) * 6 + 2];
  const int found = element;
  element = static_cast<std::int8_t>(found ^ 1);
  const Verdict verdict = verdict_of(network, Precision::kInt8);
  EXPECT_EQ(verdict.different, 1U);
  EXPECT_EQ(verdict.first, "'conv1' at channel 2, line 3, column 4: " + std::to_string(found) +
                               ", expected " + std::to_string(found ^ 1));
}

TEST(Comparison, SeesEveryTensorOfAnyNumber) {
  // More than one network of outputs takes.
  Graph deep({.channels = 8, .height = 4, .width = 4});
  Value x = Graph::image();
  for (int i = 0; i < 130; ++i) x = deep.conv(x, "conv" + std::to_string(i), {.kernels = 8});
  Network network = draw(deep, 1, Precision::kInt8);
  for (Integers& result : network.results) {
    if (&result != network.results.data()) result[5] = static_cast<std::int8_t>(result[5] ^ 1);
  }
  const Verdict verdict = verdict_of(network, Precision::kInt8);
  EXPECT_EQ(verdict.tensors, 130U);
  EXPECT_EQ(verdict.elements, 130U * 128);
  EXPECT_EQ(verdict.different, 130U);
}

// Of one output and many layers in memory: parts of a concatenation, bands, a pooling on the fly.
TEST(Comparison, SeesWhatLayersLeaveInMemory) {
  Graph graph({.channels = 16, .height = 12, .width = 12});
  const Conv conv{.kernels = 64, .height = 3, .width = 3, .pad = 1};
  const Value a = graph.conv(Graph::image(), "a", conv);
  const Value b = graph.conv(a, "b", conv);
  const std::array parts = {a, b};
  Value x = graph.conv(graph.concat(parts, "both"), "c", conv);
  x = graph.max_pool(x, "pool", 2, 2);
  graph.conv(x, "d", conv);
  const Network network = draw(graph, 1, Precision::kInt8);
  std::vector<Elements> results;
  for (const Integers& result : network.results) results.emplace_back(result.begin(), result.end());
  for (const char* configuration : {"nv_full", "nv_small"}) {
    const auto device = nvdla::Device::open(std::string("model:") + configuration);
    const Value last = static_cast<Value>(results.size() - 1);
    auto request = describe(network, Precision::kInt8, {&last, 1}).build(device);
    write_image(request, network, Precision::kInt8);
    request.run();
    Verdict good;
    check_in_memory(request, graph, results, good);
    // Not the concatenation, and not what the pooling takes on the fly.
    EXPECT_EQ(good.tensors, 4U) << configuration;
    EXPECT_EQ(good.elements, 64U * (12 * 12 * 2 + 6 * 6 * 2)) << configuration;
    EXPECT_EQ(good.different, 0U) << configuration << " " << good.first;
    auto others = results;
    for (std::size_t i = 1; i < others.size(); ++i) others[i][64 * 5 + 33] += 1;
    Verdict bad;
    check_in_memory(request, graph, others, bad);
    EXPECT_EQ(bad.different, 4U);
    EXPECT_NE(bad.first.find("layer 'a"), bad.first.npos) << bad.first;
    EXPECT_NE(bad.first.find(", channel 33, line 0, column 5: "), bad.first.npos) << bad.first;
  }
}

// fp16 and int8 compute the same but for roundings, and an error of a step would be seen.
TEST(Comparison, BoundsOfFp16AreTight) {
  const Network network = draw(lenet5(), 1, Precision::kFp16);
  std::vector<Elements> results;
  for (const Integers& result : network.results) results.emplace_back(result.begin(), result.end());
  for (Value layer = 1; layer < results.size(); ++layer) {
    const auto expected = expect_reals(network, steps(network), layer, results);
    ASSERT_EQ(expected.size(), results[layer].size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LT(expected[i].bound(), 0.25) << network.graph.layers()[layer].name;
      // What int8 saturates goes on here; factors are rounded to 11 bits.
      const double nearest = std::clamp(expected[i].value, -128.0, 127.0);
      EXPECT_NEAR(nearest, results[layer][i], 0.75) << network.graph.layers()[layer].name;
    }
  }
}

}  // namespace
}  // namespace networks
