// SPDX-License-Identifier: MIT
//
// What all programs do alike, for every executable of the build: one that forgets it fails here.
#include "programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "common/share.hpp"

namespace nvdla::test {
namespace {

std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);) width = std::max(width, line.size());
  return width;
}

// Each program, and each command of `nvdla`.
std::vector<std::string> commands() {
  std::vector<std::string> all;
  for (const fs::path& program : built_programs()) all.push_back(program.string());
  for (const char* command : {"info", "regs", "replay", "run", "dump", "profile", "diff",
                              "selftest", "lut plot", "dt node", "dt check"})
    all.push_back(std::string(NVDLA_BIN_FOLDER) + "/nvdla " + command);
  return all;
}

TEST_F(Programs, AreAllKnownHere) {
  EXPECT_EQ(built_programs().size(), program_facts().size());
  for (const fs::path& program : built_programs())
    EXPECT_TRUE(program_facts().contains(program.filename())) << program;
}

TEST_F(Programs, SayTheirVersion) {
  for (const fs::path& program : built_programs()) {
    const ProgramResult result = run(program, "--version");
    EXPECT_EQ(result.status, 0) << program;
    EXPECT_EQ(result.out, program.filename().string() + " " NVDLA_PROJECT_VERSION "\n");
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(Programs, HelpIsCompleteAndFitsTheScreen) {
  for (const std::string& command : commands()) {
    const ProgramResult result = run(command + " --help");
    EXPECT_EQ(result.status, 0) << command;
    EXPECT_LE(widest(result.out), 80U) << result.out;
    for (const char* part : {"Usage: ", "--help", "--version", "Exit status: 0 success, 1 ",
                             "\n2 wrong arguments", " 3 no such device", "\n4 output could not"})
      EXPECT_NE(result.out.find(part), std::string::npos) << command << " lacks " << part;
    if (!command.ends_with("/nvdla")) {
      EXPECT_NE(result.out.find("\nExamples:\n"), std::string::npos) << command;
    }
    // An option without a word about it.
    std::istringstream lines(result.out);
    for (std::string line, next; std::getline(lines, line);) {
      if (line.starts_with("  -") && line.size() <= 28) {
        std::getline(lines, next);
        EXPECT_TRUE(next.starts_with(std::string(28, ' '))) << command << ": " << line;
      }
    }
  }
}

TEST_F(Programs, RefuseUnknownReferences) {
  const ProgramResult result = nvdla("--reference tcsh");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "nvdla: no reference is called 'tcsh'; there are man, bash, fish, zsh\n");
}

TEST_F(Programs, RefuseUnknownOptionsByName) {
  for (const std::string& command : commands()) {
    const ProgramResult result = run(command + " --no-such-option");
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_EQ(result.out, "") << command;
    const std::string name = fs::path(command.substr(0, command.find(' '))).filename();
    EXPECT_TRUE(result.err.starts_with(name)) << result.err;
    EXPECT_NE(result.err.find("--help"), std::string::npos) << result.err;
  }
  EXPECT_NE(nvdla("run {loadable} --stast")
                .err.find("'--stast' is not expected; did you mean "
                          "'--stats'?"),
            std::string::npos);
}

TEST_F(Programs, NameAWrongCommand) {
  ProgramResult result = nvdla("rnu x.nvdla");
  EXPECT_EQ(result.status, 2);
  // A build without ONNX does not have this one.
  if (const auto at = result.err.find("compile, "); at != std::string::npos)
    result.err.erase(at, 9);
  EXPECT_TRUE(
      result.err.starts_with("nvdla: 'rnu' is no command; did you mean 'run'?\n"
                             "commands are info, regs, replay, run, dump, profile, diff, selftest, "
                             "measure, lut, dt\n"))
      << result.err;
  result = nvdla("classify");
  EXPECT_TRUE(result.err.starts_with("nvdla: 'classify' is no command\ncommands are info, "))
      << result.err;
  result = nvdla("");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.err.starts_with("nvdla: a command is missing; commands are info, "))
      << result.err;
  result = nvdla("dt nod");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "nvdla dt: 'nod' is no command; did you mean 'node'?\ncommands are node, check\n"
            "Try 'nvdla dt --help'.\n");
  result = nvdla("lut");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.err.starts_with("nvdla lut: a command is missing; commands are plot"))
      << result.err;
}

