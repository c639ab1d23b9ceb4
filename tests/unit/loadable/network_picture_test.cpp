// SPDX-License-Identifier: MIT
//
// `nvdla dump --svg`: boxes and arrows of the picture are the network's.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../tools/temporary_folder.hpp"
#include "common/command.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "unit/loadable/read/half_file.hpp"
#include "unit/loadable/write/round_trip.hpp"

namespace nvdla {
namespace {

using Arrows = std::set<std::pair<std::string, std::string>>;

// A picture as a reader sees it.
struct Seen {
  std::set<std::string> boxes;  // "unit0 conv 0 + sdp 1: 64x5x6 int8"
  Arrows arrows;                // between the names of boxes
  std::string text;
};

struct Box {
  double x, y, width, height;
  std::string name;
};

std::string xml(std::string text) {
  for (std::size_t at; (at = text.find("&quot;")) != text.npos;) text.replace(at, 6, "\"");
  return text;
}

Seen see(const std::string& svg) {
  Seen seen;
  seen.text = svg;
  std::vector<Box> boxes;
  const std::regex rect(
      "<rect x=\"(.*?)\" y=\"(.*?)\" width=\"(.*?)\" height=\"(.*?)\" class=\"box (.*?)\">"
      "<title>(.*?)</title>");
  for (std::sregex_iterator i(svg.begin(), svg.end(), rect), end; i != end; ++i) {
    const std::string hint = xml((*i)[6]);
    seen.boxes.insert((*i)[5].str() + " " + hint);
    boxes.push_back({std::stod((*i)[1]), std::stod((*i)[2]), std::stod((*i)[3]), std::stod((*i)[4]),
                     hint.substr(0, hint.find(": "))});
  }
  const auto box_at = [&](double x, double y, bool below) {
    for (const Box& box : boxes) {
      const double edge = box.y + (below ? box.height : 0);
      if (std::abs(box.x + box.width / 2 - x) < 0.02 && std::abs(edge - y) < 0.02) return box.name;
    }
    return std::string("nothing");
  };
  // Each arrow is a line and a head.
  const std::regex line("<polyline points=\"([^\"]*)\" class=\"axis\"/>");
  bool head = false;
  for (std::sregex_iterator i(svg.begin(), svg.end(), line), end; i != end; ++i, head = !head) {
    if (head) continue;
    std::vector<double> numbers;
    std::string points = (*i)[1];
    for (char& c : points)
      if (c == ',') c = ' ';
    std::istringstream stream(points);
    for (double number; stream >> number;) numbers.push_back(number);
    const std::size_t last = numbers.size() - 2;
    seen.arrows.emplace(box_at(numbers[0], numbers[1], true),
                        box_at(numbers[last], numbers[last + 1], false));
  }
  return seen;
}

class NetworkPicture : public testing::Test {
 protected:
  std::string write(const std::vector<std::byte>& bytes) {
    return folder_
        .write("a.nvdla",
               std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()))
        .string();
  }
  test::CommandResult dump(const std::string& arguments) {
    return test::run_command(NVDLA_CLI, "dump " + arguments);
  }
  Seen picture(const std::vector<std::byte>& bytes, const std::string& option = "--hardware") {
    const test::CommandResult result = dump(write(bytes) + " --svg - " + option);
    EXPECT_EQ(result.status, 0) << result.output;
    return see(result.output);
  }

  replay::TemporaryFolder folder_;
};

// Two branches whose results are parts of one tensor, a shortcut, and a tensor that is moved.
TEST_F(NetworkPicture, BranchesMeetAgain) {
  const auto weights = test::random_elements<std::int8_t>(32 * 32, 3);
  Network network;
  const Tensor in = network.input("in", {32, 6, 7});
  const auto conv = [&](const char* name, Tensor x) {
    return network.convolution(
        x, {.name = name, .kernels = 32, .weights = weights, .output = {.scale = 1, .shift = 7}});
  };
  const Tensor parts[] = {conv("a", in), conv("b", in)};
  const Tensor both = network.concatenate(parts, {.name = "both"});
  const Tensor most = network.pooling(
      both, {.name = "most", .method = NVDLA_POOL_MAX, .kernel_height = 2, .kernel_width = 2});
  const Tensor part = network.slice(both, {.name = "part", .start = 32, .size = 32});
  const Tensor sum = network.pointwise(in, {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, part)});
  network.output(most, "most");
  network.output(sum, "sum");
  const Seen seen = picture(make_loadable(network, "nv_full"));
  EXPECT_EQ(seen.boxes, (std::set<std::string>{"port input 'in': 32x6x7 int8", "port output 'most'",
                                               "port output 'sum'", "unit0 a: 32x6x7 int8",
                                               "unit0 b: 32x6x7 int8", "unit1 sum: 32x6x7 int8",
                                               "unit2 most: 64x5x6 int8"}));
  EXPECT_EQ(seen.arrows, (Arrows{{"input 'in'", "a"},
                                 {"input 'in'", "b"},
                                 {"a", "most"},
                                 {"b", "most"},
                                 {"b", "sum"},
                                 {"input 'in'", "sum"},
                                 {"most", "output 'most'"},
                                 {"sum", "output 'sum'"}}));
  EXPECT_NE(seen.text.find("4 layers, 0 operations of the CPU"), std::string::npos);
  EXPECT_NE(seen.text.find(" for nv_full</title>"), std::string::npos);

