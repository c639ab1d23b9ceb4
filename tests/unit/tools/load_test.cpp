// SPDX-License-Identifier: MIT
#include "tools/replay/load.hpp"

#include "expect_error.hpp"
#include "temporary_folder.hpp"

namespace nvdla::replay {
namespace {

constexpr auto kSecondGeneration = NVDLA_REGMAP_NV_SMALL;

std::string load_error(const std::filesystem::path& path) {
  return error_of([&] { load_script(path, kSecondGeneration); });
}

const char* const kCase = R"({
  "mem": [{"addr": "0x10", "size": 4, "file": "src.bin"}],
  "regs": [],
  "expect_mem": [{"addr": "0x10", "size": 4, "file": "src.bin"}]
})";

TEST(Load, Case) {
  const TemporaryFolder folder;
  folder.write("src.bin", std::string("\x01\x02\x00\xff", 4));
  const Script script = load_script(folder.write("case.json", kCase), kSecondGeneration);
  EXPECT_EQ(script.kind, Kind::kCase);
  const auto& load = std::get<LoadMemory>(script.commands.at(0).action);
  ASSERT_TRUE(load.file.data);
  EXPECT_EQ(load.file.data->at(0).bytes.at(3), std::byte{0xff});
  // Read once, shared.
  EXPECT_EQ(load.file.data, std::get<CompareMemory>(script.commands.at(2).action).file.data);
}

TEST(Load, CaseFileMissing) {
  const TemporaryFolder folder;
  const auto path = folder.write("case.json", kCase);
  EXPECT_EQ(load_error(path),
            path.string() + ":2: the file 'src.bin' is missing; expected it beside the case");
}

TEST(Load, CaseFileTruncated) {
  const TemporaryFolder folder;
  folder.write("src.bin", "123");
  const auto path = folder.write("case.json", kCase);
  EXPECT_EQ(load_error(path), path.string() + ":2: the file 'src.bin' has 3 bytes; expected 4");
}

TEST(Load, CaseFileEmpty) {
  const TemporaryFolder folder;
  folder.write("src.bin", "");
  const auto path = folder.write("case.json", kCase);
  EXPECT_EQ(load_error(path), path.string() + ":2: the file 'src.bin' has 0 bytes; expected 4");
}

TEST(Load, CaseFileTooLong) {
  const TemporaryFolder folder;
  folder.write("src.bin", "12345");
  const auto path = folder.write("case.json", kCase);
  EXPECT_EQ(load_error(path), path.string() + ":2: the file 'src.bin' has 5 bytes; expected 4");
}

TEST(Load, CaseFileIsAFolder) {
  const TemporaryFolder folder;
  folder.write("src.bin/x", "");
  const auto path = folder.write("case.json", kCase);
  EXPECT_EQ(load_error(path),
            (folder.path() / "src.bin").string() + ": is not a regular file; expected one");
}

TEST(Load, FillsAreBoundedTogether) {
  const TemporaryFolder folder;
  const auto path = folder.write("case.json",
                                 "{\"regs\": [], \"expect_intr_status\": 0, \"fill\": [\n"
                                 "{\"addr\": \"0x0\", \"size\": 1073741824, \"byte\": 1},\n"
                                 "{\"addr\": \"0x80000000\", \"size\": 1073741824, \"byte\": 0},\n"
                                 "{\"addr\": \"0x100000000\", \"size\": 1, \"byte\": 1}]}");
  EXPECT_EQ(load_error(path),
            path.string() + ":4: more than 0x40000000 bytes are filled in all; expected less");
}

TEST(Load, CommandsAreBoundedTogether) {
  const TemporaryFolder folder;
  std::string text = "intr_notify(SDP_0, x);\n";
  for (int i = 0; i < 5; ++i) text += "check_crc(x, 1, 0, 0x40000000, 0);\n";
  const auto path = folder.write("x.cfg", text);
  EXPECT_EQ(
      load_error(path),
      path.string() + ":6: the commands touch more than 0x100000000 bytes in all; expected less");
}

TEST(Load, NoSuchScript) {
  EXPECT_EQ(load_error("/nonexistent/case.json"),
            "/nonexistent/case.json: no such file; expected a case or a trace");
  EXPECT_EQ(load_error("/nonexistent/x.txt"),
            "/nonexistent/x.txt: is no case, trace, dump or record; expected a .json, .cfg, .txn "
            "or .devcoredump file or a record");
}

