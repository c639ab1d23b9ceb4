// SPDX-License-Identifier: MIT
//
// The command as a user meets it: what it prints and how it exits.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/command.hpp"
#include "temporary_folder.hpp"

namespace nvdla::replay {
namespace {

using Result = test::CommandResult;

Result nvdla(const std::string& arguments) { return test::run_command(NVDLA_CLI, arguments); }

// Writes a register and expects what it reads as.
std::string case_expecting(const std::string& value) {
  return R"({"regs": [["0x9044", "0x1f", "SDP_D_DATA_CUBE_CHANNEL"]],
    "expect_regs": [["0x9044", ")" +
         value + R"(", "SDP_D_DATA_CUBE_CHANNEL"]]})";
}

class Cli : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string root() const { return folder_.path().string(); }

  TemporaryFolder folder_;
};

TEST_F(Cli, ReplayPasses) {
  folder_.write("nv_small/a/case.json", case_expecting("0x1f"));
  folder_.write("nv_small/b/x.cfg",
                "reg_write(NVDLA_SDP.D_CVT_SHIFT_0, 3);\n"
                "poll_field_equal(NVDLA_SDP.D_CVT_SHIFT_0.CVT_SHIFT, 3);\n");
  // SDP.D_CVT_SHIFT of nv_full.
  folder_.write("nv_full/c/input.txn", "write_reg 0xffff2c32 5\nread_reg 0xffff2c32 0xf 5\nwait\n");
  const Result result = nvdla("replay " + root());
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "pass  " + path("nv_full/c/input.txn") + "\npass  " +
                               path("nv_small/a/case.json") + "\npass  " +
                               path("nv_small/b/x.cfg") + "\n3 passed, 0 failed, 0 skipped\n");
}

// Without plusargs.txt a read is not retried, and CDMA.S_CBUF_FLUSH_STATUS is not polled.
TEST_F(Cli, ReplayBeginsWhenResetHasEnded) {
  folder_.write("nv_full/a/input.txn", "read_reg 0xffff1403 0xffffffff 0x00000001\n");
  const Result result = nvdla("replay " + root());
  EXPECT_EQ(result.output,
            "pass  " + path("nv_full/a/input.txn") + "\n1 passed, 0 failed, 0 skipped\n");
}

TEST_F(Cli, ReplayFails) {
  folder_.write("nv_small/a/case.json", case_expecting("0x1e"));
  folder_.write("nv_small/b/case.json", case_expecting("0x1f"));
  const Result result = nvdla("replay " + root());
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.output,
            "FAIL  " + path("nv_small/a/case.json") +
                "  (expected 0x1e, got SDP.D_DATA_CUBE_CHANNEL = 0x0000001f at 0x09044)\npass  " +
                path("nv_small/b/case.json") + "\n1 passed, 1 failed, 0 skipped\n");
}

TEST_F(Cli, MalformedFilesFailAndTheRestIsPlayed) {
  folder_.write("nv_small/a/case.json", "{");
  folder_.write("nv_small/b/x.cfg", "reg_write(NVDLA_SDP.NO_0, 3);");
  folder_.write("nv_small/c/case.json", case_expecting("0x1f"));
  const Result result = nvdla("replay " + root());
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.output.find(path("nv_small/a/case.json") + ":1: not JSON: "), std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find(path("nv_small/b/x.cfg") +
                               ":1: unknown register 'NVDLA_SDP.NO_0'; expected "
                               "NVDLA_<UNIT>.<REGISTER>_0"),
            std::string::npos)
      << result.output;
  EXPECT_TRUE(result.output.ends_with("\n1 passed, 2 failed, 0 skipped\n")) << result.output;
}

// One wrong result among files that cannot be used is still a wrong result.
TEST_F(Cli, ADifferenceOutweighsAFileThatCannotBeUsed) {
  folder_.write("nv_small/a/case.json", "{");
  folder_.write("nv_small/b/case.json", case_expecting("0x1e"));
  EXPECT_EQ(nvdla("replay " + root()).status, 1);
}

TEST_F(Cli, ABlockedDeviceIsAFailure) {
  // SDP alone: its operand comes from SDP_RDMA, which is never enabled.
  folder_.write("nv_small/a/case.json",
                R"({"regs": [["0x90b0", "0x0", ""], ["0x9038", "0x1", ""]],
                    "expect_intr_status": "0x0"})");
  const Result result = nvdla("replay " + root());
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.output.find("the device does not finish ("), std::string::npos) << result.output;
}

TEST_F(Cli, ConfigurationComesFromTheFolder) {
  folder_.write("elsewhere/case.json", case_expecting("0x1f"));
  Result result = nvdla("replay " + root());
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.output.find("no folder of the path is named after a configuration"),
            std::string::npos)
      << result.output;
  result = nvdla("replay --device model:nv_small " + root());
  EXPECT_EQ(result.status, 0);
}

