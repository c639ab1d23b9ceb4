// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include "expect_error.hpp"
#include "temporary_folder.hpp"
#include "tools/replay/load.hpp"

namespace nvdla::replay {
namespace {

TEST(Files, ScriptsAreFoundSortedAndOnce) {
  const TemporaryFolder folder;
  const auto txn = folder.write("b/input.txn", "");
  const auto cfg = folder.write("a/x.cfg", "");
  const auto json = folder.write("c/d/case.json", "");
  folder.write("c/other.json", "");
  folder.write("c/data.dat", "");
  const std::string root = folder.path().string();
  EXPECT_EQ(find_scripts({root, txn.string()}), (std::vector{cfg, txn, json}));
  // A case of another name can be asked for.
  EXPECT_EQ(find_scripts({root + "/c/other.json"}).size(), 1u);
}

TEST(Files, FoldersAreNotScripts) {
  const TemporaryFolder folder;
  folder.write("x.cfg/y.cfg", "");
  EXPECT_EQ(find_scripts({folder.path().string()}).size(), 1u);
}

TEST(Files, WrongPaths) {
  const TemporaryFolder folder;
  const std::string other = folder.write("x.txt", "").string();
  EXPECT_EQ(error_of([&] { find_scripts({other}); }),
            other +
                ": is no case, trace, dump or record; expected a .json, .cfg, .txn or .devcoredump "
                "file, a record or a folder");
  const std::string missing = folder.path().string() + "/no";
  EXPECT_EQ(error_of([&] { find_scripts({missing}); }),
            missing + ": no such file or folder; expected a case, a trace or a folder of them");
  EXPECT_TRUE(find_scripts({folder.path().string()}).empty());
}

TEST(Files, Reading) {
  const TemporaryFolder folder;
  const auto file = folder.write("x", "abc");
  EXPECT_EQ(read_file(file, 3), "abc");
  EXPECT_EQ(read_file(folder.path() / "no", 3), std::nullopt);
  EXPECT_EQ(error_of([&] { read_file(file, 2); }),
            file.string() + ": has 3 bytes; expected at most 2");
  EXPECT_EQ(error_of([&] { read_file(folder.path(), 2); }),
            folder.path().string() + ": is not a regular file; expected one");
  // Reading a pipe would wait for ever.
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { read_file(pipe, 2); }),
            pipe.string() + ": is not a regular file; expected one");
}

TEST(Files, ConfigurationIsTheInnermostFolder) {
  EXPECT_STREQ(configuration_of("/x/nv_small/sdp/y/case.json")->name, "nv_small");
  EXPECT_STREQ(configuration_of("/x/nv_full/nv_small_256/y.cfg")->name, "nv_small_256");
  EXPECT_STREQ(configuration_of("nv_full/./a/../y.cfg")->name, "nv_full");
  EXPECT_EQ(configuration_of("/x/nv_smallest/y.cfg"), nullptr);
  EXPECT_EQ(configuration_of("/x/y/nv_small"), nullptr);
}

}  // namespace
}  // namespace nvdla::replay
