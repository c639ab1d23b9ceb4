// SPDX-License-Identifier: MIT
//
// Records as a user meets them: what the commands print and how they exit.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/command.hpp"
#include "recorded.hpp"
#include "tools/diff/rerun.hpp"
#include "unit/tools/temporary_folder.hpp"

namespace nvdla {
namespace {

class TraceCommands : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  static test::CommandResult nvdla(const std::string& arguments) {
    return test::run_command(NVDLA_CLI, arguments);
  }
  // good.record, and bad.record with a wrong byte.
  void SetUp() override {
    const test::RecordedNetwork network = {
        "conv",
        "nv_small",
        {.channels = 8, .height = 3, .width = 4},
        Precision::kInt8,
        [](Network& net, Tensor in) { return test::convolve(net, in, 8, 8, Precision::kInt8); }};
    auto jobs = test::record(folder_.path() / "good.record", network).jobs;
    value_ = std::to_integer<unsigned>(jobs[0].written[0].bytes[17]);
    jobs[0].written[0].bytes[17] = std::byte(value_ ^ 1);
    const auto bytes = compare::record_bytes(jobs[0]);
    folder_.write("bad.record",
                  std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  static void expect_part(const test::CommandResult& result, const std::string& part) {
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output;
  }

  replay::TemporaryFolder folder_;
  unsigned value_ = 0;
};

TEST_F(TraceCommands, ReplayPlaysRecords) {
  auto result = nvdla("replay " + path("good.record"));
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "pass  " + path("good.record") + "\n1 passed, 0 failed, 0 skipped\n");
  result = nvdla("replay " + path("bad.record"));
  EXPECT_EQ(result.status, 1);
  expect_part(result, "(job 1: memory 0x");
  result = nvdla("replay -d model:nv_full " + path("good.record"));
  EXPECT_EQ(result.status, 0);
  expect_part(result, "(for nv_small, the device is nv_full)");
}

TEST_F(TraceCommands, DiffTellsTheElement) {
  auto result = nvdla("diff " + path("good.record") + " " + path("good.record"));
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "no difference in 1 job\n");
  for (const std::string& other :
       {path("good.record"), std::string("auto"), std::string("model:nv_small")}) {
    result = nvdla("diff --json " + path("bad.record") + " " + other);
    EXPECT_EQ(result.status, 1);
    const auto found = nlohmann::json::parse(result.output);
    EXPECT_EQ(found.at("same"), false);
    EXPECT_EQ(found.at("job"), 1);
    EXPECT_EQ(found.at("layer"), 0);
    EXPECT_EQ(found.at("name"), "conv");
    EXPECT_NE(found.at("what").get<std::string>().find("element (x 2, y 0, channel 1)"),
              std::string::npos);
    char hex[8];
    std::snprintf(hex, sizeof(hex), "0x%02x", value_);
    EXPECT_TRUE(found.at("b").get<std::string>().starts_with(hex)) << result.output;
  }
  result = nvdla("diff " + path("good.record") + " " + path("bad.record"));
  EXPECT_EQ(result.status, 1);
  expect_part(result, "job 1, layer 0 'conv' (conv+sdp): output: ");
}

TEST_F(TraceCommands, ReduceWritesTheLayer) {
  const std::string small = path("small.record");
  auto result = nvdla("replay --reduce " + small + " " + path("good.record"));
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_FALSE(std::filesystem::exists(small));
  result = nvdla("replay --reduce " + small + " " + path("bad.record"));
  EXPECT_EQ(result.status, 1) << result.output;
  expect_part(result, small + ": 1 of 1 layers, still different alone\n");
  EXPECT_EQ(nvdla("replay " + small).status, 1);
  result = nvdla("replay --reduce /dev/full/x.record " + path("bad.record"));
  EXPECT_EQ(result.status, 4) << result.output;
}

TEST_F(TraceCommands, RegsDecodesFiles) {
  auto result = nvdla("regs " + path("good.record") + " SDP");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output.find("job 1, layer 0 'conv' (conv+sdp)\n"), 0U) << result.output;
  expect_part(result, "\n0x09044  SDP.D_DATA_CUBE_CHANNEL = 0x00000007 (CHANNEL 7)\n");
  EXPECT_EQ(result.output.find("CDMA."), std::string::npos);
  expect_part(nvdla("regs " + path("good.record")), "  CDMA.D_BANK = ");
  // As debugfs of the driver.
  folder_.write("registers",
                "0x09044 0x00000007 SDP.D_DATA_CUBE_CHANNEL group 1\n"
                "0x0100c 0x00000001 GLB.S_INTR_STATUS\n");
  result = nvdla("regs -d model:nv_small " + path("registers"));
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(
      result.output.find("0x09044  group 1  SDP.D_DATA_CUBE_CHANNEL = 0x00000007 (CHANNEL 7)\n"
                         "0x0100c  GLB.S_INTR_STATUS = 0x00000001 ("),
      0U)
      << result.output;
  result = nvdla("regs -d model:nv_full " + path("registers"));
  EXPECT_EQ(result.status, 2);
  expect_part(result, ":1: 0x09044 is called 'SDP.D_DATA_CUBE_CHANNEL' there; expected ");
  EXPECT_EQ(nvdla("regs " + path("good.record") + " NONE").status, 2);
  EXPECT_EQ(nvdla("regs " + path("no.record")).status, 2);
  folder_.write("registers", "SDP 3\n");
  result = nvdla("regs " + path("registers"));
  EXPECT_EQ(result.status, 2);
  expect_part(result, "registers:1: ");
}

TEST_F(TraceCommands, WrongArguments) {
  folder_.write("damaged.record", "NVDLADMP");
  for (const std::string& arguments :
       {std::string("diff"), "diff " + path("good.record"),
        "diff " + path("no.record") + " " + path("good.record"),
        "diff " + path("damaged.record") + " auto",
        "diff " + path("good.record") + " " + path("damaged.record"),
        "diff " + path("good.record") + " model:nv_full", "diff " + path("good.record") + " x",
        "replay --reduce x.record " + path("no.record"),
        "replay --reduce x.record " + path("bad.record") + " " + path("good.record"),
        "replay --reduce x.record -d model:nv_full " + path("bad.record")}) {
    const auto result = nvdla(arguments);
    EXPECT_EQ(result.status, arguments.ends_with(" x") ? 3 : 2) << arguments << result.output;
    EXPECT_FALSE(result.output.empty()) << arguments;
  }
  expect_part(nvdla("replay " + path("damaged.record")),
              "damaged.record: at byte 0: the header has 192 bytes, 8 are left; expected them");
  EXPECT_EQ(nvdla("diff --help").status, 0);
  const auto full = nvdla("diff " + path("good.record") + " auto >/dev/full");
  EXPECT_EQ(full.status, 4) << full.output;
}

}  // namespace
}  // namespace nvdla
