// SPDX-License-Identifier: MIT
//
// Device trees from blobs and folders, whole, damaged and made to harm.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libfdt.h>

#include <filesystem>
#include <functional>

#include "board.hpp"
#include "tools/dt/check.hpp"
#include "tools/files/status.hpp"
#include "unit/tools/temporary_folder.hpp"

namespace nvdla::test {
namespace {

namespace fs = std::filesystem;

// By libfdt's other half: what the reader has no part in.
std::string blob_of(const dt::Tree& tree) {
  std::string blob(1 << 16, '\0');
  fdt_create(blob.data(), static_cast<int>(blob.size()));
  fdt_finish_reservemap(blob.data());
  const std::function<void(std::size_t)> write = [&](std::size_t node) {
    fdt_begin_node(blob.data(), tree[node].name.c_str());
    for (const dt::Property& property : tree[node].properties)
      fdt_property(blob.data(), property.name.c_str(), property.value.data(),
                   static_cast<int>(property.value.size()));
    for (std::size_t child = 1; child < tree.size(); ++child)
      if (tree[child].parent == node) write(child);
    fdt_end_node(blob.data());
  };
  write(dt::Tree::kRoot);
  EXPECT_EQ(fdt_finish(blob.data()), 0);
  blob.resize(fdt_totalsize(blob.data()));
  return blob;
}

// A chain of nodes below the root.
std::string deep_blob(unsigned levels) {
  std::string blob(1 << 16, '\0');
  fdt_create(blob.data(), static_cast<int>(blob.size()));
  fdt_finish_reservemap(blob.data());
  for (unsigned i = 0; i <= levels; ++i) fdt_begin_node(blob.data(), i == 0 ? "" : "n");
  for (unsigned i = 0; i <= levels; ++i) fdt_end_node(blob.data());
  EXPECT_EQ(fdt_finish(blob.data()), 0);
  blob.resize(fdt_totalsize(blob.data()));
  return blob;
}

void write_folder(const replay::TemporaryFolder& folder, const dt::Tree& tree) {
  for (std::size_t node = 0; node < tree.size(); ++node)
    for (const dt::Property& property : tree[node].properties)
      folder.write("tree" + tree.path(node) + "/" + property.name, property.value);
  folder.write("tree/name", std::string(1, '\0'));
  // Only root may read such a file; no driver asks for it.
  folder.write("tree/security-password", "secret");
}

template <typename Read>
std::string refused(const Read& read) {
  try {
    read();
  } catch (const program::UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(DtBlob, IsReadAsItWasWritten) {
  const dt::Tree tree = Board().tree();
  const dt::Tree read = dt::read_blob(blob_of(tree), "blob");
  ASSERT_EQ(read.size(), tree.size());
  for (std::size_t node = 0; node < read.size(); ++node)
    for (const dt::Property& property : read[node].properties) {
      EXPECT_EQ(read.find(node, property.name)->value, property.value);
    }
  EXPECT_TRUE(dt::check(read).passed());
  EXPECT_TRUE(dt::check(read).findings.empty());
}

TEST(DtBlob, EveryTruncationIsRefused) {
  const std::string blob = blob_of(Board().tree());
  for (std::size_t size = 0; size < blob.size(); ++size) {
    const std::string text =
        refused([&] { dt::read_blob(std::string_view(blob).substr(0, size), "cut"); });
    EXPECT_TRUE(text.starts_with(size < 4 ? "cut: not a device tree blob"
                                          : "cut: damaged device tree blob: FDT_ERR_TRUNCATED, "))
        << size << text;
  }
}

// Whatever a byte becomes: refused, or a tree that is checked.
TEST(DtBlob, EveryChangedByteIsSurvived) {
  const std::string blob = blob_of(Board().tree());
  std::size_t refusals = 0;
  for (std::size_t at = 0; at < blob.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = blob;
      changed[at] = static_cast<char>(changed[at] ^ change);
      refusals += !refused([&] { dt::check(dt::read_blob(changed, "changed")); }).empty();
    }
  }
  EXPECT_GT(refusals, 100U);
  EXPECT_LT(refusals, blob.size() * 3);
}

// Each length by which a walk over the blob would come to where it was before.
TEST(DtBlob, LengthsThatWrapAreRefused) {
  const std::string blob = blob_of(Board().tree());
  const int first = fdt_first_property_offset(blob.data(), 0);
  ASSERT_GT(first, 0);
  const std::size_t length = fdt_off_dt_struct(blob.data()) + static_cast<std::size_t>(first) + 4;
  for (std::uint32_t back = 1; back < 64; ++back) {
    std::string changed = blob;
    changed.replace(length, 4, cells({0U - back}));
    const std::string text = refused([&] { dt::read_blob(changed, "wraps"); });
    EXPECT_TRUE(text.starts_with("wraps: damaged device tree blob: a property has 42949672"))
        << text;
  }
}

// Blobs before version 16 name nodes by their path; libfdt reads the root's through a null pointer.
TEST(DtBlob, OldVersionsAreRefused) {
  const std::string blob = blob_of(Board().tree());
  for (const std::uint32_t version : {2U, 3U, 4U, 15U}) {
    std::string changed = blob;
    fdt_set_version(changed.data(), version);
    fdt_set_last_comp_version(changed.data(), version);
    EXPECT_EQ(refused([&] { dt::read_blob(changed, "old"); }),
              fmt::format("old: a device tree blob of version {}; expected 16 or newer", version));
  }
}

TEST(DtBlob, HasLimits) {
  EXPECT_EQ(refused([] { dt::read_blob(deep_blob(64), "deep"); }), "");
  const std::string deep = refused([] { dt::read_blob(deep_blob(65), "deep"); });
  EXPECT_TRUE(deep.starts_with("deep: /n/n/") && deep.ends_with(": more than 64 levels of nodes"))
      << deep;
  std::string large = blob_of(Board().tree());
  large.resize(dt::kMaxBytes + 1);
  EXPECT_EQ(refused([&] { dt::read_blob(large, "large"); }),
            "large: has 2097153 bytes; expected at most 2097152");
  Board board;
  board.set(Board::kNode, std::string(256, 'n'), "");
  EXPECT_EQ(refused([&] { dt::read_blob(blob_of(board.tree()), "long"); }),
            "long: /soc/npu@c000000: a property has a name of 256 bytes; expected at most 255");
}

TEST(DtFolder, IsReadAsTheBlobIs) {
  const replay::TemporaryFolder folder;
  write_folder(folder, Board().tree());
  const dt::Tree tree = dt::read_tree(folder.path() / "tree");
  EXPECT_EQ(tree.size(), Board().tree().size());
  EXPECT_TRUE(dt::check(tree).passed());
  EXPECT_TRUE(dt::check(tree).findings.empty());
}

TEST(DtFolder, DoesNotFollowLinks) {
  const replay::TemporaryFolder folder;
  write_folder(folder, Board().tree());
  fs::create_directory_symlink(folder.path() / "tree", folder.path() / "tree/soc/loop");
  fs::create_symlink("/dev/zero", folder.path() / "tree/soc/endless");
  // A link to the tree itself is what /proc/device-tree is.
  fs::create_directory_symlink(folder.path() / "tree", folder.path() / "link");
  EXPECT_EQ(dt::read_tree(folder.path() / "link").size(), Board().tree().size());
}

TEST(DtFolder, HasLimits) {
  const replay::TemporaryFolder folder;
  folder.write("large/a", std::string(dt::kMaxBytes, 'a'));
  EXPECT_EQ(refused([&] { dt::read_tree(folder.path() / "large"); }), "");
  folder.write("large/b", "b");
  const std::string large = refused([&] { dt::read_tree(folder.path() / "large"); });
  EXPECT_TRUE(large.ends_with("large: more than 2097152 bytes of properties")) << large;
  std::string deep = "deep";
  for (int i = 0; i < 65; ++i) deep += "/n";
  folder.write(deep + "/p", "p");
  EXPECT_TRUE(refused([&] {
                dt::read_tree(folder.path() / "deep");
              }).ends_with(": more than 64 levels of nodes"));
}

TEST(DtTree, OfAFileThatIsNone) {
  const replay::TemporaryFolder folder;
  const std::string file = folder.write("board.dts", "/dts-v1/;\n");
  EXPECT_EQ(refused([&] { dt::read_tree(file); }),
            file + ": not a device tree blob: it does not begin with the bytes d0 0d fe ed");
  EXPECT_EQ(refused([&] { dt::read_tree(file + "x"); }),
            file + "x: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace nvdla::test
