// SPDX-License-Identifier: MIT
#include "expect_error.hpp"
#include "tools/replay/parsers.hpp"

namespace nvdla::replay {
namespace {

Script cfg_script(std::string_view text) { return parse_cfg(text, "t.cfg", NVDLA_REGMAP_NV_SMALL); }

std::string cfg_error(std::string_view text) {
  return error_of([&] { cfg_script(text); });
}

template <typename Action>
std::vector<Action> all(const Script& script) {
  std::vector<Action> actions;
  for (const Command& command : script.commands)
    if (const auto* action = std::get_if<Action>(&command.action)) actions.push_back(*action);
  return actions;
}

// The interrupt that an intr_notify with only a sync id means.
std::uint32_t last_unit(std::string_view writes) {
  const Script script = cfg_script(std::string(writes) + "\nintr_notify(id);");
  return all<ExpectInterrupt>(script).at(0).bit;
}

TEST(Cfg, Commands) {
  const Script script = cfg_script(
      "// comment with reg_write(\n"
      "reg_write(NVDLA_SDP.D_CVT_SHIFT_0, 0xa); // trailing\r\n"
      "mem_init(sec_mem, 0x50000000, 0x10, ALL_ZERO);\n"
      "  mem_load( 1 , 0x80000000 , \"a // b.dat\" ) ;\n"
      "intr_notify(sdp_1, done);\n"
      "check_crc(done, pri_mem, 0x80, 0x40, 0x9F5EDD58);\n"
      "check_file(done, 0, 0x90, 16, \"out.dat\");\n"
      "check_nothing(done);\n");
  EXPECT_EQ(all<WriteRegister>(script).at(0).offset, 0x90c8u);
  EXPECT_EQ(all<WriteRegister>(script).at(0).value, 0xau);
  const auto fill = all<FillMemory>(script).at(0);
  EXPECT_EQ(fill.ram, Ram::kSecondary);
  EXPECT_EQ(fill.byte, 0u);
  const auto load = all<LoadMemory>(script).at(0);
  EXPECT_EQ(load.ram, Ram::kPrimary);
  EXPECT_EQ(load.address, 0x80000000u);
  EXPECT_EQ(load.size, 0u);
  EXPECT_EQ(load.file.name, "a // b.dat");
  EXPECT_EQ(all<ExpectInterrupt>(script).at(0).bit, 2u);
  const auto crc = all<CheckCrc>(script).at(0);
  EXPECT_EQ(crc.address, 0x80u);
  EXPECT_EQ(crc.size, 0x40u);
  EXPECT_EQ(crc.crc, 0x9f5edd58u);
  const auto file = all<CompareMemory>(script).at(0);
  EXPECT_EQ(file.ram, Ram::kSecondary);
  EXPECT_EQ(file.size, 16u);
  EXPECT_FALSE(file.file.optional);
  // One wait for each check, one at the end.
  EXPECT_EQ(all<AwaitSync>(script).size(), 4u);
  EXPECT_TRUE(std::holds_alternative<Finish>(script.commands.back().action));
  EXPECT_EQ(script.commands[0].line, 2u);
}

TEST(Cfg, SeveralStatementsOnALine) {
  EXPECT_EQ(all<WriteRegister>(cfg_script("reg_write(NVDLA_SDP.S_POINTER_0, 0);"
                                          "reg_write(NVDLA_SDP.S_POINTER_0, 1); // x"))
                .size(),
            2u);
}

TEST(Cfg, WritesToUnitsWithoutAWindowAreDropped) {
  // nv_full has no identification ROM.
  const Script script =
      parse_cfg("reg_write(NVDLA_CFGROM.GLB_DESC_0, 1);", "t.cfg", NVDLA_REGMAP_NV_FULL);
  EXPECT_TRUE(all<WriteRegister>(script).empty());
  EXPECT_EQ(script.dropped_writes, 1u);
}

TEST(Cfg, Polls) {
  const auto poll = [](std::string_view text) {
    return all<CheckRegister>(cfg_script(text)).at(0);
  };
  const CheckRegister equal = poll("poll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0,0x1);");
  EXPECT_EQ(equal.offset, 0x300cu);
  EXPECT_EQ(equal.compare, Compare::kEqual);
  EXPECT_EQ(equal.mask, ~0u);
  EXPECT_EQ(equal.retries, kUntilStuck);
  EXPECT_EQ(poll("poll_reg_not_equal(NVDLA_SDP.S_STATUS_0, 0);").compare, Compare::kNotEqual);
  EXPECT_EQ(poll("poll_reg_greater(NVDLA_SDP.S_STATUS_0, 0);").compare, Compare::kGreater);
  EXPECT_EQ(poll("poll_reg_not_greater(NVDLA_SDP.S_STATUS_0, 0);").compare, Compare::kNotGreater);
  EXPECT_EQ(poll("poll_reg_less(NVDLA_SDP.S_STATUS_0, 0);").compare, Compare::kLess);
  EXPECT_EQ(poll("poll_reg_not_less(NVDLA_SDP.S_STATUS_0, 0);").compare, Compare::kNotLess);
  for (const char* text : {"poll_field_equal(NVDLA_SDP.S_STATUS_0.STATUS_1, 2);",
                           "poll_field_equal(NVDLA_SDP.S_STATUS_0, STATUS_1, 2);"}) {
    const CheckRegister field = poll(text);
    EXPECT_EQ(field.mask, 0x30000u);
    EXPECT_EQ(field.shift, 16u);
    EXPECT_EQ(field.value, 2u);
    EXPECT_EQ(field.compare, Compare::kEqual);
  }
  EXPECT_EQ(poll("poll_field_not_less(NVDLA_SDP.S_STATUS_0.STATUS_0, 1);").compare,
            Compare::kNotLess);
}

TEST(Cfg, InterruptNames) {
  const struct {
    const char* name;
    std::uint32_t bit;
  } kNames[] = {
      {"SDP_0", 1u},           {"SDP_1", 2u},       {"CDP_0", 4u},       {"PDP_0", 0x10u},
      {"bdma_1", 0x80u},       {"RBK_0", 0x100u},   {"RUBIK_1", 0x200u}, {"CDMA_DAT_0", 1u << 16},
      {"cdma_wt_0", 1u << 18}, {"CACC_1", 1u << 21}};
  for (const auto& [name, bit] : kNames) {
    const Script script = cfg_script("intr_notify(" + std::string(name) + ", id);");
    EXPECT_EQ(all<ExpectInterrupt>(script).at(0).bit, bit) << name;
  }
}

TEST(Cfg, InterruptOfTheLastUnit) {
  EXPECT_EQ(last_unit("reg_write(NVDLA_SDP.D_OP_ENABLE_0, 1);"
                      "reg_write(NVDLA_CACC.D_OP_ENABLE_0, 1);"
                      "reg_write(NVDLA_CDMA.D_OP_ENABLE_0, 1);"),
            1u);
  EXPECT_EQ(last_unit("reg_write(NVDLA_PDP.D_OP_ENABLE_0, 1);"
                      "reg_write(NVDLA_SDP.D_OP_ENABLE_0, 1);"),
            0x10u);
  EXPECT_EQ(last_unit("reg_write(NVDLA_CDP.S_POINTER_0, 1);"
                      "reg_write(NVDLA_CDP_RDMA.D_OP_ENABLE_0, 1);"
                      "reg_write(NVDLA_CDP.D_OP_ENABLE_0, 1);"),
            8u);
  EXPECT_EQ(last_unit("reg_write(NVDLA_BDMA.CFG_LAUNCH1_0, 1);"), 0x80u);
  EXPECT_EQ(last_unit("reg_write(NVDLA_RBK.D_OP_ENABLE_0, 1);"), 0x100u);
  // What was notified by name is not meant again.
  EXPECT_EQ(
      cfg_error("reg_write(NVDLA_SDP.D_OP_ENABLE_0, 1);\nintr_notify(SDP_0, a);\n"
                "intr_notify(b);"),
      "t.cfg:3: intr_notify of 'b' names no unit and no layer was enabled before it; expected "
      "intr_notify(UNIT_GROUP, SYNC_ID)");
}

TEST(Cfg, SyncIds) {
  const Script script = cfg_script(
      "sync_notify(NVDLA_CACC, a);\nsync_wait(NVDLA_CMAC_A, a);\n"
      "intr_notify(SDP_0, b);\nsync_wait(NVDLA_PDP, b);\n");
  // Only what an interrupt signals needs a wait.
  EXPECT_EQ(all<AwaitSync>(script).size(), 2u);
  EXPECT_EQ(script.syncs, std::vector<std::string>{"b"});
}

TEST(Cfg, MissingFileStandsForZerosOnlyIfTheTraceWouldNotice) {
  const std::string init = "mem_init(pri_mem, 0x100, 0x100, ALL_ZERO);\n";
  const std::string load = "mem_load(pri_mem, 0x1ff, \"a\");\n";
  const std::string check = "intr_notify(SDP_0, x);\ncheck_crc(x, 1, 0, 1, 0);\n";
  const auto optional = [](const std::string& text) {
    return all<LoadMemory>(cfg_script(text)).at(0).file.optional;
  };
  EXPECT_TRUE(optional(init + load + check));
  EXPECT_FALSE(optional(load + check));
  EXPECT_FALSE(optional(load + init + check));
  EXPECT_FALSE(optional(init + load));
  EXPECT_FALSE(optional("mem_init(pri_mem, 0x100, 0xff, ALL_ZERO);\n" + load + check));
  EXPECT_FALSE(optional("mem_init(sec_mem, 0x100, 0x100, ALL_ZERO);\n" + load + check));
}

TEST(Cfg, ClearedRangesAreMerged) {
  const auto optional = [](const std::string& address) {
    return all<LoadMemory>(cfg_script("mem_init(1, 0x30, 0x10, ALL_ZERO);\n"
                                      "mem_init(1, 0x10, 0x10, ALL_ZERO);\n"
                                      "mem_init(1, 0x1f, 0x12, ALL_ZERO);\n"
                                      "mem_init(1, 0x80, 0x1, ALL_ZERO);\n"
                                      "mem_load(1, " +
                                      address +
                                      ", \"a\");\n"
                                      "intr_notify(SDP_0, x);\ncheck_crc(x, 1, 0, 1, 0);\n"))
        .at(0)
        .file.optional;
  };
  for (const char* address : {"0x10", "0x1f", "0x20", "0x2f", "0x30", "0x3f", "0x80"})
    EXPECT_TRUE(optional(address)) << address;
  for (const char* address : {"0x0", "0xf", "0x40", "0x7f", "0x81", "0xffffffffffffffff"})
    EXPECT_FALSE(optional(address)) << address;
}

TEST(Cfg, SyntaxErrors) {
  EXPECT_EQ(cfg_error("// nothing"), "t.cfg: no command; expected at least one");
  EXPECT_EQ(cfg_error("\n(x)"),
            "t.cfg:2: unexpected '(x)'; expected a command such as reg_write(REGISTER, VALUE);");
  EXPECT_EQ(cfg_error("reg_write"), "t.cfg:1: the line ends; expected '(' after 'reg_write'");
  EXPECT_EQ(cfg_error("reg_write("), "t.cfg:1: the line ends; expected an argument of 'reg_write'");
  EXPECT_EQ(cfg_error("reg_write(a,)"),
            "t.cfg:1: unexpected ')'; expected an argument of 'reg_write'");
  EXPECT_EQ(cfg_error("reg_write(a"),
            "t.cfg:1: the line ends; expected ',' or ')' after an argument");
  EXPECT_EQ(cfg_error("reg_write(a;"),
            "t.cfg:1: unexpected ';'; expected ',' or ')' after an argument");
  EXPECT_EQ(cfg_error("check_nothing(a)"), "t.cfg:1: the line ends; expected ';' after ')'");
  EXPECT_EQ(cfg_error("mem_load(1, 0, \"a);\n"),
            "t.cfg:1: the string '\"a);' does not end; expected '\"' on the same line");
  EXPECT_EQ(cfg_error("mem_load(1, 0, \"a\"x);"),
            "t.cfg:1: unexpected 'x);'; expected ',' or ')' after an argument");
}

TEST(Cfg, UnknownNames) {
  EXPECT_EQ(cfg_error("mem_dump(a);"),
            "t.cfg:1: unknown command 'mem_dump'; expected reg_write, mem_init, mem_load, "
            "poll_reg_* or poll_field_*, intr_notify, sync_notify, sync_wait, check_crc, "
            "check_file or check_nothing");
  EXPECT_EQ(cfg_error("poll_reg_odd(NVDLA_SDP.S_STATUS_0, 1);"),
            "t.cfg:1: unknown command 'poll_reg_odd'; expected equal, not_equal, greater, "
            "not_greater, less or not_less after poll_reg_ or poll_field_");
  for (const char* name : {"NVDLA_SDP.NO_SUCH_0", "NVDLA_XYZ.S_POINTER_0", "SDP.S_POINTER_0",
                           "NVDLA_SDP.S_POINTER", "NVDLA_0"})
    EXPECT_EQ(cfg_error("reg_write(" + std::string(name) + ", 0);"),
              "t.cfg:1: unknown register '" + std::string(name) +
                  "'; expected NVDLA_<UNIT>.<REGISTER>_0");
  EXPECT_EQ(cfg_error("poll_field_equal(NVDLA_SDP.S_STATUS_0.NO, 1);"),
            "t.cfg:1: register 'NVDLA_SDP.S_STATUS_0' has no field 'NO'; expected REGISTER.FIELD");
  EXPECT_EQ(cfg_error("poll_field_equal(NVDLA_SDP, 1);"),
            "t.cfg:1: unknown register 'NVDLA_SDP'; expected NVDLA_<UNIT>.<REGISTER>_0");
  EXPECT_EQ(cfg_error("mem_init(tri_mem, 0, 1, ALL_ZERO);"),
            "t.cfg:1: unknown memory 'tri_mem'; expected pri_mem, sec_mem, 1 or 0");
  EXPECT_EQ(cfg_error("mem_init(1, 0, 1, RANDOM);"),
            "t.cfg:1: unknown pattern 'RANDOM'; expected ALL_ZERO");
  EXPECT_EQ(cfg_error("intr_notify(CSC_0, a);").substr(0, 60),
            "t.cfg:1: unknown interrupt 'CSC_0'; expected one of SDP_0, S");
  EXPECT_EQ(cfg_error("check_nothing(a);"),
            "t.cfg:1: sync id 'a' is not known here; expected an intr_notify or sync_notify of it "
            "before");
  EXPECT_EQ(
      cfg_error("intr_notify(a);"),
      "t.cfg:1: intr_notify of 'a' names no unit and no layer was enabled before it; expected "
      "intr_notify(UNIT_GROUP, SYNC_ID)");
}

TEST(Cfg, ArgumentErrors) {
  EXPECT_EQ(cfg_error("reg_write(NVDLA_SDP.S_POINTER_0);"),
            "t.cfg:1: reg_write has 1 arguments; expected reg_write(REGISTER, VALUE)");
  EXPECT_EQ(cfg_error("mem_init(1, 0, 1);"),
            "t.cfg:1: mem_init has 3 arguments; expected mem_init(MEMORY, ADDRESS, SIZE, PATTERN)");
  EXPECT_EQ(cfg_error("mem_load(1, 0);"),
            "t.cfg:1: mem_load has 2 arguments; expected mem_load(MEMORY, ADDRESS, \"FILE\")");
  EXPECT_EQ(cfg_error("intr_notify(a, b, c);"),
            "t.cfg:1: intr_notify has 3 arguments; expected intr_notify(UNIT_GROUP, SYNC_ID)");
  EXPECT_EQ(cfg_error("sync_notify(a);"),
            "t.cfg:1: sync_notify has 1 arguments; expected sync_notify(RESOURCE, SYNC_ID)");
  EXPECT_EQ(cfg_error("sync_wait(a);"),
            "t.cfg:1: sync_wait has 1 arguments; expected sync_wait(RESOURCE, SYNC_ID)");
  EXPECT_EQ(cfg_error("check_nothing(a, b);"),
            "t.cfg:1: check_nothing has 2 arguments; expected check_nothing(SYNC_ID)");
  EXPECT_EQ(cfg_error("check_crc(a, 1, 0, 1);"),
            "t.cfg:1: check_crc has 4 arguments; expected check_crc(SYNC_ID, MEMORY, ADDRESS, "
            "SIZE, CRC)");
  EXPECT_EQ(cfg_error("check_file(a, 1, 0, 1);"),
            "t.cfg:1: check_file has 4 arguments; expected check_file(SYNC_ID, MEMORY, ADDRESS, "
            "SIZE, \"FILE\")");
  EXPECT_EQ(cfg_error("poll_reg_equal(NVDLA_SDP.S_STATUS_0);"),
            "t.cfg:1: poll_reg_equal has 1 arguments; expected poll_reg_equal(REGISTER, VALUE)");
  EXPECT_EQ(cfg_error("poll_field_less(a, b, c, d);"),
            "t.cfg:1: poll_field_less has 4 arguments; expected poll_field_less(REGISTER.FIELD, "
            "VALUE)");
  EXPECT_EQ(cfg_error("mem_load(1, 0, a);"),
            "t.cfg:1: file name 'a' has no quotes; expected \"FILE\"");
  EXPECT_EQ(cfg_error("mem_load(1, 0, \"../../a\");"),
            "t.cfg:1: file name '../../a' leads out of the folder; expected the name of a file in "
            "the folder");
  EXPECT_EQ(cfg_error("reg_write(\"NVDLA_SDP.S_POINTER_0\", 0);"),
            "t.cfg:1: register is the string 'NVDLA_SDP.S_POINTER_0'; expected it without quotes");
  EXPECT_EQ(cfg_error("reg_write(NVDLA_SDP.S_POINTER_0, 0x100000000);"),
            "t.cfg:1: value '0x100000000' is too large; expected at most 0xffffffff");
  EXPECT_EQ(cfg_error("mem_init(1, zero, 1, ALL_ZERO);"),
            "t.cfg:1: address 'zero' is not a number; expected a decimal or 0x hexadecimal number");
  EXPECT_EQ(cfg_error("mem_init(1, 0, 0x1000000000000000, ALL_ZERO);"),
            "t.cfg:1: size 0x1000000000000000 of the memory range at 0x0 is out of range; expected "
            "1 to 0x40000000");
  EXPECT_EQ(cfg_error("poll_field_equal(NVDLA_SDP.S_STATUS_0.STATUS_1, 4);"),
            "t.cfg:1: value 0x4 does not fit the field 'STATUS_1'; expected at most 0x3");
  EXPECT_EQ(cfg_error("intr_notify(SDP_0, a);check_crc(a, 1, 0, 1, 0x123456789);"),
            "t.cfg:1: CRC '0x123456789' is too large; expected at most 0xffffffff");
}

TEST(Cfg, PollOfAUnitWithoutAWindow) {
  EXPECT_EQ(error_of([] {
              parse_cfg("poll_reg_equal(NVDLA_CFGROM.GLB_DESC_0, 1);", "t.cfg",
                        NVDLA_REGMAP_NV_FULL);
            }),
            "t.cfg:1: register 'NVDLA_CFGROM.GLB_DESC_0' is not in the register map of "
            "this configuration; expected one that can be read");
}

}  // namespace
}  // namespace nvdla::replay