TEST_F(Programs, LostOutputIsAnError) {
  test::Share share;
  for (const fs::path& program : built_programs()) {
    std::vector<std::string> all = program_facts().at(program.filename()).prints;
    all.insert(all.end(), {"--help", "--version"});
    for (const std::string& arguments : all) {
      if (!share.next()) continue;
      SCOPED_TRACE(program.string() + " " + arguments);
      const ProgramResult good = run(program, arguments);
      EXPECT_EQ(good.status, 0) << good.err;
      EXPECT_NE(good.out, "");
      for (const char* where : {" >/dev/full", " >&-"}) {
        const ProgramResult lost = run(program, arguments + where);
        EXPECT_EQ(lost.status, 4) << where;
        EXPECT_NE(
            lost.err.find(program.filename().string() + ": standard output cannot be written"),
            std::string::npos)
            << lost.err;
      }
    }
  }
}

// Killed as other programs are in `... | head`; who ignores the signal gets the error.
TEST_F(Programs, APipeThatNobodyReads) {
  for (const fs::path& program : built_programs()) {
    SCOPED_TRACE(program);
    const std::string command = program.string() + " --help";
    const int killed = run_into_closed_pipe(command, false, path("pipe.err"));
    EXPECT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGPIPE) << killed;
    EXPECT_EQ(contents(path("pipe.err")), "");
    const int failed = run_into_closed_pipe(command, true, path("pipe.err"));
    EXPECT_TRUE(WIFEXITED(failed) && WEXITSTATUS(failed) == 4) << failed;
    EXPECT_NE(contents(path("pipe.err")).find("standard output cannot be written"),
              std::string::npos);
  }
}

// A name means the same in --device and in NVDLA_DEVICE, and in every program.
TEST_F(Programs, AgreeOnNamesOfDevices) {
  for (const fs::path& program : built_programs()) {
    SCOPED_TRACE(program);
    const ProgramFacts& facts = program_facts().at(program.filename());
    const std::string line = program.string() + " " + filled(facts.with_device) + " ";
    for (const char* wrong : {"nv_small", "models", "model:nv_huge", "model,threads=0", "gpu"}) {
      for (const bool by_variable : {false, true}) {
        const ProgramResult result =
            run(by_variable ? "NVDLA_DEVICE=" + std::string(wrong) + " " + line
                            : line + "--device " + wrong);
        EXPECT_EQ(result.status, 2) << wrong << result.err;
        const std::string begin =
            program.filename().string() + ": " + (by_variable ? "NVDLA_DEVICE: " : "");
        EXPECT_TRUE(result.err.starts_with(begin + "no device is called '" + wrong + "'") ||
                    result.err.starts_with(begin + "device '" + wrong + "': "))
            << result.err;
      }
    }
    if (facts.prints.empty()) continue;
    // No such device is not a wrong argument.
    for (const char* missing : {"/dev/accel/accel99", "/dev/null", "./nowhere"}) {
      EXPECT_EQ(run(line + "--device " + missing).status, 3) << missing;
      EXPECT_EQ(run("NVDLA_DEVICE=" + std::string(missing) + " " + line).status, 3) << missing;
    }
    if (!fs::exists("/dev/accel") && !fs::exists("/dev/dri")) {
      EXPECT_EQ(run(line + "--device kernel").status, 3);
    }
    if (facts.on_nv_small.empty()) continue;
    for (const ProgramResult& result :
         {run(line + "--device model:nv_small"), run("NVDLA_DEVICE=model:nv_small " + line),
          run("NVDLA_DEVICE=nonsense " + line + "-d model:nv_small,threads=1"),
          run("NVDLA_DEVICE=model:nv_small " + line + "--device auto")}) {
      EXPECT_EQ(result.status, 0) << result.err;
      EXPECT_NE(result.out.find(facts.on_nv_small), std::string::npos) << result.out;
    }
  }
}

