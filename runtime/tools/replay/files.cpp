// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "backend/record/record_format.hpp"
#include "firmware/nvdla_dump_format.h"
#include "tools/replay/load.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace fs = std::filesystem;

std::optional<std::string> read_file(const fs::path& path, std::uint64_t limit) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (code) throw Error(path.string(), 0, "cannot be read: " + code.message());
  // A pipe or a device might never end.
  if (!fs::is_regular_file(status))
    throw Error(path.string(), 0, "is not a regular file; expected one");
  const std::uint64_t size = fs::file_size(path, code);
  if (code) throw Error(path.string(), 0, "cannot be read: " + code.message());
  if (size > limit)
    throw Error(path.string(), 0, fmt::format("has {} bytes; expected at most {}", size, limit));
  std::string text(size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(size));
  if (!in || static_cast<std::uint64_t>(in.gcount()) != size)
    throw Error(path.string(), 0, "cannot be read; expected a readable file");
  return text;
}

namespace {

// True of what the driver or a recorder wrote, in either order of bytes, whatever its name is.
bool begins_as_dump(const fs::path& path) {
  std::error_code code;
  // Opening a pipe would wait for its writer.
  if (!fs::is_regular_file(path, code)) return false;
  std::uint64_t magic = 0;
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(&magic), sizeof(magic));
  return in && (magic == NVDLA_DUMP_MAGIC || magic == __builtin_bswap64(NVDLA_DUMP_MAGIC));
}

}  // namespace

std::optional<Kind> kind_of(const fs::path& path) {
  if (path.extension() == ".devcoredump") return Kind::kDump;
  if (path.extension() == detail::kRecordSuffix || begins_as_dump(path)) return Kind::kRecord;
  if (path.filename() == "case.json" || path.extension() == ".json") return Kind::kCase;
  if (path.extension() == ".cfg") return Kind::kCfg;
  if (path.extension() == ".txn") return Kind::kTxn;
  return std::nullopt;
}

std::vector<fs::path> find_scripts(const std::vector<std::string>& paths) {
  std::vector<fs::path> found;
  for (const std::string& name : paths) {
    const fs::path path(name);
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (status.type() == fs::file_type::not_found)
      throw Error(name, 0, "no such file or folder; expected a case, a trace or a folder of them");
    if (fs::is_directory(status)) {
      fs::recursive_directory_iterator entry(path, code), end;
      for (; !code && entry != end; entry.increment(code)) {
        // Other JSON files may lie around; a case has this name.
        const fs::path& file = entry->path();
        const auto kind = kind_of(file);
        std::error_code ignored;
        if (kind && (kind != Kind::kCase || file.filename() == "case.json") &&
            !entry->is_directory(ignored))
          found.push_back(file);
      }
      if (code) throw Error(name, 0, "cannot be searched: " + code.message());
    } else if (code) {
      throw Error(name, 0, "cannot be read: " + code.message());
    } else if (!kind_of(path)) {
      throw Error(
          name, 0,
          "is no case, trace, dump or record; expected a .json, .cfg, .txn or .devcoredump file, a "
          "record or a folder");
    } else {
      found.push_back(path);
    }
  }
  std::sort(found.begin(), found.end());
  const auto same = [](const fs::path& a, const fs::path& b) {
    return a.lexically_normal() == b.lexically_normal();
  };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

const nvdla_hw* configuration_of(const fs::path& path) {
  std::error_code code;
  fs::path folder = fs::absolute(path, code).lexically_normal();
  if (code) folder = path;
  while (folder.has_relative_path()) {
    folder = folder.parent_path();
    if (const nvdla_hw* hw = nvdla_hw_find(folder.filename().c_str())) return hw;
  }
  return nullptr;
}

}  // namespace nvdla::replay
