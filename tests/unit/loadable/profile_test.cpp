// SPDX-License-Identifier: MIT
//
// `nvdla run --profile` and --profile-trace: what they predict of a network, as a table, as JSON
// and as a trace.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../tools/temporary_folder.hpp"
#include "common/command.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/operators/tensor_handle.hpp"

namespace nvdla {
namespace {

using Json = nlohmann::json;
using Result = test::CommandResult;

Result nvdla(const std::string& arguments) { return test::run_command(NVDLA_CLI, arguments); }

// Four convolutions of 16 kernels of 3 x 3 over 16 channels of 20 x 20.
constexpr unsigned kConvolutions = 4, kSide = 20, kChannels = 16;
constexpr std::uint64_t kMacs = std::uint64_t{kSide} * kSide * 9 * kChannels * kChannels;

class RunProfile : public testing::Test {
 protected:
  RunProfile() {
    std::vector<std::int8_t> weights(std::size_t{9} * kChannels * kChannels);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = static_cast<std::int8_t>(i * 91 % 255);
    Network network;
    Tensor tensor = network.input("in", {.channels = kChannels, .height = kSide, .width = kSide});
    for (unsigned i = 0; i < kConvolutions; ++i) {
      Convolution layer{.kernels = kChannels, .kernel_height = 3, .kernel_width = 3};
      const std::string name = "conv" + std::to_string(i);
      layer.name = name;
      layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 1;
      layer.weights = weights;
      layer.relu = true;
      layer.output = {.scale = 1, .shift = 11};
      tensor = network.convolution(tensor, layer);
    }
    network.output(tensor, "out");
    save_loadable(network, "nv_small", file_);
  }

  std::string path(const char* name) const { return (folder_.path() / name).string(); }

  // All of it said, so that nothing is on standard error.
  std::string input() {
    return " -i " + folder_.write("in.raw", std::string(kChannels * kSide * kSide, '\3')).string();
  }

  Json profile(const std::string& device) {
    const Result result = nvdla("run " + file_ + input() + " --profile --json -d " + device + "");
    EXPECT_EQ(result.status, 0) << result.output;
    return Json::parse(result.output).at("profile");
  }