TEST_F(Programs, CommandsAgreeOnNamesOfDevices) {
  for (const char* arguments :
       {"regs CDMA.D_BANK", "run {loadable}", "profile {loadable}", "replay {case}", "selftest"}) {
    SCOPED_TRACE(arguments);
    const std::string line = std::string(NVDLA_BIN_FOLDER) + "/nvdla " + filled(arguments);
    EXPECT_EQ(run(line + " -d nv_small").status, 2);
    EXPECT_EQ(run("NVDLA_DEVICE=nv_small " + line).status, 2);
    EXPECT_EQ(run("NVDLA_DEVICE=nv_small " + line + " -d model:nv_small").status, 0);
    EXPECT_EQ(run("NVDLA_DEVICE=model:nv_small " + line).out.substr(0, 7),
              run(line + " -d model:nv_small").out.substr(0, 7));
  }
  // The variable decides before the loadable does, and is not quietly passed over.
  const std::string nvdla = std::string(NVDLA_BIN_FOLDER) + "/nvdla ";
  const ProgramResult other = run("NVDLA_DEVICE=model:nv_full " + nvdla + filled("run {loadable}"));
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("nv_small, the device is nv_full"), std::string::npos) << other.err;
  EXPECT_EQ(run("NVDLA_DEVICE=model:nv_full " + nvdla + filled("replay {case}")).out.substr(0, 4),
            "skip");
}

TEST_F(Programs, TablesFitTheScreen) {
  const std::string odd = path(std::string(120, 'n') + ".png");
  fs::copy(path("picture.png"), odd);
  for (const char* arguments :
       {"info", "info -d model:nv_full", "regs", "regs CDMA.D_BANK", "regs CDMA.D_MISC_CFG",
        "regs CDMA.D_MISC_CFG 0x12345678", "run {loadable} -i {picture} --stats", "dump {loadable}",
        "profile {loadable}", "lut plot swish", "selftest --list", "selftest -d model:nv_full"})
    EXPECT_LE(widest(nvdla(arguments).out), 80U) << arguments;
  for (const std::string& arguments : {std::string("{picture}"), odd, std::string("--held-out")})
    EXPECT_LE(widest(digits(arguments).out), 80U) << arguments;
  // Every register, described; with a sanitizer, where a process takes its time, some of them.
  std::istringstream registers(nvdla("regs").out);
  std::string all;
  test::Share share;
  for (std::string address, name, rest;
       registers >> address >> name && std::getline(registers, rest);)
    if (share.next()) all += "$nvdla regs " + name + "\n";
  const ProgramResult described = run("nvdla=" + std::string(NVDLA_BIN_FOLDER) + "/nvdla\n" + all);
  EXPECT_EQ(described.status, 0) << described.err;
  EXPECT_LE(widest(described.out), 80U);
}

TEST_F(Programs, JsonIsOneLineUnlessAsked) {
  const auto count = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  const fs::path nvdla = fs::path(NVDLA_BIN_FOLDER) / "nvdla";
  const std::pair<fs::path, std::string> documents[] = {
      {nvdla, "run {loadable} -i {picture} --stats"},
      {nvdla, "dump {loadable}"},
      {nvdla, "replay {case}"},
      {nvdla, "selftest -d model:nv_small"},
      {NVDLA_LIFT, "{case}"}};
  for (const auto& [program, arguments] : documents) {
    SCOPED_TRACE(arguments);
    const ProgramResult compact = run(program, arguments + " --json");
    const ProgramResult pretty = run(program, arguments + " --json=pretty");
    EXPECT_EQ(count(compact.out), 1);
    EXPECT_EQ(compact.out.front(), '{');
    EXPECT_GT(count(pretty.out), 5);
    EXPECT_EQ(run(program, arguments + " --json=yaml").status, 2);
  }
}

}  // namespace
}  // namespace nvdla::test