// Played on another configuration they would only fail.
TEST_F(Cli, FilesOfOtherConfigurationsAreSkipped) {
  folder_.write("nv_full/a/case.json", case_expecting("0x1f"));
  folder_.write("nv_small/b/case.json", case_expecting("0x1f"));
  const Result result = nvdla("replay --device model:nv_small,threads=1 " + root());
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "skip  " + path("nv_full/a/case.json") +
                               "  (for nv_full, the device is nv_small)\npass  " +
                               path("nv_small/b/case.json") + "\n1 passed, 0 failed, 1 skipped\n");
}

TEST_F(Cli, NothingToPlay) {
  const Result empty = nvdla("replay " + root());
  EXPECT_EQ(empty.status, 2);
  EXPECT_EQ(empty.output,
            "nvdla: no case, trace, dump or record found; expected case.json, *.cfg, *.txn or "
            "*.devcoredump files or records in the paths\n");
  EXPECT_EQ(nvdla("replay").status, 2);
  EXPECT_EQ(nvdla("replay " + root() + "/no").status, 2);
  folder_.write("nv_small/a/case.json", case_expecting("0x1f"));
  EXPECT_EQ(nvdla("replay --filter '*/b/*' " + root()).status, 2);
}

TEST_F(Cli, FilterAndList) {
  folder_.write("nv_small/a/case.json", case_expecting("0x1f"));
  folder_.write("nv_small/b/case.json", case_expecting("0x1e"));
  EXPECT_EQ(nvdla("replay --filter '*/a/*' " + root()).status, 0);
  EXPECT_EQ(nvdla("replay --list --filter '*/b/*' " + root()).output,
            path("nv_small/b/case.json") + "\n");
}

TEST_F(Cli, JsonReport) {
  folder_.write("nv_small/a/case.json", case_expecting("0x1e"));
  const Result result = nvdla("replay --json " + root());
  EXPECT_EQ(result.status, 1);
  const auto report = nlohmann::json::parse(result.output);
  EXPECT_EQ(report.at("failed"), 1);
  EXPECT_EQ(report.at("passed"), 0);
  EXPECT_EQ(report.at("files").at(0).at("result"), "fail");
  EXPECT_EQ(report.at("files").at(0).at("path"), path("nv_small/a/case.json"));
}

TEST_F(Cli, WrongArguments) {
  for (const char* arguments :
       {"", "no-such-command", "--no-such-option", "replay --quirks odd .", "info --device model:x",
        "info --device x", "regs NO.SUCH", "regs 0x3", "regs 0x40000", "regs CDMA.D_BANK many",
        "regs CDMA.D_BANK 0x100000000", "regs --device model:nv_full CFGROM.GLB_DESC",
        "replay --device kernel ."}) {
    const Result result = nvdla(arguments);
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_FALSE(result.output.empty()) << arguments;
  }
  EXPECT_EQ(nvdla("info -d x").output.find("nvdla: no device is called 'x'; valid are 'auto', "),
            0u);
}

TEST_F(Cli, Help) {
  for (const char* arguments : {"--help", "info --help", "regs --help", "replay --help"}) {
    const Result result = nvdla(arguments);
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_NE(result.output.find("Usage: nvdla"), std::string::npos) << result.output;
  }
}

TEST_F(Cli, InfoListsAllConfigurations) {
  const Result list = nvdla("info");
  EXPECT_EQ(list.status, 0);
  for (const char* name : {"nv_full", "nv_large", "nv_medium_1024_full", "nv_medium_512",
                           "nv_small_256_full", "nv_small_256", "nv_small"})
    EXPECT_NE(list.output.find(std::string("model:") + name + " "), std::string::npos) << name;
  const Result one = nvdla("info --device model:nv_full");
  EXPECT_EQ(one.status, 0);
  EXPECT_NE(one.output.find("16 banks of 256 entries of 128 bytes, 512 KiB"), std::string::npos)
      << one.output;
}

// The model's inner loops, best last; the environment may ask for others.
TEST_F(Cli, InfoSaysWhichKernelsThereAre) {
  const auto info = [](const std::string& environment) {
    return test::run_command(environment + " " + NVDLA_CLI, "info");
  };
  EXPECT_NE(info("NVDLA_KERNELS=").output.find("\nkernels of the model: portable"),
            std::string::npos);
  const Result portable = info("NVDLA_KERNELS=portable");
  EXPECT_EQ(portable.status, 0);
  EXPECT_NE(portable.output.find("; portable in use\n"), std::string::npos) << portable.output;
}

