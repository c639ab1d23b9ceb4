// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "expect_error.hpp"
#include "tools/replay/json_lines.hpp"
#include "tools/replay/parsers.hpp"

namespace nvdla::replay {
namespace {

Script case_script(std::string_view text) {
  return parse_case(text, "case.json", NVDLA_REGMAP_NV_SMALL);
}

std::string case_error(std::string_view text) {
  return error_of([&] { case_script(text); });
}

// A case that is right but for what the members say.
std::string with(std::string_view members) {
  return case_error(
      fmt::format("{{\n\"regs\": [[\"0x9004\",\"0x0\",\"SDP_S_POINTER\"]],\n{}\n}}", members));
}

TEST(Case, CommandsInOrder) {
  const Script script = case_script(R"({
    "notes": {"for": ["people", null, true, -1, 0.5]},
    "fill": [{"addr": "0x82000000", "size": 192, "byte": 165}],
    "mem": [{"addr": "0x80000000", "size": 16, "file": "src.bin"}],
    "regs": [["0x9004", "0x1", "SDP_S_POINTER"], ["0x9038", 1]],
    "expect_intr_status": "0x150001",
    "expect_mem": [{"addr": 16, "size": "0x20", "file": "out.bin"}],
    "expect_regs": [["0x90cc", "0xffffffff", "SDP_D_STATUS"]]
  })");
  ASSERT_EQ(script.commands.size(), 8u);
  const auto& fill = std::get<FillMemory>(script.commands[0].action);
  EXPECT_EQ(fill.address, 0x82000000u);
  EXPECT_EQ(fill.size, 192u);
  EXPECT_EQ(fill.byte, 165u);
  const auto& load = std::get<LoadMemory>(script.commands[1].action);
  EXPECT_EQ(load.file.name, "src.bin");
  EXPECT_EQ(load.file.format, BlobFormat::kRaw);
  EXPECT_FALSE(load.file.optional);
  EXPECT_EQ(std::get<WriteRegister>(script.commands[2].action).offset, 0x9004u);
  EXPECT_EQ(std::get<WriteRegister>(script.commands[3].action).value, 1u);
  EXPECT_TRUE(std::holds_alternative<Finish>(script.commands[4].action));
  const auto& status = std::get<CheckRegister>(script.commands[5].action);
  EXPECT_EQ(status.offset, 0x100cu);
  EXPECT_EQ(status.value, 0x150001u);
  EXPECT_EQ(status.retries, 0u);
  const auto& memory = std::get<CompareMemory>(script.commands[6].action);
  EXPECT_EQ(memory.address, 16u);
  EXPECT_EQ(memory.size, 32u);
  EXPECT_EQ(script.commands[6].line, 7u);
  EXPECT_EQ(std::get<CheckRegister>(script.commands[7].action).value, 0xffffffffu);
}

TEST(Case, InterruptStatusFollowsTheMap) {
  const Script script =
      parse_case(R"({"regs": [], "expect_intr_status": "0x0"})", "case.json", NVDLA_REGMAP_NV_FULL);
  EXPECT_EQ(std::get<CheckRegister>(script.commands.back().action).offset, 0xcu);
}

TEST(Case, NoJson) {
  EXPECT_EQ(case_error("").substr(0, 22), "case.json:1: not JSON:");
  EXPECT_EQ(case_error("{\n\"regs\": [1,\n}").substr(0, 22), "case.json:3: not JSON:");
  EXPECT_EQ(case_error("{\n\"regs: [\n}").substr(0, 21), "case.json:2: not JSON");
  EXPECT_EQ(case_error("{} x").substr(0, 22), "case.json:1: not JSON:");
  EXPECT_EQ(case_error("{\"a\": \"\xff\"}").substr(0, 22), "case.json:1: not JSON:");
}

TEST(Case, Depth) {
  EXPECT_EQ(case_error(std::string(100000, '[')), "case.json:1: more than 64 levels deep");
}

TEST(Case, TooManyMembers) {
  std::string text = "{\"a\": 0";
  for (int i = 0; i < 256; ++i) text += fmt::format(", \"{}\": 0", i);
  EXPECT_EQ(case_error(text + "}"), "case.json:1: an object with more than 256 members");
}

TEST(Case, NameTwice) {
  EXPECT_EQ(with("\"mem\": [],\n\"mem\": []"), "case.json:4: 'mem' occurs twice; expected once");
}

TEST(Case, NoObject) {
  EXPECT_EQ(case_error("[]"), "case.json:1: the case is an array; expected an object");
}

TEST(Case, NoRegisters) {
  EXPECT_EQ(case_error("{\"expect_intr_status\": \"0x0\"}"),
            "case.json:1: 'regs' is missing; expected an array");
}

TEST(Case, NothingExpected) {
  EXPECT_EQ(with("\"mem\": []"),
            "case.json:1: nothing is expected; expected at least one of expect_intr_status, "
            "expect_mem, expect_regs");
}

TEST(Case, UnknownExpectation) {
  EXPECT_EQ(with("\"expect_crc\": \"0x0\""),
            "case.json:3: unknown expectation 'expect_crc'; expected expect_intr_status, "
            "expect_mem or expect_regs");
}

TEST(Case, WrongTypes) {
  EXPECT_EQ(with("\"mem\": {}"), "case.json:3: 'mem' is an object; expected an array");
  EXPECT_EQ(with("\"mem\": [\n3]"), "case.json:4: a memory range is a number; expected an object");
  EXPECT_EQ(with("\"mem\": [{\"addr\": null, \"size\": 1, \"file\": \"a\"}]"),
            "case.json:3: addr is null; expected a number or a hexadecimal string");
  EXPECT_EQ(with("\"mem\": [{\"addr\": 0, \"size\": -1, \"file\": \"a\"}]"),
            "case.json:3: size is a negative or fractional number; expected a number or a "
            "hexadecimal string");
  EXPECT_EQ(with("\"mem\": [{\"addr\": 0, \"size\": 1.5, \"file\": \"a\"}]"),
            "case.json:3: size is a negative or fractional number; expected a number or a "
            "hexadecimal string");
  EXPECT_EQ(with("\"mem\": [{\"addr\": 0, \"size\": 1, \"file\": 1}]"),
            "case.json:3: 'file' is a number; expected a string");
  EXPECT_EQ(with("\"expect_regs\": [{}]"),
            "case.json:3: a register is an object; expected an array");
  EXPECT_EQ(with("\"expect_intr_status\": true"),
            "case.json:3: expect_intr_status is a boolean; expected a number or a hexadecimal "
            "string");
}

TEST(Case, MissingMembers) {
  EXPECT_EQ(with("\"mem\": [\n{\"size\": 1, \"file\": \"a\"}]"), "case.json:4: 'addr' is missing");
  EXPECT_EQ(with("\"mem\": [{\"addr\": 0, \"file\": \"a\"}]"), "case.json:3: 'size' is missing");
  EXPECT_EQ(with("\"mem\": [{\"addr\": 0, \"size\": 1}]"), "case.json:3: 'file' is missing");
  EXPECT_EQ(with("\"fill\": [{\"addr\": 0, \"size\": 1}]"), "case.json:3: 'byte' is missing");
}

TEST(Case, NumbersOutOfRange) {
  EXPECT_EQ(with("\"fill\": [{\"addr\": 0, \"size\": 1, \"byte\": 256}]"),
            "case.json:3: byte 256 is too large; expected at most 0xff");
  EXPECT_EQ(with("\"fill\": [{\"addr\": 0, \"size\": 1152921504606846976, \"byte\": 1}]"),
            "case.json:3: size 0x1000000000000000 of the memory range at 0x0 is out of range; "
            "expected 1 to 0x40000000");
  EXPECT_EQ(with("\"fill\": [{\"addr\": 0, \"size\": 0, \"byte\": 1}]"),
            "case.json:3: size 0x0 of the memory range at 0x0 is out of range; expected 1 to "
            "0x40000000");
  EXPECT_EQ(with("\"fill\": [{\"addr\": \"0xffffffffffffffff\", \"size\": 2, \"byte\": 1}]"),
            "case.json:3: memory range at 0xffffffffffffffff with 0x2 bytes passes the end of the "
            "address space; expected a range inside 64 bits");
  EXPECT_EQ(with("\"expect_regs\": [[\"0x9004\", \"0x100000000\", \"SDP_S_POINTER\"]]"),
            "case.json:3: value '0x100000000' is too large; expected at most 0xffffffff");
  EXPECT_EQ(with("\"expect_regs\": [[\"0x9004\", 99999999999, \"SDP_S_POINTER\"]]"),
            "case.json:3: value 99999999999 is too large; expected at most 0xffffffff");
  EXPECT_EQ(with("\"expect_regs\": [[\"0x40000\", \"0x0\", \"SDP_S_POINTER\"]]"),
            "case.json:3: 0x40000 is not a register offset; expected a multiple of 4 below "
            "0x40000");
  EXPECT_EQ(with("\"expect_regs\": [[\"0x9005\", \"0x0\", \"SDP_S_POINTER\"]]"),
            "case.json:3: 0x9005 is not a register offset; expected a multiple of 4 below "
            "0x40000");
  EXPECT_EQ(with("\"expect_regs\": [[\"0x9004\"]]"),
            "case.json:3: a register has 1 items; expected [byte offset, value, name]");
}

TEST(Case, FileNameLeadsOut) {
  EXPECT_EQ(with("\"mem\": [{\"addr\": 0, \"size\": 1, \"file\": \"../a\"}]"),
            "case.json:3: file name '../a' leads out of the folder; expected the name of a file in "
            "the folder");
}

TEST(JsonLines, NumbersAtTheEndOfALine) {
  const Json json = parse_json("{\"a\": [\n1,\n2\n],\n\"b\": 3\n}", "f");
  EXPECT_EQ(json.line, 1u);
  EXPECT_EQ(json.find("a")->items[0].line, 2u);
  EXPECT_EQ(json.find("a")->items[1].line, 3u);
  EXPECT_EQ(json.find("b")->line, 5u);
}

}  // namespace
}  // namespace nvdla::replay
