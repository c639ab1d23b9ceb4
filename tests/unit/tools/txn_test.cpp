// SPDX-License-Identifier: MIT
#include "expect_error.hpp"
#include "tools/replay/parsers.hpp"

namespace nvdla::replay {
namespace {

Script txn_script(std::string_view text, const PlusArgs& plusargs = {}, Ram ram = Ram::kPrimary) {
  return parse_txn(text, "t.txn", NVDLA_REGMAP_NV_FULL, plusargs, ram);
}

std::string txn_error(std::string_view text) {
  return error_of([&] { txn_script(text); });
}

TEST(Txn, Commands) {
  const Script script = txn_script(
      "# load_mem(addr, offset,  file)\n"
      "\n"
      "write_reg 0xffff3406 0x6 #NVDLA_PDP.D_DATA_CUBE_OUT_WIDTH_0\r\n"
      "read_reg 0xffff3406 0x0000000f 0x00000016\n"
      "\tload_mem 0x80000000 0x2000 in.dat \n"
      "wait\n"
      "dump_mem 0x80100000 0x1880 out.dat#comment",
      {7, true}, Ram::kSecondary);
  EXPECT_TRUE(script.continue_on_fail);
  ASSERT_EQ(script.commands.size(), 6u);
  const auto& write = std::get<WriteRegister>(script.commands[0].action);
  EXPECT_EQ(write.offset, 0xd018u);
  EXPECT_EQ(write.value, 6u);
  EXPECT_EQ(script.commands[0].line, 3u);
  const auto& read = std::get<CheckRegister>(script.commands[1].action);
  EXPECT_EQ(read.mask, 0xfu);
  EXPECT_EQ(read.value, 6u);
  EXPECT_EQ(read.retries, 7u);
  const auto& load = std::get<LoadMemory>(script.commands[2].action);
  EXPECT_EQ(load.ram, Ram::kSecondary);
  EXPECT_EQ(load.size, 0x2000u);
  EXPECT_EQ(load.file.name, "in.dat");
  EXPECT_FALSE(load.file.optional);
  EXPECT_TRUE(std::holds_alternative<WaitInterrupt>(script.commands[3].action));
  const auto& dump = std::get<CompareMemory>(script.commands[4].action);
  EXPECT_EQ(dump.file.name, "out.dat");
  EXPECT_TRUE(dump.file.optional);
  EXPECT_TRUE(std::holds_alternative<Finish>(script.commands[5].action));
}

TEST(Txn, ReadsAreNotRetriedByDefault) {
  const Script script = txn_script("read_reg 0 0 0\n");
  EXPECT_EQ(std::get<CheckRegister>(script.commands[0].action).retries, 0u);
  EXPECT_FALSE(script.continue_on_fail);
}

TEST(Txn, Errors) {
  EXPECT_EQ(txn_error("# nothing\n"), "t.txn: no command; expected at least one");
  EXPECT_EQ(txn_error("\nwrite_mem 0 0"),
            "t.txn:2: unknown command 'write_mem'; expected write_reg, read_reg, load_mem, "
            "dump_mem or wait");
  EXPECT_EQ(txn_error("write_reg 0x0"),
            "t.txn:1: write_reg has 1 arguments; expected write_reg ADDRESS VALUE");
  EXPECT_EQ(txn_error("write_reg 0 0 0"),
            "t.txn:1: write_reg has 3 arguments; expected write_reg ADDRESS VALUE");
  EXPECT_EQ(txn_error("read_reg 0 0"),
            "t.txn:1: read_reg has 2 arguments; expected read_reg ADDRESS MASK EXPECTED");
  EXPECT_EQ(txn_error("load_mem 0 1"),
            "t.txn:1: load_mem has 2 arguments; expected load_mem ADDRESS SIZE FILE");
  EXPECT_EQ(txn_error("dump_mem 0 1 a b"),
            "t.txn:1: dump_mem has 4 arguments; expected dump_mem ADDRESS SIZE FILE");
  EXPECT_EQ(txn_error("wait 1"), "t.txn:1: wait has 1 arguments; expected wait");
  EXPECT_EQ(txn_error("write_reg 0x100000000 0"),
            "t.txn:1: register address '0x100000000' is too large; expected at most 0xffffffff");
  EXPECT_EQ(txn_error("write_reg 0xffff 0x100000000"),
            "t.txn:1: value '0x100000000' is too large; expected at most 0xffffffff");
  EXPECT_EQ(txn_error("read_reg 0 x 0"),
            "t.txn:1: mask 'x' is not a number; expected a decimal or 0x hexadecimal number");
  EXPECT_EQ(txn_error("load_mem 0 0x1000000000000000 a"),
            "t.txn:1: size 0x1000000000000000 of the memory range at 0x0 is out of range; expected "
            "1 to 0x40000000");
  EXPECT_EQ(txn_error("load_mem 0 1 ../a"),
            "t.txn:1: file name '../a' leads out of the folder; expected the name of a file in the "
            "folder");
}

TEST(PlusArgs, KnownAndUnknown) {
  const PlusArgs plusargs =
      parse_plusargs("+read_reg_poll_retries=100000 +continue_on_fail\n+other=1\n", "p");
  EXPECT_EQ(plusargs.read_retries, 100000u);
  EXPECT_TRUE(plusargs.continue_on_fail);
  EXPECT_EQ(parse_plusargs("", "p").read_retries, 0u);
  EXPECT_FALSE(parse_plusargs("", "p").continue_on_fail);
}

TEST(PlusArgs, Errors) {
  EXPECT_EQ(error_of([] { parse_plusargs("\n+read_reg_poll_retries=many", "p"); }),
            "p:2: read_reg_poll_retries 'many' is not a number; expected a decimal or 0x "
            "hexadecimal number");
  EXPECT_EQ(error_of([] { parse_plusargs("+read_reg_poll_retries", "p"); }),
            "p:1: read_reg_poll_retries '' is not a number; expected a decimal or 0x hexadecimal "
            "number");
  EXPECT_EQ(error_of([] { parse_plusargs("retries=1", "p"); }),
            "p:1: 'retries=1' is no option; expected +name or +name=value");
}

}  // namespace
}  // namespace nvdla::replay
