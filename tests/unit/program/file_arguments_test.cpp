// SPDX-License-Identifier: MIT
//
// Whatever is named where a file is expected, and where output goes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "programs.hpp"
#include "tools/files/picture.hpp"

namespace nvdla::test {
namespace {

class FileArguments : public Programs {
 protected:
  static std::string program(const std::string& name) {
    return std::string(NVDLA_BIN_FOLDER) + "/" + name + " ";
  }
  // Every argument that names a file to read; FILE stands for it.
  static std::vector<std::string> readers() {
    return {filled(program("nvdla") + "run FILE"),
            filled(program("nvdla") + "run {loadable} -i FILE"),
            filled(program("nvdla") + "dump FILE"),
            program("digits") + "FILE",
            program("nvdla") + "replay FILE",
            NVDLA_LIFT " FILE",
            program("nvdla-device-server") + "--kernel FILE",
            program("nvdla-device-server") + "--kernel /bin/sh --initrd FILE"};
  }
  static std::string with(std::string line, const std::string& file) {
    return line.replace(line.find("FILE"), 4, file);
  }
};

TEST_F(FileArguments, WhatIsNoFileIsNamed) {
  const std::string folder = path("a-folder");
  fs::create_directory(folder);
  for (const std::string& line : readers()) {
    for (const std::string& file :
         {std::string("/dev/zero"), std::string("/dev/null"), path("nowhere"), folder}) {
      const ProgramResult result = run(with(line, file));
      EXPECT_EQ(result.status, 2) << with(line, file);
      // A folder is what these search.
      const bool searched = file == folder && (line.find("replay") != line.npos ||
                                               line.find("nvdla-lift") != line.npos);
      const bool lifts = line.find("nvdla-lift") != line.npos;
      const std::string none =
          lifts ? "no case or trace found" : "no case, trace, dump or record found";
      EXPECT_NE(result.err.find(searched ? none : file + ": "), std::string::npos)
          << with(line, file) << "\n"
          << result.err;
    }
  }
}

TEST_F(FileArguments, NothingAndTooMuch) {
  folder_->write("empty", "");
  for (const std::string& line : {readers()[0], readers()[1], readers()[2], readers()[3]}) {
    ProgramResult result = run(with(line, path("empty")));
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find(path("empty") + ": is empty"), std::string::npos) << result.err;
    result = run(with(line, "-"));
    EXPECT_NE(result.err.find("standard input: is a device or terminal"), std::string::npos)
        << result.err;
    result = run(": | " + with(line, "/dev/stdin"));
    EXPECT_NE(result.err.find("standard input: is empty"), std::string::npos) << result.err;
  }
  // Sparse, so that nothing is really there.
  const std::string huge = path("huge");
  folder_->write("huge", "");
  fs::resize_file(huge, std::uintmax_t{1} << 40);
  EXPECT_NE(nvdla("dump " + huge).err.find(huge + ": has 1099511627776 bytes; expected at most"),
            std::string::npos);
}

// What does not depend on the name of the file or on time.
std::string lasting(const std::string& out) {
  if (out.starts_with('{')) return out.substr(out.find("\"outputs\""));
  // Of digits: the line with class and score.
  if (const auto head = out.find("class  score\n"); head != out.npos) {
    const std::string line = out.substr(head + 13, out.find('\n', head + 13) - head - 13);
    return line.substr(line.size() - 14);
  }
  return out;
}

TEST_F(FileArguments, PipesAreRead) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string loadable = path("d.nvdla"), picture = path("picture.png");
  const std::pair<std::string, std::string> cases[] = {
      {program("nvdla") + "dump FILE", loadable},
      {program("nvdla") + "run --json FILE -i " + picture, loadable},
      {program("nvdla") + "run " + loadable + " -i FILE -o -", picture},
      {program("digits") + "FILE", picture}};
  for (const auto& [line, file] : cases) {
    SCOPED_TRACE(line);
    const ProgramResult direct = run(with(line, file));
    ASSERT_EQ(direct.status, 0) << direct.err;
    for (const std::string& shell :
         {"cat " + file + " | " + with(line, "-"), "cat " + file + " | " + with(line, "/dev/stdin"),
          with(line, "-") + " <" + file, with(line, "/dev/stdin") + " <" + file,
          "cat " + file + " >" + pipe + " & " + with(line, pipe)}) {
      const ProgramResult result = run(shell);
      EXPECT_EQ(result.status, 0) << shell << "\n" << result.err;
      EXPECT_TRUE(lasting(result.out) == lasting(direct.out)) << shell;
    }
  }
  const ProgramResult twice = run("cat " + loadable + " | " + program("nvdla") + "run - -i -");
  EXPECT_EQ(twice.status, 2);
  EXPECT_NE(twice.err.find("standard input is named more than once"), std::string::npos);
}