  // Without --hardware it is the network above, layer by layer.
  const Seen user = picture(make_loadable(network, "nv_full"), "");
  EXPECT_EQ(user.boxes,
            (std::set<std::string>{"port input 'in': 32x6x7 int8", "port output 'most'",
                                   "port output 'sum'", "unit0 a: 32x6x7 int8; hardware: a",
                                   "unit0 b: 32x6x7 int8; hardware: b",
                                   "unit4 both: 64x6x7 int8; hardware: nothing is moved",
                                   "unit2 most: 64x5x6 int8; hardware: most",
                                   "unit4 part: 32x6x7 int8; hardware: nothing is moved",
                                   "unit1 sum: 32x6x7 int8; hardware: sum"}));
  EXPECT_EQ(user.arrows, (Arrows{{"input 'in'", "a"},
                                 {"input 'in'", "b"},
                                 {"a", "both"},
                                 {"b", "both"},
                                 {"both", "most"},
                                 {"both", "part"},
                                 {"part", "sum"},
                                 {"input 'in'", "sum"},
                                 {"most", "output 'most'"},
                                 {"sum", "output 'sum'"}}));
  EXPECT_NE(user.text.find(">max pooling 2x2</text>"), std::string::npos);
}

// A layer that is cut is one box, and names what it became; a pooling on the fly is a layer of its
// user and part of another one of the hardware.
TEST_F(NetworkPicture, LayersOfTheUserAreNotCut) {
  const auto weights = test::random_elements<std::int8_t>(16 * 8 * 9, 3);
  Network network;
  const Tensor in = network.input("in", {8, 120, 100});
  Convolution conv{.name = "conv", .kernels = 16, .kernel_height = 3, .kernel_width = 3};
  conv.stride_height = conv.stride_width = 2;
  conv.weights = weights;
  conv.output = {.scale = 1, .shift = 7};
  Tensor x = network.convolution(in, conv);
  x = network.pooling(x, {.name = "pool", .kernel_height = 2, .kernel_width = 2});
  network.output(x, "out");
  const Seen user = picture(make_loadable(network, "nv_small"), "");
  EXPECT_EQ(user.arrows,
            (Arrows{{"input 'in'", "conv"}, {"conv", "pool"}, {"pool", "output 'out'"}}));
  EXPECT_NE(user.text.find(">convolution 3x3, stride 2</text>"), std::string::npos);
}

// Tensors that share memory are told apart by when they are there.
TEST_F(NetworkPicture, SharedMemory) {
  Network network;
  Tensor x = network.input("in", {40, 5, 6});
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    x = network.pointwise(x, {.name = name, .x1 = elementwise(NVDLA_ALU_SUM, x)});
  network.output(x, "out");
  const Seen seen = picture(make_loadable(network, "nv_small"));
  EXPECT_EQ(seen.arrows, (Arrows{{"input 'in'", "a"},
                                 {"a", "b"},
                                 {"b", "c"},
                                 {"c", "d"},
                                 {"d", "e"},
                                 {"e", "f"},
                                 {"f", "output 'out'"}}));
}

TEST_F(NetworkPicture, WhatTheCpuDoes) {
  using loadable::Revision;
  test::HalfFile file(Revision::kOld);
  const test::HalfCube cube = {10, 1, 1};
  const std::uint16_t data = file.tensor("data", cube, true);
  const std::uint16_t scaled = file.memory(cube.bytes());
  const std::uint16_t prob = file.tensor("prob", cube, false);
  file.emu_task(loadable::kPower, 0.25F, data, scaled, cube);
  test::HalfLayers layers(file, scaled, cube);
  layers.relu();
  file.dla_task(layers.operations());
  file.emu_task(loadable::kSoftmax, 1, layers.memory(), prob, cube);
  const Seen seen = picture(file.bytes());
  EXPECT_EQ(seen.arrows, (Arrows{{"input 'data'", "power"},
                                 {"power", "sdp 0"},
                                 {"sdp 0", "softmax"},
                                 {"softmax", "output 'prob'"}}));
  EXPECT_TRUE(seen.boxes.contains("cpu softmax: 10x1x1 fp16"));
  EXPECT_NE(seen.text.find("1 layer, 2 operations of the CPU"), std::string::npos);
}

TEST_F(NetworkPicture, Errors) {
  Network network;
  const Tensor in = network.input("in", {4, 5, 6});
  network.output(network.pointwise(in, {.name = "a", .x1 = relu()}), "out");
  const std::string file = write(make_loadable(network, "nv_full"));
  test::CommandResult result = dump(file + " --svg " + file + "/none.svg");
  EXPECT_EQ(result.status, 4) << result.output;
  EXPECT_NE(result.output.find("/none.svg"), std::string::npos);
  result = dump(file + " --svg - --json");
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("--json"), std::string::npos) << result.output;
  result = dump(file + " --svg /dev/full");
  EXPECT_EQ(result.status, 4) << result.output;
}

}  // namespace
}  // namespace nvdla
