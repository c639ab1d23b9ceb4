// SPDX-License-Identifier: MIT
//
// Loadables through the kernel: the digit network, saved here, gives the same scores and counters
// as on the device model, by the library and by `nvdla run`. Pictures and weights are in /digits.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <nvdla/loadable.hpp>
#include <nvdla/nvdla.hpp>
#include <string>
#include <vector>

#include "guest_files.hpp"
#include "int8_network.hpp"
#include "weights.hpp"

namespace {

using nvdla::emulator_test::kDigits;

class LoadableOnKernel : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(kernel.info().backend, "kernel");
    nvdla::save_loadable(digits::describe(digits::load_weights(kDigits / "weights.json")),
                         configuration, path);
  }

  nvdla::Device kernel = nvdla::Device::open("auto");
  std::string configuration{kernel.info().configuration};
  nvdla::Device model = nvdla::Device::open("model:" + configuration);
  std::string path = testing::TempDir() + "digits.nvdla";
};

TEST_F(LoadableOnKernel, RunsAsOnTheModel) {
  const nvdla::Loadable file = nvdla::Loadable::load(path);
  nvdla::Request ours = file.open(kernel, {.statistics = true});
  nvdla::Request theirs = file.open(model, {.statistics = true});
  const nvdla::LoadableTensor input = file.input(0), output = file.output(0);
  std::vector<std::int8_t> pixels(input.shape.elements());
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::int8_t>(i * 29);
  std::vector<std::int8_t> expected(output.shape.elements()), found(expected.size());
  for (int run = 0; run < 3; ++run) {
    std::rotate(pixels.begin(), pixels.begin() + 17, pixels.end());
    ours.write(input.name, nvdla::Layout::kNchw, pixels);
    theirs.write(input.name, nvdla::Layout::kNchw, pixels);
    ours.run();
    theirs.run();
    ours.read(output.name, nvdla::Layout::kNchw, std::span<std::int8_t>(found));
    theirs.read(output.name, nvdla::Layout::kNchw, std::span<std::int8_t>(expected));
    EXPECT_EQ(found, expected);
    const auto counted = ours.statistics(), wanted = theirs.statistics();
    ASSERT_EQ(counted.size(), ours.network().layers());
    ASSERT_EQ(counted.size(), wanted.size());
    for (std::size_t i = 0; i < counted.size(); ++i) {
      EXPECT_EQ(counted[i].valid, wanted[i].valid);
      EXPECT_TRUE(std::ranges::equal(counted[i].counter, wanted[i].counter)) << "layer " << i;
    }
  }
}

// What a command prints on standard output; its status must be 0.
std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char part[4096];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof(part), pipe)) != 0;) text.append(part, n);
  const int status = ::pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << ": " << status;
  return text;
}

TEST_F(LoadableOnKernel, RunsByTheCommand) {
  int pictures = 0;
  for (const auto& picture : std::filesystem::directory_iterator(kDigits / "images")) {
    const std::string command =
        "nvdla run " + path + " --input " + picture.path().string() + " --stats --json --device ";
    auto ours = nlohmann::json::parse(output_of(command + "auto"));
    auto theirs = nlohmann::json::parse(output_of(command + "model:" + configuration));
    EXPECT_EQ(ours.at("backend"), "kernel");
    EXPECT_EQ(theirs.at("backend"), "model");
    for (auto* document : {&ours, &theirs}) {
      document->erase("backend");
      document->erase("seconds");
      EXPECT_EQ(document->at("outputs").at(0).at("values").size(), 10u);
      EXPECT_FALSE(document->at("layers").empty());
      for (auto& layer : document->at("layers")) {
        EXPECT_TRUE(layer.at("counters").contains("cacc.saturation")) << layer;
        EXPECT_EQ(layer.erase("nanoseconds"), 1u);
        EXPECT_EQ(layer.erase("start_nanoseconds"), 1u);
      }
    }
    EXPECT_EQ(ours, theirs) << picture.path();
    if (++pictures == 3) break;
  }
  EXPECT_EQ(pictures, 3);
}

}  // namespace
