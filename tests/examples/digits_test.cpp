// SPDX-License-Identifier: MIT
//
// The digit network on the device model: bit for bit what the NumPy reference computes, and as
// good as the float network, which runs here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <nvdla/nvdla.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "../unit/tools/temporary_folder.hpp"
#include "float_network.hpp"
#include "int8_network.hpp"
#include "picture.hpp"
#include "weights.hpp"

namespace digits {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(NVDLA_SOURCE_DIR) / "runtime/examples/digits";

template <typename T>
int best(const std::vector<T>& scores) {
  return static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

class Digits : public ::testing::TestWithParam<const char*> {};

TEST_P(Digits, HeldOutPicturesAsTheFloatNetwork) {
  const Weights weights = load_weights(kFolder / "weights.json");
  const HeldOut held_out = read_held_out(kFolder);
  ASSERT_EQ(held_out.pictures.size(), 1000U);
  Int8Network network(nvdla::Device::open(GetParam()), weights);
  int same = 0;
  int right = 0;
  for (std::size_t i = 0; i < held_out.pictures.size(); ++i) {
    const std::vector<std::uint8_t>& pixels = held_out.pictures[i].pixels;
    const std::vector<std::int8_t> scores = network.scores(pixels);
    ASSERT_EQ(scores, held_out.reference_scores[i]) << "picture " << i;
    same += best(scores) == best(float_scores(weights, pixels));
    right += best(scores) == held_out.labels[i];
  }
  std::cout << GetParam() << ": same class as the float network " << same << ", right " << right
            << " of 1000\n";
  EXPECT_GE(same, 970);
  EXPECT_GE(right, 950);
}

TEST_P(Digits, CountsEveryLayer) {
  const Weights weights = load_weights(kFolder / "weights.json");
  Int8Network network(nvdla::Device::open(GetParam()), weights, {.statistics = true});
  network.scores(read_picture(kFolder / "images/zero-dejavu-sans.png").pixels);
  const auto statistics = network.request().statistics();
  ASSERT_EQ(statistics.size(), weights.layers.size());
  std::uint64_t macs = 0;
  for (std::uint32_t i = 0; i < network.request().network().layers(); ++i) {
    EXPECT_EQ(network.request().network().layer_name(i), weights.layers[i].name);
    EXPECT_NE(statistics[i].valid, 0U);
    EXPECT_GE(statistics[i].end_ns, statistics[i].start_ns);
    // A chain: the times of the layers are that of the picture.
    if (i > 0) {
      EXPECT_EQ(statistics[i].start_ns, statistics[i - 1].end_ns);
    }
    EXPECT_GT(network.request().network().layer_cycles(i), 0U);
    macs += network.request().network().layer_macs(i);
  }
  EXPECT_EQ(macs, 663328U);
}

TEST_P(Digits, RefusesPicturesOfAnotherSize) {
  Int8Network network(nvdla::Device::open(GetParam()), load_weights(kFolder / "weights.json"));
  const std::vector<std::uint8_t> pixels(785);
  EXPECT_THROW(network.scores(pixels), std::invalid_argument);
}

TEST_P(Digits, RunsFromALoadable) {
  const Weights weights = load_weights(kFolder / "weights.json");
  const HeldOut held_out = read_held_out(kFolder);
  const nvdla::Device device = nvdla::Device::open(GetParam());
  const nvdla::replay::TemporaryFolder folder;
  const std::string path = (folder.path() / "digits.nvdla").string();
  nvdla::save_loadable(describe(weights), device.info().configuration, path);

  nvdla::Request loaded = nvdla::Loadable::load(path).open(device);
  std::vector<std::int8_t> pixels, scores(weights.classes.size());
  for (std::size_t i = 0; i < held_out.pictures.size(); i += 10) {
    pixels.clear();
    for (const std::uint8_t pixel : held_out.pictures[i].pixels) {
      pixels.push_back(static_cast<std::int8_t>(pixel - weights.input_offset));
    }
    loaded.write("picture", nvdla::Layout::kNchw, std::span<const std::int8_t>(pixels));
    loaded.run();
    loaded.read("scores", nvdla::Layout::kNchw, std::span<std::int8_t>(scores));
    ASSERT_EQ(scores, held_out.reference_scores[i]) << "picture " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Model, Digits, ::testing::Values("model:nv_full", "model:nv_small"),
                         [](const auto& test) { return std::string(test.param).substr(6); });

}  // namespace
}  // namespace digits
