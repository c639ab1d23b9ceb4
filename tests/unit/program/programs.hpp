// SPDX-License-Identifier: MIT
//
// All programs of the build, what each prints something by, and files for their arguments.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/png_writer.hpp"
#include "run_program.hpp"
#include "unit/tools/temporary_folder.hpp"

namespace nvdla::test {

namespace fs = std::filesystem;

struct ProgramFacts {
  // Arguments with which it prints and succeeds. {loadable}, {picture} and {case} are files.
  std::vector<std::string> prints;
  // Arguments to which --device NAME is added, and what is printed on nv_small.
  std::string with_device;
  std::string on_nv_small;
};

inline const std::map<std::string, ProgramFacts>& program_facts() {
  static const std::map<std::string, ProgramFacts> kFacts = {
      {"nvdla",
       {{"info",
         "info -d model:nv_small",
         "regs",
         "regs CDMA.D_BANK",
         "regs CDMA.D_BANK 1",
         "run {loadable}",
         "run {loadable} -i {picture} --stats",
         "run {loadable} -i {picture} --json",
         "run {loadable} -i {picture} -o -",
         "run {loadable} --compare model",
         "dump {loadable}",
         "dump --json {loadable}",
         "profile {loadable}",
         "profile {loadable} --svg -",
         "lut plot sigmoid",
         "lut plot tanh -p fp16 --svg -",
         "replay {case}",
         "replay --list {case}",
         "replay --json {case}",
         "dt node --address 0xc000000 --interrupt 7",
         "dt node --address 0xc000000 --interrupt 7 --overlay -",
         "selftest --list",
         "selftest -d model:nv_small",
         "--reference man",
         "--reference zsh"},
        "info",
        "configuration           nv_small\n"}},
      {"digits", {{"", "{picture}", "--save -"}, "{picture}", "model nv_small: "}},
#ifdef NVDLA_HAS_IMPORTER
      {"digits_onnx", {{""}, "", "digits.onnx on model nv_small, 1000"}},
#endif
      {"convolution", {{"", "model:nv_small"}, "", "nv_small: 24576 of 24576"}},
      {"activation", {{""}, "", ""}},
      {"network", {{"", "lenet5", "lenet5 --tensors"}, "lenet5", "model nv_small, int8: "}},
      {"nvdla-lift", {{"{case}", "--list {case}", "--json {case}"}, "{case}", "0 failed"}},
      // Whatever else it does needs QEMU.
      {"nvdla-device-server", {{}, "", ""}}};
  return kFacts;
}

// Of all executables of the build that are no tests.
inline std::vector<fs::path> built_programs() {
  std::vector<fs::path> programs = {NVDLA_LIFT};
  for (const auto& entry : fs::directory_iterator(NVDLA_BIN_FOLDER)) {
    if (entry.is_regular_file() && access(entry.path().c_str(), X_OK) == 0)
      programs.push_back(entry.path());
  }
  return programs;
}

class Programs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new replay::TemporaryFolder;
    PngImage image{28, 28, 8, 0, false, std::vector<std::uint16_t>(28 * 28)};
    for (std::size_t y = 4; y < 24; ++y)
      image.samples[y * 28 + 14] = image.samples[y * 28 + 13] = 255;
    folder_->write("picture.png", make_png(image));
    folder_->write("nv_small/a/case.json",
                   R"({"regs": [["0x9044", "0x1f", "SDP_D_DATA_CUBE_CHANNEL"]],
                       "expect_regs": [["0x9044", "0x1f", "SDP_D_DATA_CUBE_CHANNEL"]]})");
    run_line(folder_->path(), std::string(NVDLA_BIN_FOLDER) +
                                  "/digits --device model:nv_small --save " + path("d.nvdla"));
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string path(const std::string& name) { return (folder_->path() / name).string(); }

  // Puts the files of this test into arguments.
  static std::string filled(std::string text) {
    const std::map<std::string, std::string> files = {{"{loadable}", path("d.nvdla")},
                                                      {"{picture}", path("picture.png")},
                                                      {"{case}", path("nv_small")}};
    for (const auto& [name, file] : files) {
      for (std::size_t at; (at = text.find(name)) != text.npos;)
        text.replace(at, name.size(), file);
    }
    return text;
  }

  static ProgramResult run(const std::string& line) { return run_line(folder_->path(), line); }
  // With a program of the build before it.
  static ProgramResult run(const fs::path& program, const std::string& arguments) {
    return run(program.string() + " " + filled(arguments));
  }
  static ProgramResult nvdla(const std::string& arguments) {
    return run(fs::path(NVDLA_BIN_FOLDER) / "nvdla", arguments);
  }
  static ProgramResult digits(const std::string& arguments) {
    return run(fs::path(NVDLA_BIN_FOLDER) / "digits", arguments);
  }

  inline static replay::TemporaryFolder* folder_ = nullptr;
};

}  // namespace nvdla::test