  replay::TemporaryFolder folder_;
  std::string file_ = path("net.nvdla");
};

// 400 outputs of two groups of kernels, two blocks of channels and nine positions, a cycle each;
// input and kernels before, what is left in the pipeline behind.
TEST_F(RunProfile, CyclesAreThoseOfTheHardware) {
  const Json layers = profile("model:nv_small");
  ASSERT_EQ(layers.size(), kConvolutions);
  std::uint64_t end = 0;
  for (const Json& layer : layers) {
    const std::uint64_t macs = kSide * kSide * 2 * 2 * 9;
    const std::uint64_t input = kSide * kSide * 2;
    EXPECT_GE(layer.at("cycles"), macs + input);
    EXPECT_LE(layer.at("cycles"), macs + 2 * input + 400);
    EXPECT_EQ(layer.at("macs"), kMacs);
    EXPECT_NEAR(layer.at("mac_utilisation"),
                static_cast<double>(kMacs) / (layer.at("cycles").get<double>() * 64), 1e-9);
    EXPECT_EQ(layer.at("bytes_read"), kSide * kSide * kChannels + 9 * kChannels * kChannels);
    EXPECT_EQ(layer.at("bytes_written"), kSide * kSide * kChannels);
    EXPECT_EQ(layer.at("bound_by"), "macs");
    EXPECT_GT(layer.at("nanoseconds"), 0);
    // Each reads what the one before wrote, and starts some cycles behind its interrupt.
    EXPECT_GE(layer.at("start_cycle"), end);
    EXPECT_LE(layer.at("start_cycle"), end + 50);
    end = layer.at("end_cycle");
    EXPECT_EQ(end, layer.at("start_cycle").get<std::uint64_t>() +
                       layer.at("cycles").get<std::uint64_t>());
  }
}

// The latency counts for the first read and for the last write; one request at a time, and memory
// is all that counts.
TEST_F(RunProfile, MemoryIsThatOfTheDevicesName) {
  const auto cycles = [](const Json& layers) {
    return layers[0].at("cycles").get<std::uint64_t>();
  };
  const std::uint64_t near = cycles(profile("model:nv_small"));
  EXPECT_EQ(cycles(profile("model:nv_small,latency=101")), near + 2 * 100);
  const Json slow = profile("model:nv_small,latency=99,outstanding=1");
  const std::uint64_t beats = slow[0].at("bytes_read").get<std::uint64_t>() / 8;
  EXPECT_GE(cycles(slow), near + beats * 90);
  EXPECT_EQ(slow[0].at("bound_by"), "input");
}

// nv_small was measured, other configurations and slower memory were not; a table says so.
TEST_F(RunProfile, MarksWhatIsBeyondWhatWasMeasured) {
  const auto reason = [&](const std::string& device) {
    return profile(device)[0].at("beyond_measured");
  };
  EXPECT_EQ(reason("model:nv_small"), nullptr);
  EXPECT_EQ(reason("model:nv_small,latency=128,outstanding=8"), nullptr);
  EXPECT_EQ(reason("model:nv_small,latency=129"), "a latency of more than 128 cycles");
  EXPECT_EQ(reason("model:nv_small,outstanding=7"), "fewer than 8 requests on their way");
  EXPECT_EQ(reason("model:nv_small,bandwidth=1"),
            "less than a quarter of the interface's bandwidth");
  const std::string run = "run " + file_ + input() + " --profile -d ";
  const Result slow = nvdla(run + "model:nv_small,bandwidth=1");
  EXPECT_NE(
      slow.output.find("\n~ beyond what was measured on the logic: less than a quarter of the "
                       "interface's bandwidth (4 of 4 layers)\n"),
      std::string::npos)
      << slow.output;
  EXPECT_EQ(nvdla(run + "model:nv_small").output.find('~'), std::string::npos);
}

// A byte in two cycles: all that is read and written takes twice as many cycles as it has bytes.
TEST_F(RunProfile, BandwidthIsThatOfTheDevicesName) {
  const Json half = profile("model:nv_small,bandwidth=0.5");
  const std::uint64_t bytes = half[0].at("bytes_read").get<std::uint64_t>() +
                              half[0].at("bytes_written").get<std::uint64_t>();
  const auto cycles = half[0].at("cycles").get<std::uint64_t>();
  EXPECT_GE(cycles, 2 * bytes);
  EXPECT_LE(cycles, 2 * bytes + 20000);
  // The same in bytes a second.
  const Json named = profile("model:nv_small,bandwidth=300MB/s,clock=600MHz");
  for (std::size_t i = 0; i < half.size(); ++i)
    EXPECT_EQ(named[i].at("cycles"), half[i].at("cycles")) << i;
}

// Each layer of the network is a line, in order; its steps lie between its begin and its end.
TEST_F(RunProfile, PlanTellsWhatLayersBecame) {
  const Result json = nvdla("dump " + file_ + " --plan --json");
  ASSERT_EQ(json.status, 0) << json.output;
  const Json plan = Json::parse(json.output);
  const Json& layers = plan.at("layers");
  ASSERT_EQ(layers.size(), kConvolutions);
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Json& layer = layers[i];
    EXPECT_EQ(layer.at("layer"), "conv" + std::to_string(i));
    EXPECT_EQ(layer.at("became"), "direct convolution");
    EXPECT_EQ(layer.at("steps"), 1);
    EXPECT_EQ(layer.at("mac_bound"), kMacs / 64);
    EXPECT_GE(layer.at("begin_cycle"), end);
    EXPECT_GE(layer.at("end_cycle").get<std::uint64_t>(),
              layer.at("begin_cycle").get<std::uint64_t>() + kMacs / 64);
    end = layer.at("end_cycle");
  }
  EXPECT_EQ(plan.at("total").at("end_cycle"), end);
  EXPECT_EQ(plan.at("total").at("steps"), kConvolutions);
  EXPECT_EQ(plan.at("cut_short"), "");
  // Slower memory is predicted for the same file.
  const Result slow = nvdla("dump " + file_ + " --plan --json -d model:nv_small,bandwidth=0.5");
  EXPECT_GT(Json::parse(slow.output).at("total").at("end_cycle"), end);
  const Result table = nvdla("dump " + file_ + " --plan");
  EXPECT_NE(table.output.find("conv3"), std::string::npos) << table.output;
  EXPECT_NE(table.output.find("direct convolution"), std::string::npos) << table.output;
  const Result csv = nvdla("dump " + file_ + " --plan --csv");
  EXPECT_TRUE(csv.output.starts_with("layer,kind,became,steps,")) << csv.output;
  EXPECT_NE(csv.output.find("\"conv0\",\"convolution\""), std::string::npos) << csv.output;
  const Result svg = nvdla("dump " + file_ + " --plan --svg -");
  EXPECT_NE(svg.output.find("<svg "), std::string::npos);
  EXPECT_NE(svg.output.find("predicted for model:nv_small"), std::string::npos);
}

// fp16 has half of the multipliers.
TEST_F(RunProfile, PlanCountsTheMultipliersOfThePrecision) {
  const auto bound = [&](Precision precision) -> std::uint64_t {
    const std::vector<std::int8_t> bytes(std::size_t{64} * 64, 1);
    const std::vector<float> reals(bytes.begin(), bytes.end());
    Convolution layer{.name = "conv", .kernels = 64};
    if (precision == Precision::kFp16)
      layer.weights = reals;
    else
      layer.weights = bytes;
    Network network;
    network.output(network.convolution(network.input("in", {64, 32, 32}, precision), layer), "out");
    save_loadable(network, "nv_full", path("one.nvdla"));
    const Result json = nvdla("dump " + path("one.nvdla") + " --plan --json");
    return Json::parse(json.output).at("total").at("mac_bound");
  };
  EXPECT_EQ(bound(Precision::kInt8), std::uint64_t{64} * 64 * 32 * 32 / 2048);
  EXPECT_EQ(bound(Precision::kFp16), std::uint64_t{64} * 64 * 32 * 32 / 1024);
}

TEST_F(RunProfile, PrintsATable) {
  const Result result =
      nvdla("run " + file_ + input() + " --profile -d model:nv_small -o " + path("o.raw"));
  ASSERT_EQ(result.status, 0) << result.output;
  for (const char* head : {"predicted", "cycles", "bound by", "host", "macs", "all "})
    EXPECT_NE(result.output.find(head), std::string::npos) << head << "\n" << result.output;
  std::istringstream lines(result.output);
  std::size_t layers = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
    layers += line.find("6.25 KiB") != line.npos && line.starts_with("conv");
  }
  EXPECT_EQ(layers, kConvolutions) << result.output;
}

