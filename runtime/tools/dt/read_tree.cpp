// SPDX-License-Identifier: MIT
//
// Device trees from where they are: blobs, and folders as the kernel shows its own.
#include <fmt/format.h>
#include <libfdt.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "tools/dt/tree.hpp"
#include "tools/files/files.hpp"
#include "tools/files/status.hpp"

namespace nvdla::dt {
namespace {

namespace fs = std::filesystem;
using program::UsageError;

constexpr std::size_t kMaxName = 255;

// Blobs have names of nodes without paths, and values that are not aligned to 8 bytes, since this
// version.
constexpr std::uint32_t kFirstVersion = 16;

// A blob has to lie at a multiple of 8.
std::vector<std::uint64_t> aligned(std::string_view bytes) {
  std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

[[noreturn]] void refuse_blob(const std::string& name, std::string_view what) {
  throw UsageError(fmt::format("{}: damaged device tree blob: {}", name, what));
}

// Checks the length of each property of the structure, up to its end or to what libfdt reports
// itself. libfdt (up to 1.6.1) adds the length to its position without a check, so it could loop
// for ever.
void check_lengths(std::string_view structure, const std::string& name) {
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      value = value << 8 | static_cast<std::uint8_t>(structure[i]);
    return value;
  };
  for (std::size_t at = 0; at + 4 <= structure.size();) {
    const std::uint32_t tag = number(at);
    at += 4;
    if (tag == FDT_BEGIN_NODE) {
      const std::size_t end = structure.find('\0', at);
      if (end == structure.npos) refuse_blob(name, "the name of a node has no end");
      at = end + 1;
    } else if (tag == FDT_PROP) {
      if (structure.size() - at < 8) refuse_blob(name, "it ends in a property");
      const std::uint32_t bytes = number(at);
      at += 8;
      if (bytes > structure.size() - at) {
        refuse_blob(name, fmt::format("a property has {} bytes, where {} are left", bytes,
                                      structure.size() - at));
      }
      at += bytes;
    } else if (tag == FDT_END) {
      return;
    }
    at = (at + 3) / 4 * 4;
  }
}

void check_blob(const void* blob, std::string_view bytes, const std::string& name) {
  constexpr std::string_view kMagic = "\xd0\x0d\xfe\xed";
  if (!bytes.starts_with(kMagic)) {
    throw UsageError(fmt::format(
        "{}: not a device tree blob: it does not begin with the bytes d0 0d fe ed", name));
  }
  if (bytes.size() > kMaxBytes) {
    throw UsageError(
        fmt::format("{}: has {} bytes; expected at most {}", name, bytes.size(), kMaxBytes));
  }
  if (bytes.size() < sizeof(fdt_header)) {
    refuse_blob(name,
                fmt::format("{}, it has {} bytes", fdt_strerror(-FDT_ERR_TRUNCATED), bytes.size()));
  }
  if (fdt_totalsize(blob) > bytes.size()) {
    refuse_blob(name,
                fmt::format("{}, it has {} bytes and says {}", fdt_strerror(-FDT_ERR_TRUNCATED),
                            bytes.size(), fdt_totalsize(blob)));
  }
  if (const int error = fdt_check_header(blob); error != 0) refuse_blob(name, fdt_strerror(error));
  // libfdt (1.6.1) takes the missing name of an older blob's root for one and crashes.
  if (fdt_version(blob) < kFirstVersion) {
    throw UsageError(fmt::format("{}: a device tree blob of version {}; expected {} or newer", name,
                                 fdt_version(blob), kFirstVersion));
  }
  check_lengths(bytes.substr(fdt_off_dt_struct(blob)), name);
  if (const int error = fdt_check_full(blob, bytes.size()); error != 0)
    refuse_blob(name, fdt_strerror(error));
}

class FolderReader {
 public:
  explicit FolderReader(const std::string& path) : tree_(path) { read(path, Tree::kRoot); }

  Tree take() && { return std::move(tree_); }

 private:
  // Tree::add() ends the recursion.
  void read(const fs::path& folder, std::size_t node) {
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      const fs::path& path = entries->path();
      const std::string name = path.filename();
      const fs::file_status status = entries->symlink_status();
      if (fs::is_directory(status))
        read(path, tree_.add(node, name));
      else if (fs::is_regular_file(status))
        read_property(path, node, name);
    }
    if (error)
      throw UsageError(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  }

  void read_property(const fs::path& path, std::size_t node, const std::string& name) {
    // The node's own name; and what only root may read, which no driver asks for.
    if (name == "name" || name.starts_with("security-")) return;
    std::error_code error;
    // An empty file is a property without a value, which read_file() takes for a mistake.
    const std::uintmax_t bytes = fs::file_size(path, error);
    if (error)
      throw UsageError(fmt::format("{}: cannot be read: {}", path.string(), error.message()));
    std::string value;
    if (bytes != 0) {
      const auto read = program::read_file(path, kMaxBytes);
      value.assign(read.begin(), read.end());
    }
    bytes_ += value.size();
    if (bytes_ > kMaxBytes) {
      throw UsageError(
          fmt::format("{}: more than {} bytes of properties", tree_.name(), kMaxBytes));
    }
    tree_.add_property(node, name, std::move(value));
  }

  Tree tree_;
  std::size_t bytes_ = 0;
};

}  // namespace

Tree read_blob(std::string_view bytes, const std::string& name) {
  const auto words = aligned(bytes);
  const void* const blob = words.data();
  check_blob(blob, bytes, name);
  Tree tree(name);
  std::vector<std::size_t> levels;  // the node of each
  int depth = -1;
  for (int offset = fdt_next_node(blob, -1, &depth); offset >= 0 && depth >= 0;
       offset = fdt_next_node(blob, offset, &depth)) {
    const auto level = static_cast<std::size_t>(depth);
    levels.resize(std::min(levels.size(), level));
    std::size_t node = Tree::kRoot;
    if (level != 0) node = tree.add(levels.back(), fdt_get_name(blob, offset, nullptr));
    levels.push_back(node);
    int property = 0;
    fdt_for_each_property_offset(property, blob, offset) {
      const char* property_name = nullptr;
      int size = 0;
      const void* const value = fdt_getprop_by_offset(blob, property, &property_name, &size);
      if (value == nullptr) throw UsageError(fmt::format("{}: {}", name, fdt_strerror(size)));
      // Properties share names, so a long one could stand for more than the blob has.
      if (const std::size_t length = std::strlen(property_name); length > kMaxName) {
        throw UsageError(
            fmt::format("{}: {}: a property has a name of {} bytes; expected at most {}", name,
                        tree.path(node), length, kMaxName));
      }
      tree.add_property(node, property_name,
                        {static_cast<const char*>(value), static_cast<std::size_t>(size)});
    }
  }
  return tree;
}

Tree read_folder(const std::string& path) { return FolderReader(path).take(); }

Tree read_tree(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return read_folder(path);
  const auto bytes = program::read_file(path, kMaxBytes);
  return read_blob({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace nvdla::dt