TEST(Load, TxnTakesOptionsAndMemoryFromItsFolder) {
  const TemporaryFolder folder;
  folder.write("a_cvsram/plusargs.txt", "+read_reg_poll_retries=10 +continue_on_fail");
  folder.write("a_cvsram/in.dat", "W = 8\n0x01 0x02 0x03\n");
  const auto path = folder.write("a_cvsram/input.txn", "load_mem 0x0 2 in.dat\nread_reg 0 0 0\n");
  const Script script = load_script(path, kSecondGeneration);
  EXPECT_TRUE(script.continue_on_fail);
  EXPECT_EQ(std::get<LoadMemory>(script.commands.at(0).action).ram, Ram::kSecondary);
  EXPECT_EQ(std::get<CheckRegister>(script.commands.at(1).action).retries, 10u);
}

TEST(Load, TxnFileTooShort) {
  const TemporaryFolder folder;
  folder.write("in.dat", "0x01 0x02 0x03\n");
  const auto path = folder.write("input.txn", "load_mem 0x0 4 in.dat\n");
  EXPECT_EQ(load_error(path),
            path.string() + ":1: the file 'in.dat' has 3 bytes; expected at least 4");
}

TEST(Load, TxnInputMissing) {
  const TemporaryFolder folder;
  const auto path = folder.write("input.txn", "load_mem 0x0 4 in.dat\n");
  EXPECT_EQ(load_error(path),
            path.string() + ":1: the file 'in.dat' is missing; expected it beside the trace");
}

TEST(Load, TxnGoldenMissing) {
  const TemporaryFolder folder;
  const auto path = folder.write("input.txn", "dump_mem 0x0 4 out.dat\n");
  const Script script = load_script(path, kSecondGeneration);
  EXPECT_EQ(script.warnings,
            std::vector<std::string>{
                "line 1: the file 'out.dat' is missing: nothing is loaded or compared"});
}

TEST(Load, TxnGoldenTooShort) {
  const TemporaryFolder folder;
  folder.write("out.dat", "dumped memory\n 0x01\n");
  const auto path = folder.write("input.txn", "dump_mem 0x0 4 out.dat\n");
  EXPECT_EQ(load_error(path),
            path.string() + ":1: the file 'out.dat' has 1 bytes; expected at least 4");
}

TEST(Load, CfgMissingFileAfterInit) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.cfg",
                                 "mem_init(pri_mem, 0x0, 0x1, ALL_ZERO);\n"
                                 "mem_load(pri_mem, 0x0, \"a.mem\");\n"
                                 "intr_notify(SDP_0, x);\ncheck_crc(x, 1, 0, 1, 0);\n");
  const Script script = load_script(path, kSecondGeneration);
  EXPECT_EQ(script.warnings,
            std::vector<std::string>{
                "line 2: the file 'a.mem' is missing: nothing is loaded or compared"});
}

TEST(Load, CfgMissingFile) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.cfg",
                                 "mem_load(pri_mem, 0x0, \"a.dat\");\n"
                                 "intr_notify(SDP_0, x);\ncheck_crc(x, 1, 0, 1, 0);\n");
  EXPECT_EQ(load_error(path),
            path.string() + ":1: the file 'a.dat' is missing; expected it beside the trace");
}

TEST(Load, CfgTruncatedFile) {
  const TemporaryFolder folder;
  folder.write("a.dat", "{\n{offset:0x0, size:2, payload:0x1");
  const auto path = folder.write("x.cfg", "mem_load(pri_mem, 0x0, \"a.dat\");\n");
  EXPECT_EQ(load_error(path), (folder.path() / "a.dat").string() +
                                  ":2: the file ends early; expected a hexadecimal byte or '}'");
}

TEST(Load, CfgGoldenTooShort) {
  const TemporaryFolder folder;
  folder.write("a.dat", "{\n{offset:0x4, size:1, payload:0x1}\n}");
  const auto path =
      folder.write("x.cfg", "intr_notify(SDP_0, x);\ncheck_file(x, 1, 0, 5, \"a.dat\");\n");
  EXPECT_EQ(load_error(path),
            path.string() + ":2: the file 'a.dat' has 0 bytes; expected at least 5");
}

TEST(Load, CfgLoadPastTheEndOfMemory) {
  const TemporaryFolder folder;
  folder.write("a.dat", "{\n{offset:0x0, size:2, payload:0x1 0x2}\n}");
  const auto path = folder.write("x.cfg", "mem_load(pri_mem, 0xffffffffffffffff, \"a.dat\");\n");
  EXPECT_EQ(load_error(path),
            path.string() +
                ":1: memory range at 0xffffffffffffffff with 0x2 bytes passes the end "
                "of the address space; expected a range inside 64 bits");
}

TEST(Load, DroppedWritesAreTold) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.cfg", "reg_write(NVDLA_CFGROM.GLB_DESC_0, 0);\n");
  EXPECT_EQ(load_script(path, NVDLA_REGMAP_NV_FULL).warnings,
            std::vector<std::string>{"1 writes to units that the configuration lacks are dropped"});
}

}  // namespace
}  // namespace nvdla::replay