#ifdef NVDLA_EMULATED
// What the processor has and the system keeps back is not used, and whoever insists is told why.
TEST_F(Cli, KernelsThatTheSystemRefusesAreNamedWithTheReason) {
  const auto info = [](const std::string& environment) {
    return test::run_command(environment + " " + NVDLA_EMULATED, "info");
  };
  const std::string refused = "NVDLA_EMULATED_AMX='the system keeps them' ";
  const Result chosen = info(refused);
  EXPECT_EQ(chosen.status, 0);
  EXPECT_EQ(chosen.output.find("amx in use"), std::string::npos) << chosen.output;
  const Result forced = info(refused + "NVDLA_KERNELS=amx");
  EXPECT_EQ(forced.status, 2);
  // Unless the processor lacks what tiles are used with.
  if (chosen.output.find("not amx: this processor lacks") != std::string::npos) return;
  EXPECT_NE(chosen.output.find("\n  not amx: the system keeps them"), std::string::npos)
      << chosen.output;
  EXPECT_NE(forced.output.find("nvdla: NVDLA_KERNELS: kernels 'amx' cannot be used: the system "
                               "keeps them; this processor runs portable"),
            std::string::npos)
      << forced.output;
}
#endif

// Nothing is computed with other kernels than those that were asked for.
TEST_F(Cli, KernelsThatThereAreNotAreAnError) {
  folder_.write("nv_small/case.json", case_expecting("0x1f"));
  for (const std::string& command : {std::string("info"), "replay " + root()}) {
    const Result result =
        test::run_command(std::string("NVDLA_KERNELS=sse9 ") + NVDLA_CLI, command);
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_NE(result.output.find("nvdla: NVDLA_KERNELS: no set of kernels is called 'sse9'; there "
                                 "are portable"),
              std::string::npos)
        << result.output;
    EXPECT_EQ(result.output.find("FAIL"), std::string::npos) << result.output;
  }
}

TEST_F(Cli, RegistersAreDecoded) {
  EXPECT_EQ(nvdla("regs CDMA.D_BANK 0x2000b").output,
            "0x050bc  CDMA.D_BANK = 0x0002000b (DATA_BANK 11, WEIGHT_BANK 2)\n");
  EXPECT_EQ(nvdla("regs -d model:nv_small NVDLA_CDMA.D_BANK_0 0x2000b").output,
            nvdla("regs -d model:nv_small 0x30bc 0x2000b").output);
  EXPECT_NE(nvdla("regs").output.find("CDMA.D_BANK"), std::string::npos);
}

TEST_F(Cli, RegistersOfADeviceAreRead) {
  const std::string live = "regs --live -d model:nv_small ";
  const Result version = nvdla(live + "GLB.S_NVDLA_HW_VERSION");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.output, nvdla("regs -d model:nv_small 0x1000 0x00303031").output);
  EXPECT_EQ(nvdla(live + "0x1000").output, version.output);
  // A unit is a part of all; nv_small has no Rubik.
  const std::string all = nvdla(live).output;
  const std::string unit = nvdla(live + "SDP").output;
  EXPECT_NE(all.find(unit), std::string::npos);
  EXPECT_NE(unit.find("  group 0  SDP.D_CVT_SHIFT = 0x00000000"), std::string::npos) << unit;
  EXPECT_EQ(unit.find("GLB."), std::string::npos);
  EXPECT_EQ(all.find("RBK."), std::string::npos);
  // A port moves on when it is read.
  EXPECT_EQ(all.find("S_LUT_ACCESS_DATA"), std::string::npos);
}

TEST_F(Cli, RegistersThatCannotBeReadAreNamed) {
  const auto refused = [&](const std::string& arguments, const std::string& text) {
    const Result result = nvdla("regs --live " + arguments);
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_NE(result.output.find(text), std::string::npos) << result.output;
  };
  refused("-d model:nv_small CDP.S_LUT_ACCESS_DATA",
          "--live CDP.S_LUT_ACCESS_DATA: reading it would move its index on");
  refused("-d model:nv_small SDP.D_OP_ENABLES", "unknown register 'SDP.D_OP_ENABLES'");
  refused("-d model:nv_small RBK", "--live RBK: nv_small has no such unit");
  refused("-d model:nv_small SPD", "unknown register 'SPD'");
  refused("-d model:nv_small 0x9ffc", "--live 0x9ffc: there is no register");
  refused("-d model:nv_small GLB.S_INTR_MASK 1", "expected none behind the register, not '1'");
  refused("-d kernel", "the registers of a kernel device are its driver's");
  refused("", "--live: of which device? expected --device");
  EXPECT_EQ(nvdla("regs --live -d mmio:ffff:ff:1f.7").status, 3);
}

}  // namespace
}  // namespace nvdla::replay