TEST_F(FileArguments, AFolderWithoutDataIsNamed) {
  const ProgramResult result = digits("--data /nowhere");
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("digits: /nowhere/weights.json: cannot be opened"), std::string::npos)
      << result.err;
}

TEST_F(FileArguments, OutputGoesWhereItIsToGo) {
  const std::string line = "run {loadable} -i {picture} -o ";
  ASSERT_EQ(nvdla(line + path("o.raw")).status, 0);
  const std::string raw = contents(path("o.raw"));
  EXPECT_EQ(raw.size(), 10U);
  for (const char* where : {"-", "/dev/stdout"}) {
    const ProgramResult result = nvdla(line + where);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, raw);
    EXPECT_NE(result.err.find("scores: 10x1x1 int8"), std::string::npos) << result.err;
  }
  ProgramResult result = nvdla(line + "- --json");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");

  for (const std::string& lost :
       {std::string("/dev/full"), path("nowhere/o.raw"), path("nv_small")}) {
    result = nvdla(line + lost);
    EXPECT_EQ(result.status, 4) << result.err;
    EXPECT_NE(result.err.find("nvdla: " + lost + ": cannot be "), std::string::npos) << result.err;
    result = digits("--save " + lost);
    EXPECT_EQ(result.status, 4) << result.err;
  }
  EXPECT_EQ(digits("-d model:nv_small --save -").out, contents(path("d.nvdla")));
}

TEST_F(FileArguments, OutputIsAPictureIfItIsCalledOne) {
  const std::string line = "run {loadable} -i {picture} -o ";
  ASSERT_EQ(nvdla(line + path("o.raw")).status, 0);
  const std::string raw = contents(path("o.raw"));
  for (const char* name : {"o.png", "o.PNG", "o.pgm"}) {
    ASSERT_EQ(nvdla(line + path(name)).status, 0) << name;
    const std::string file = contents(path(name));
    const std::vector<std::uint8_t> bytes(file.begin(), file.end());
    ASSERT_TRUE(program::is_picture(bytes)) << name;
    const program::Picture picture = program::decode_picture(name, bytes, 1);
    EXPECT_EQ(picture.width, 1U);
    EXPECT_EQ(picture.height, 10U);
    for (std::size_t i = 0; i < raw.size(); ++i)
      EXPECT_EQ(picture.pixels[i], static_cast<std::uint8_t>(raw[i] + 128)) << i;
  }
  for (const char* name : {"o.jpg", "o.JPEG", "o.gif", "o.npz", "o.json"}) {
    const ProgramResult result = nvdla(line + path(name));
    EXPECT_EQ(result.status, 2) << name;
    EXPECT_NE(result.err.find("expected .png, .pgm, .npy, .f32 (reals), .dimg, .mem"),
              std::string::npos)
        << result.err;
    EXPECT_FALSE(fs::exists(path(name))) << name;
  }
}

// A picture is the same one to every program, whatever its depth.
TEST_F(FileArguments, OneReaderOfPictures) {
  const fs::path shipped = NVDLA_SOURCE_DIR "/runtime/examples/digits/images/";
  for (const char* name :
       {"nine-inconsolata-noisy-unseen-face.png", "six-roboto-rotated-left.png"}) {
    const std::string file = contents(shipped / name);
    const program::Picture picture =
        program::decode_picture(name, std::vector<std::uint8_t>(file.begin(), file.end()), 1);
    PngImage deep{28, 28, 16, 0, true, {}};
    for (const std::uint8_t pixel : picture.pixels)
      deep.samples.push_back(static_cast<std::uint16_t>(pixel * 257));
    folder_->write("deep.png", make_png(deep));
    for (const std::string& path : {(shipped / name).string(), path("deep.png")}) {
      const ProgramResult one = digits("-d model:nv_small " + path);
      const ProgramResult other = nvdla("run {loadable} --json -i " + path);
      ASSERT_EQ(one.status + other.status, 0) << one.err << other.err;
      const auto scores = nlohmann::json::parse(other.out)["outputs"][0]["values"];
      const auto best = std::max_element(scores.begin(), scores.end());
      EXPECT_EQ(best - scores.begin(), name[0] == 'n' ? 9 : 6) << path;
      std::ostringstream line;
      line << "  " << std::setw(5) << best - scores.begin() << "  " << std::setw(5)
           << best->get<int>() << "\n";
      EXPECT_NE(one.out.find(line.str()), std::string::npos) << one.out << line.str();
    }
  }
}

TEST_F(FileArguments, APictureThatCannotBeUsedDoesNotStopTheOthers) {
  const ProgramResult result = digits("/nowhere.png {picture}");
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("digits: /nowhere.png: cannot be opened"), std::string::npos);
  EXPECT_NE(result.out.find("1 picture in "), std::string::npos) << result.out;
}

}  // namespace
}  // namespace nvdla::test