// Every slice lies on a named track; of one group they follow each other; layers take the groups of
// a unit in turn, and the next is programmed while one works.
TEST_F(RunProfile, TraceHasATrackForEachGroup) {
  const Result result = nvdla("run " + file_ + input() + " -d model:nv_small -o " + path("o.raw") +
                              " --profile-trace " + path("t.json"));
  ASSERT_EQ(result.status, 0) << result.output;
  std::ifstream stream(path("t.json"));
  const Json trace = Json::parse(stream);
  struct Slice {
    double begin, end;
    std::string category;
    std::size_t layer;
  };
  std::map<int, std::string> names;
  std::map<int, std::vector<Slice>> tracks;
  for (const Json& event : trace.at("traceEvents")) {
    EXPECT_EQ(event.at("pid"), 1);
    if (event.at("ph") == "M") {
      if (event.at("name") == "thread_name")
        names[event.at("tid")] = event.at("args").at("name").get<std::string>();
      continue;
    }
    ASSERT_EQ(event.at("ph"), "X");
    const double begin = event.at("ts"), duration = event.at("dur");
    EXPECT_GE(begin, 0);
    EXPECT_GT(duration, 0);
    tracks[event.at("tid")].push_back({begin, begin + duration, event.at("cat").get<std::string>(),
                                       event.at("args").at("layer").get<std::size_t>()});
  }
  std::set<std::string> used;
  for (const auto& [track, slices] : tracks) {
    ASSERT_TRUE(names.contains(track)) << track;
    used.insert(names[track]);
    for (std::size_t i = 1; i < slices.size(); ++i)
      EXPECT_GE(slices[i].begin, slices[i - 1].end - 1e-9) << names[track] << " " << i;
  }
  EXPECT_EQ(used, (std::set<std::string>{"CDMA data, group 0", "CDMA data, group 1",
                                         "CDMA weights, group 0", "CDMA weights, group 1",
                                         "CMAC, group 0", "CMAC, group 1", "SDP, group 0",
                                         "SDP, group 1"}));
  for (const auto& [track, slices] : tracks) {
    const std::size_t group = names[track].back() == '1';
    std::vector<std::size_t> running;
    for (const Slice& slice : slices) {
      EXPECT_EQ(slice.layer % 2, group) << names[track];
      if (slice.category == "running") running.push_back(slice.layer);
    }
    EXPECT_EQ(running, (std::vector<std::size_t>{group, group + 2})) << names[track];
  }
  // While layer 1 works in the one group, layer 2 is programmed in the other.
  const auto find = [&](const char* name, const char* category, std::size_t layer) {
    for (const auto& [track, slices] : tracks)
      for (const Slice& slice : slices)
        if (names[track] == name && slice.category == category && slice.layer == layer)
          return slice;
    ADD_FAILURE() << name << " has no " << category << " of layer " << layer;
    return Slice{};
  };
  const Slice works = find("CMAC, group 1", "running", 1);
  const Slice waits = find("CMAC, group 0", "programmed", 2);
  EXPECT_LE(waits.begin, works.begin);
  EXPECT_GE(waits.end, works.end);
}

TEST_F(RunProfile, TraceGoesToStandardOutput) {
  const Result result = test::run_command("(" NVDLA_CLI " run " + file_ + input() +
                                              " -d model:nv_small --profile --profile-trace - 2>" +
                                              path("said") + ")",
                                          "");
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_FALSE(Json::parse(result.output).at("traceEvents").empty());
  std::ifstream said(path("said"));
  EXPECT_NE((std::string{std::istreambuf_iterator<char>(said), {}}.find("bound by")),
            std::string::npos);
  for (const char* other : {"--json", "-o -"}) {
    const Result both = nvdla("run " + file_ + input() + " -d model:nv_small --profile-trace - " +
                              std::string(other));
    EXPECT_EQ(both.status, 2) << both.output;
    EXPECT_NE(both.output.find("would both go to standard output"), std::string::npos)
        << both.output;
  }
  const Result full =
      nvdla("run " + file_ + input() + " -d model:nv_small --profile-trace /dev/full");
  EXPECT_NE(full.status, 0);
  EXPECT_NE(full.output.find("/dev/full"), std::string::npos) << full.output;
}

}  // namespace
}  // namespace nvdla
