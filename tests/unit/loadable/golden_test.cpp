// SPDX-License-Identifier: MIT
//
// NVIDIA's regression loadables give their golden output on the configuration that they were made
// for, twice from one load, and are refused where they do not fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/shared.hpp"
#include "loadable/format/dimg.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla {
namespace {

namespace fs = std::filesystem;

fs::path loadables() { return test::shared_folder() / "loadables"; }

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// By the suffix of the name, as NVIDIA's test plan has it.
std::string configuration_of(const std::string& name) {
  if (name.ends_with("_small")) return "nv_small";
  if (name.ends_with("_large")) return "nv_large";
  return "nv_full";
}

// By name, so that the tests are the same where the files are absent.
constexpr const char* kLoadables[] = {"BDMA_L0_0",         "CDP_L0_0",         "CDP_L0_0_small",
                                      "CONV_D_L0_0_small", "PDP_L0_0_small",   "RBK_L0_0",
                                      "SDP_X1_L0_0",       "SDP_X1_L0_0_small"};

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, OutputIsAsTheHardwares) {
  NVDLA_NEEDS_SHARED("loadables");
  const fs::path folder = loadables() / GetParam();
  const Loadable file = Loadable::load((folder / "loadable.nvdla").string());
  ASSERT_EQ(file.outputs(), 1U);
  const Device device = Device::open("model:" + configuration_of(folder.filename()));
  Request request = file.open(device);
  const std::vector<std::byte> golden = read_file(folder / "dla" / "o_000000.dimg");
  ASSERT_FALSE(golden.empty());
  const LoadableTensor output = file.output(0);
  for (int run = 0; run < 2; ++run) {
    // A run that wrote nothing would show.
    for (std::byte& byte : request.buffer(output.name).map().bytes()) byte = std::byte{0xa5};
    request.run();
    const Map map = request.buffer(output.name).map(MapMode::kRead);
    EXPECT_EQ(loadable::make_dimg(output, map.bytes()), golden) << "run " << run;
  }
}

TEST_P(Golden, OtherConfigurationsAreRefusedWithBothNames) {
  NVDLA_NEEDS_SHARED("loadables");
  const fs::path folder = loadables() / GetParam();
  const Loadable file = Loadable::load((folder / "loadable.nvdla").string());
  const std::string made_for = configuration_of(folder.filename());
  std::vector<std::string> fits;
  for (std::uint32_t i = 0; i < file.configurations(); ++i) {
    fits.emplace_back(file.configuration(i));
  }
  const auto runs_on = [&](const std::string& name) {
    return std::find(fits.begin(), fits.end(), name) != fits.end();
  };
  EXPECT_TRUE(runs_on(made_for));
  for (const std::string other : {"nv_full", "nv_large", "nv_small"}) {
    // Bytes in atoms of one size are the same to several, but for the convolution buffer.
    if (runs_on(other)) {
      EXPECT_NO_THROW(file.open(Device::open("model:" + other))) << other;
      continue;
    }
    try {
      file.open(Device::open("model:" + other));
      ADD_FAILURE() << other << " was not refused";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(made_for), std::string::npos) << text;
      EXPECT_NE(text.find(other), std::string::npos) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Loadables, Golden, testing::ValuesIn(kLoadables),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(GoldenLoadables, AllOfThemAreTested) {
  NVDLA_NEEDS_SHARED("loadables");
  for (const auto& entry : fs::directory_iterator(loadables())) {
    if (!fs::exists(entry.path() / "loadable.nvdla")) continue;
    EXPECT_TRUE(std::ranges::count(kLoadables, entry.path().filename().string()) == 1)
        << entry.path();
  }
}

}  // namespace
}  // namespace nvdla
