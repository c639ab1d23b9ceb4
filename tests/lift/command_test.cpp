// SPDX-License-Identifier: MIT
//
// nvdla-lift as a user meets it, with cases made here: what passes, and that
// everything which may differ is found.
#include "common/command.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/core/register_info.hpp"
#include "unit/tools/temporary_folder.hpp"

namespace nvdla::test {
namespace {

using Result = CommandResult;

Result lift(const std::string& arguments) { return run_command(NVDLA_LIFT, arguments); }

// A reshaping of 32 channels of one position: a copy of 32 bytes.
class Command : public testing::Test {
 protected:
  Command()
      : registers{{"RBK.D_MISC_CFG", 0},
                  {"RBK.D_DAIN_RAM_TYPE", 1},
                  {"RBK.D_DATAIN_SIZE_0", 0},
                  {"RBK.D_DATAIN_SIZE_1", 31},
                  {"RBK.D_DAIN_ADDR_LOW", 0x1000},
                  {"RBK.D_DAIN_ADDR_HIGH", 0},
                  {"RBK.D_DAIN_LINE_STRIDE", 32},
                  {"RBK.D_DAIN_SURF_STRIDE", 32},
                  {"RBK.D_DAOUT_RAM_TYPE", 1},
                  {"RBK.D_DATAOUT_SIZE_1", 31},
                  {"RBK.D_DAOUT_ADDR_LOW", 0x2000},
                  {"RBK.D_DAOUT_ADDR_HIGH", 0},
                  {"RBK.D_DAOUT_LINE_STRIDE", 32},
                  {"RBK.D_DAOUT_SURF_STRIDE", 32},
                  {"RBK.D_CONTRACT_STRIDE_0", 32},
                  {"RBK.D_CONTRACT_STRIDE_1", 32},
                  {"RBK.D_DECONV_STRIDE", 0}} {}

  void write(const std::string& name) {
    using nlohmann::json;
    json regs = json::array();
    const auto add = [&](const std::string& reg, std::uint32_t value) {
      const auto address =
          model::register_address(NVDLA_REGMAP_NV_FULL, *model::find_register(reg));
      regs.push_back({*address, value, reg});
    };
    for (const auto& [reg, value] : registers) add(reg, value);
    for (const auto& reg : starts) add(reg, 1);
    const json document = {
        {"fill", {{{"addr", "0x2000"}, {"size", 64}, {"byte", 0xa5}}}},
        {"mem", {{{"addr", "0x1000"}, {"size", 32}, {"file", "in.bin"}}}},
        {"regs", regs},
        {"expect_mem", {{{"addr", "0x2000"}, {"size", expected.size()}, {"file", "out.bin"}}}}};
    folder.write(name + "/case.json", document.dump());
    folder.write(name + "/in.bin", contents);
    folder.write(name + "/out.bin", expected);
  }
  std::string root() const { return folder.path().string(); }

  replay::TemporaryFolder folder;
  std::map<std::string, std::uint32_t> registers;
  std::vector<std::string> starts = {"RBK.D_OP_ENABLE"};
  std::string contents = "Was hier steht, steht auch dort!";
  std::string expected = contents;
};

TEST_F(Command, LiftsWhatIsRight) {
  write("nv_full/a");
  registers["RBK.D_DAOUT_RAM_TYPE"] = 0;
  write("nv_full/sram");
  const Result result = lift(root());
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "lifted   " + root() +
                               "/nv_full/a/case.json  (1 layer, 32 bytes and 0 counters "
                               "compared)\nlifted   " +
                               root() +
                               "/nv_full/sram/case.json  (1 layer, 32 bytes and 0 counters "
                               "compared)\n2 lifted, 0 refused, 0 failed\n");
}

// A source stride of 0 reads the same line again.
TEST_F(Command, CopiesALineSeveralTimes) {
  registers = {{"BDMA.CFG_CMD", 3},
               {"BDMA.CFG_SRC_ADDR_LOW", 0x1000},
               {"BDMA.CFG_DST_ADDR_LOW", 0x2000},
               {"BDMA.CFG_DST_LINE", 32},
               {"BDMA.CFG_LINE_REPEAT", 1}};
  starts = {"BDMA.CFG_OP", "BDMA.CFG_LAUNCH0"};
  expected = contents + contents;
  write("nv_full/a");
  EXPECT_EQ(lift(root()).output, "lifted   " + root() +
                                     "/nv_full/a/case.json  (1 layer, 64 bytes and 0 counters "
                                     "compared)\n1 lifted, 0 refused, 0 failed\n");
}

TEST_F(Command, FailsWhereMemoryDiffers) {
  expected[3] ^= 1;
  expected[5] ^= 1;
  write("nv_full/a");
  const Result result = lift(root());
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.output.find("(memory 0x2003: expected 0x21, got 0x20 (first of 2 wrong bytes of "
                               "32 in out.bin))\n0 lifted, 0 refused, 1 failed\n"),
            std::string::npos)
      << result.output;
  EXPECT_EQ(lift("--list " + root()).status, 0);
}

TEST_F(Command, FailsWhereRegistersDiffer) {
  registers["RBK.D_CONTRACT_STRIDE_1"] = 64;
  write("nv_full/a");
  const Result result = lift("--list " + root());
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.output.find("(launch 0: RBK.D_CONTRACT_STRIDE_1 = 0x00000020"),
            std::string::npos)
      << result.output;
}

TEST_F(Command, ListsWhatIsRefused) {
  registers["RBK.D_DATAIN_SIZE_0"] = 1;  // two positions
  for (const char* stride : {"DAIN_LINE", "DAIN_SURF", "DAOUT_LINE", "DAOUT_SURF"})
    registers["RBK.D_" + std::string(stride) + "_STRIDE"] = 64;
  write("nv_full/beyond");
  registers["RBK.D_DAIN_ADDR_LOW"] = 0x3000;
  write("nv_full/nowhere");
  const Result result = lift("--json " + root());
  EXPECT_EQ(result.status, 0);
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json.at("lifted"), 0);
  EXPECT_EQ(json.at("refused"), 2);
  EXPECT_EQ(json.at("files").at(0).at("result"), "refused");
  EXPECT_EQ(json.at("files").at(0).at("rule"), "extent");
  EXPECT_EQ(json.at("files").at(1).at("rule"), "no descriptor");
  EXPECT_EQ(json.at("files").at(1).at("reason"), "address 12288 is in no memory");
  EXPECT_EQ(json.at("refused_by_rule").at("no descriptor"), 1);
}

TEST_F(Command, LeavesOutOtherConfigurationsThanTheDevices) {
  write("nv_full/a");
  write("nv_small/a");  // which has no such unit
  const Result result = lift("--device model:nv_full " + root());
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.output.find("\n1 of other configurations than the device's left out\n"
                               "1 lifted, 0 refused, 0 failed\n"),
            std::string::npos)
      << result.output;
}

TEST_F(Command, SaysWhatItCannotUse) {
  EXPECT_EQ(lift("").status, 2);
  EXPECT_EQ(lift("--help").status, 0);
  EXPECT_EQ(lift(root()).output,
            "nvdla-lift: no case or trace found; expected case.json, *.cfg or *.txn files in the "
            "paths\n");
  write("nv_full/a");
  EXPECT_EQ(lift("--device model:none " + root()).status, 2);
  write("elsewhere/a");
  const Result result = lift(root());
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.output.find("(no folder of the path is named after a configuration)"),
            std::string::npos)
      << result.output;
}

}  // namespace
}  // namespace nvdla::test
