// SPDX-License-Identifier: MIT
#include "tools/replay/load.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "backend/record/record_format.hpp"
#include "tools/replay/parsers.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace {

namespace fs = std::filesystem;

// Cases are some 40 KB, traces 1 MB.
constexpr std::uint64_t kMaxScript = std::uint64_t{64} << 20;
// The driver's limit is for the user to choose.
constexpr std::uint64_t kMaxDump = kMaxRange;
static_assert(kMaxDump >= detail::kMaxRecordBytes);

class Loader {
 public:
  explicit Loader(const fs::path& path) : path_(path), file_(path.string()) {}

  Script load(RegisterMap map) {
    const auto kind = kind_of(path_);
    if (!kind)
      throw Error(
          file_, 0,
          "is no case, trace, dump or record; expected a .json, .cfg, .txn or .devcoredump file or "
          "a record");
    const bool brings_memory = *kind == Kind::kDump || *kind == Kind::kRecord;
    const auto text = read_file(path_, brings_memory ? kMaxDump : kMaxScript);
    if (!text) throw Error(file_, 0, "no such file; expected a case or a trace");
    Script script;
    switch (*kind) {
      case Kind::kCase:
        script = parse_case(*text, file_, map);
        break;
      case Kind::kCfg:
        script = parse_cfg(*text, file_, map);
        break;
      case Kind::kTxn:
        script = load_txn(*text, map);
        break;
      case Kind::kDump:
        // It brings its memory along.
        return dump_script(parse_dump(*text, file_), file_);
      case Kind::kRecord:
        return record_script(parse_record(*text, file_), file_);
    }
    if (script.dropped_writes)
      script.warnings.push_back(fmt::format(
          "{} writes to units that the configuration lacks are dropped", script.dropped_writes));
    for (Command& command : script.commands) {
      line_ = command.line;
      if (auto* load_memory = std::get_if<LoadMemory>(&command.action)) {
        attach(script, load_memory->file, load_memory->size);
        finish(*load_memory);
      } else if (auto* compare = std::get_if<CompareMemory>(&command.action)) {
        attach(script, compare->file, compare->size);
        charge(compare->size);
      } else if (const auto* crc = std::get_if<CheckCrc>(&command.action)) {
        charge(crc->size);
      } else if (const auto* fill = std::get_if<FillMemory>(&command.action)) {
        charge(fill->size);
        if (fill->byte) charge_filled(fill->size);
      }
    }
    return script;
  }

 private:
  Script load_txn(std::string_view text, RegisterMap map) const {
    const fs::path plusargs = path_.parent_path() / "plusargs.txt";
    const auto options = read_file(plusargs, kMaxScript);
    // Traces say only by their name which memory they mean.
    const std::string folder = fs::absolute(path_).lexically_normal().parent_path().filename();
    const Ram ram = folder.ends_with("_cvsram") ? Ram::kSecondary : Ram::kPrimary;
    return parse_txn(text, file_, map,
                     options ? parse_plusargs(*options, plusargs.string()) : PlusArgs{}, ram);
  }

  // Sets the data of a file, of which `size` bytes are needed, or all there are for 0.
  void attach(Script& script, BlobFile& file, std::uint64_t size) {
    const auto key = std::pair(file.name, file.format);
    auto known = blobs_.find(key);
    if (known == blobs_.end()) known = blobs_.emplace(key, read(file)).first;
    file.data = known->second;
    if (!file.data) {
      if (!file.optional)
        throw Error(file_, line_,
                    fmt::format("the file {} is missing; expected it beside the {}",
                                quote(file.name), script.kind == Kind::kCase ? "case" : "trace"));
      script.warnings.push_back(
          fmt::format("line {}: the file {} is missing: nothing is loaded or compared", line_,
                      quote(file.name)));
      return;
    }
    const std::uint64_t have = covered(*file.data, kMaxRange);
    if (file.format == BlobFormat::kRaw ? have != size : have < size)
      throw Error(file_, line_,
                  fmt::format("the file {} has {} bytes; expected {}{}", quote(file.name), have,
                              file.format == BlobFormat::kRaw ? "" : "at least ", size));
  }

  void finish(const LoadMemory& load_memory) {
    if (!load_memory.file.data) return;
    std::uint64_t bytes = 0;
    for (const Segment& segment : *load_memory.file.data) {
      bytes += segment.bytes.size();
      if (load_memory.size == 0 && !segment.bytes.empty())
        check_range({file_, line_}, load_memory.address, segment.offset + segment.bytes.size());
    }
    charge(load_memory.size ? load_memory.size : bytes);
  }

  // Counts what the commands touch.
  void charge(std::uint64_t size) {
    total_ += size;
    if (total_ > kMaxTotal)
      throw Error(
          file_, line_,
          fmt::format("the commands touch more than {:#x} bytes in all; expected less", kMaxTotal));
  }

  // Zeros are free in sparse memory, other bytes are not.
  void charge_filled(std::uint64_t size) {
    filled_ += size;
    if (filled_ > kMaxRange)
      throw Error(file_, line_,
                  fmt::format("more than {:#x} bytes are filled in all; expected less", kMaxRange));
  }

  std::shared_ptr<const Blob> read(const BlobFile& file) const {
    const fs::path path = path_.parent_path() / file.name;
    auto text = read_file(path, kMaxRange);
    if (!text) return nullptr;
    Blob blob;
    if (file.format == BlobFormat::kText) {
      blob = parse_text_blob(*text, path.string());
    } else {
      const auto* bytes = reinterpret_cast<const std::byte*>(text->data());
      blob.push_back({0, {bytes, bytes + text->size()}});
    }
    return std::make_shared<const Blob>(std::move(blob));
  }

  const fs::path path_;
  const std::string file_;
  unsigned line_ = 0;  // of the command at hand
  std::uint64_t total_ = 0;
  std::uint64_t filled_ = 0;
  std::map<std::pair<std::string, BlobFormat>, std::shared_ptr<const Blob>> blobs_;
};

}  // namespace

std::vector<Dump> read_jobs(const fs::path& path) {
  const std::string file = path.string();
  const auto kind = kind_of(path);
  if (kind != Kind::kDump && kind != Kind::kRecord)
    throw Error(file, 0,
                "is no dump or record; expected a .devcoredump file or what --record writes");
  const auto bytes = read_file(path, kMaxDump);
  if (!bytes) throw Error(file, 0, "no such file; expected a dump or a record");
  if (kind == Kind::kRecord) return parse_record(*bytes, file);
  std::vector<Dump> jobs;
  jobs.push_back(parse_dump(*bytes, file));
  return jobs;
}

Script load_script(const fs::path& path, RegisterMap map) { return Loader(path).load(map); }

const nvdla_hw* configuration_in(const fs::path& path) {
  const auto kind = kind_of(path);
  if (kind != Kind::kDump && kind != Kind::kRecord) return configuration_of(path);
  return read_jobs(path).front().hw;
}

}  // namespace nvdla::replay
