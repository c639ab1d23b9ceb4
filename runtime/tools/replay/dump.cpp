// SPDX-License-Identifier: MIT
#include "tools/replay/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>

#include "backend/record/record_format.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace {

// Reads what it is asked for and nothing beyond.
class Reader {
 public:
  // `start`: where in the file the bytes begin.
  Reader(std::string_view bytes, std::string_view file, std::uint64_t start)
      : bytes_(bytes), file_(file), start_(start) {}

  std::uint64_t at() const noexcept { return at_; }
  std::uint64_t left() const noexcept { return bytes_.size() - at_; }

  std::string_view take(std::uint64_t size, std::string_view what) {
    if (size > left())
      fail(fmt::format("{} has {} bytes, {} are left; expected them", what, size, left()));
    const std::string_view result = bytes_.substr(at_, size);
    at_ += size;
    return result;
  }

  template <typename T>
  T take_as(std::string_view what) {
    static_assert(std::is_trivially_copyable_v<T>);
    T result;
    std::memcpy(&result, take(sizeof(T), what).data(), sizeof(T));
    return result;
  }

  [[noreturn]] void fail(std::string_view message) const {
    throw Error(file_, 0, fmt::format("at byte {}: {}", start_ + at_, message));
  }

 private:
  std::string_view bytes_;
  std::string_view file_;
  std::uint64_t start_;
  std::uint64_t at_ = 0;
};

// Returns the text of a field, up to its zero.
template <std::size_t N>
std::string text_of(const Reader& reader, const char (&field)[N], std::string_view what) {
  const char* const end = std::find(field, field + N, '\0');
  if (end == field + N) reader.fail(fmt::format("{} does not end; expected a zero in it", what));
  return std::string(field, end);
}

class Parser {
 public:
  Parser(std::string_view bytes, std::string_view file, std::uint64_t start)
      : size_(bytes.size()), file_(file), reader_(bytes, file, start) {}

  Dump parse() {
    parse_header();
    for (std::uint32_t i = 0; i < dump_.header.num_sections; ++i) parse_section();
    if (reader_.left())
      reader_.fail(fmt::format("{} bytes follow the last section; expected none", reader_.left()));
    check();
    return std::move(dump_);
  }

 private:
  void parse_header() {
    auto& header = dump_.header;
    const auto magic = Reader(reader_).take_as<std::uint64_t>("the magic number");
    if (magic == __builtin_bswap64(NVDLA_DUMP_MAGIC))
      reader_.fail("the dump is of a machine with the other byte order; expected this one's");
    if (magic != NVDLA_DUMP_MAGIC)
      reader_.fail("no dump of the driver nvdla; expected one to start with NVDLADMP");
    header = reader_.take_as<nvdla_dump_header>("the header");
    if (header.version != NVDLA_DUMP_VERSION)
      reader_.fail(
          fmt::format("version {} of the format; expected {}", header.version, NVDLA_DUMP_VERSION));
    if (header.header_bytes < sizeof(header))
      reader_.fail(fmt::format("a header of {} bytes; expected at least {}", header.header_bytes,
                               sizeof(header)));
    reader_.take(header.header_bytes - sizeof(header), "the rest of the header");
    if (header.bytes != size_)
      reader_.fail(
          fmt::format("the file has {} bytes; expected {} as it says", size_, header.bytes));
    const std::string name = text_of(reader_, header.configuration, "the configuration");
    dump_.hw = nvdla_hw_find(name.c_str());
    if (!dump_.hw)
      reader_.fail(fmt::format("unknown configuration {}; expected one that `nvdla info` lists",
                               quote(name)));
    dump_.driver = text_of(reader_, header.driver, "the driver's name");
    dump_.release = text_of(reader_, header.release, "the kernel's name");
  }

  // Elements of a section, whose tails may be of a later time.
  template <typename T>
  std::vector<T> elements(const nvdla_dump_section& section, std::string_view payload) {
    if (section.stride < sizeof(T) || section.bytes % section.stride)
      reader_.fail(
          fmt::format("a section of type {} has {} bytes in steps of {}; expected steps of "
                      "at least {} and no rest",
                      section.type, section.bytes, section.stride, sizeof(T)));
    std::vector<T> result(section.bytes / section.stride);
    for (std::size_t i = 0; i < result.size(); ++i)
      std::memcpy(&result[i], payload.data() + i * section.stride, sizeof(T));
    return result;
  }

  template <typename T>
  void set(std::vector<T>& to, const nvdla_dump_section& section, std::string_view payload) {
    if (seen_ >> section.type & 1)
      reader_.fail(fmt::format("a second section of type {}; expected one", section.type));
    seen_ |= 1u << section.type;
    to = elements<T>(section, payload);
  }

  DumpBuffer buffer_of(const nvdla_dump_section& section, std::string_view payload) {
    DumpBuffer buffer;
    if (section.stride < sizeof(buffer.info) || section.stride > section.bytes)
      reader_.fail(
          fmt::format("a buffer's section has {} bytes, {} of them for what it is; "
                      "expected at least {}",
                      section.bytes, section.stride, sizeof(buffer.info)));
    std::memcpy(&buffer.info, payload.data(), sizeof(buffer.info));
    payload.remove_prefix(section.stride);
    if (payload.size() > buffer.info.size || buffer.info.memory > NVDLA_MEMORY_SRAM)
      reader_.fail(
          fmt::format("a buffer of {} bytes in memory {} with {}; expected no more, in "
                      "memory 0 or 1",
                      buffer.info.size, buffer.info.memory, payload.size()));
    check_range({file_}, buffer.info.address, buffer.info.size);
    const auto* bytes = reinterpret_cast<const std::byte*>(payload.data());
    buffer.bytes.assign(bytes, bytes + payload.size());
    return buffer;
  }

  DumpBuffer written_by(const nvdla_dump_section& section, std::string_view payload) {
    DumpBuffer buffer = buffer_of(section, payload);
    if (buffer.bytes.size() != buffer.info.size)
      reader_.fail(fmt::format("of {} bytes that were written there are {}; expected all",
                               buffer.info.size, buffer.bytes.size()));
    return buffer;
  }

  void set_names(std::string_view payload) {
    if (!dump_.layer_names.empty()) reader_.fail("names of layers once more; expected them once");
    while (!payload.empty()) {
      const std::size_t end = payload.find('\0');
      if (end == payload.npos)
        reader_.fail(fmt::format("the name of layer {} has no end; expected a zero behind it",
                                 dump_.layer_names.size()));
      dump_.layer_names.emplace_back(payload.substr(0, end));
      payload.remove_prefix(end + 1);
    }
  }

  void parse_section() {
    const auto section = reader_.take_as<nvdla_dump_section>("the start of a section");
    const std::string_view payload = reader_.take(section.bytes, "a section");
    reader_.take(-section.bytes & 7, "what fills up a section");
    switch (section.type) {
      case NVDLA_DUMP_REGISTERS:
        return set(dump_.registers, section, payload);
      case NVDLA_DUMP_LAYERS:
        return set(dump_.layers, section, payload);
      case NVDLA_DUMP_WRITES:
        return set(dump_.writes, section, payload);
      case NVDLA_DUMP_ACCESSES:
        return set(dump_.accesses, section, payload);
      case NVDLA_DUMP_SLOTS:
        return set(dump_.slots, section, payload);
      case NVDLA_DUMP_TRANSFERS:
        return set(dump_.transfers, section, payload);
      case NVDLA_DUMP_LUTS:
        return set(dump_.luts, section, payload);
      case NVDLA_DUMP_BUFFER:
        dump_.buffers.push_back(buffer_of(section, payload));
        return;
      case detail::kSectionWritten:
        dump_.written.push_back(written_by(section, payload));
        return;
      case detail::kSectionKept:
        dump_.kept.push_back(buffer_of(section, payload).info);
        return;
      case detail::kSectionNames:
        return set_names(payload);
      default:
        return;  // of a later driver
    }
  }

  [[noreturn]] void throw_error(std::string_view message) const { throw Error(file_, 0, message); }

  void check_part(std::size_t layer, std::string_view what, std::uint32_t first,
                  std::uint32_t count, std::size_t total) const {
    if (first > total || count > total - first)
      throw_error(fmt::format("layer {}: {} {} to {} of {}; expected them to be there", layer, what,
                              first, std::uint64_t{first} + count, total));
  }

  void check_layer(std::size_t index) const {
    const nvdla_dump_layer& layer = dump_.layers[index];
    if (layer.state > NVDLA_DUMP_ENDED)
      throw_error(fmt::format("layer {}: state {}; expected at most {}", index, layer.state,
                              +NVDLA_DUMP_ENDED));
    check_part(index, "writes", layer.first_write, layer.num_writes, dump_.writes.size());
    check_part(index, "accesses", layer.first_access, layer.num_accesses, dump_.accesses.size());
    check_part(index, "transfers", layer.first_transfer, layer.num_transfers,
               dump_.transfers.size());
    if (layer.lut > dump_.luts.size())
      throw_error(fmt::format("layer {}: look-up table {} of {}; expected it to be there", index,
                              layer.lut, dump_.luts.size()));
  }

  void check() const {
    if (dump_.layers.size() > NVDLA_MAX_LAYERS)
      throw_error(
          fmt::format("{} layers; expected at most {}", dump_.layers.size(), +NVDLA_MAX_LAYERS));
    if (!dump_.layer_names.empty() && dump_.layer_names.size() != dump_.layers.size())
      throw Error(file_, 0,
                  fmt::format("names of {} layers; expected one for each of the {}",
                              dump_.layer_names.size(), dump_.layers.size()));
    if (!dump_.layers.empty() && dump_.header.layer >= dump_.layers.size())
      throw_error(fmt::format("layer {} of {} failed; expected one of them", dump_.header.layer,
                              dump_.layers.size()));
    for (const nvdla_dump_register& reg : dump_.registers) {
      check_register_offset({file_}, reg.offset);
      if (reg.group > 1) throw_error(fmt::format("register group {}; expected 0 or 1", reg.group));
    }
    for (const nvdla_dump_write& write : dump_.writes) check_register_offset({file_}, write.offset);
    for (const nvdla_dump_access& access : dump_.accesses) {
      check_range({file_}, access.address, access.bytes);
      if (access.memory > NVDLA_MEMORY_SRAM)
        throw_error(fmt::format("an access to memory {}; expected 0 or 1", access.memory));
    }
    for (const nvdla_transfer& transfer : dump_.transfers)
      for (const std::uint32_t slot : {transfer.source.slot, transfer.destination.slot})
        if (slot >= dump_.slots.size())
          throw_error(fmt::format("a transfer names slot {} of {}; expected one of them", slot,
                                  dump_.slots.size()));
    for (const nvdla_lut& lut : dump_.luts)
      if (lut.unit > NVDLA_LUT_CDP)
        throw_error(fmt::format("a look-up table of unit {}; expected 0 or 1", lut.unit));
    std::uint64_t writes = 0, accesses = 0;
    for (std::size_t i = 0; i < dump_.layers.size(); ++i) {
      check_layer(i);
      writes += dump_.layers[i].num_writes;
      accesses += dump_.layers[i].num_accesses;
    }
    // Shared ones would make much out of little.
    if (writes > dump_.writes.size() || accesses > dump_.accesses.size())
      throw_error(
          fmt::format("layers have {} writes and {} accesses; expected each of {} and {} to be "
                      "of one layer",
                      writes, accesses, dump_.writes.size(), dump_.accesses.size()));
  }

  std::uint64_t size_;
  std::string_view file_;
  Reader reader_;
  std::uint32_t seen_ = 0;
  Dump dump_;
};

// `RecordCheck` checks what the jobs of a record must have in common.
class RecordCheck {
 public:
  explicit RecordCheck(std::string_view file) : file_(file) {}

  void add(const Dump& job, const Dump& first) {
    ++number_;
    if (job.hw != first.hw || ((job.header.flags ^ first.header.flags) & kOfDevice))
      throw_error(
          fmt::format("is of {}, the first of {}, or of another device of that kind; expected "
                      "one device",
                      job.hw->name, first.hw->name));
    if (job.layers.empty()) throw_error("has no layers; expected one at least");
    std::vector<const nvdla_dump_buffer*> buffers;
    for (const DumpBuffer& buffer : job.buffers) {
      if (buffer.bytes.size() != buffer.info.size)
        throw_error(fmt::format("has {} of the {} bytes of the buffer at {:#x}; expected all",
                                buffer.bytes.size(), buffer.info.size, buffer.info.address));
      known_[{buffer.info.memory, buffer.info.address}] = buffer.info.size;
      buffers.push_back(&buffer.info);
    }
    for (const nvdla_dump_buffer& kept : job.kept) {
      const auto found = known_.find({kept.memory, kept.address});
      if (found == known_.end() || found->second != kept.size)
        throw_error(
            fmt::format("keeps a buffer of {} bytes at {:#x}; expected a job before to have it",
                        kept.size, kept.address));
      buffers.push_back(&kept);
    }
    for (const DumpBuffer& written : job.written) check_written(written.info, buffers);
  }

 private:
  static constexpr std::uint32_t kOfDevice = NVDLA_DUMP_WEIGHT_GATING;

  void check_written(const nvdla_dump_buffer& written,
                     const std::vector<const nvdla_dump_buffer*>& buffers) const {
    const auto holds = [&](const nvdla_dump_buffer* buffer) {
      return buffer->memory == written.memory && written.address >= buffer->address &&
             written.address - buffer->address <= buffer->size &&
             written.size <= buffer->size - (written.address - buffer->address);
    };
    if (std::none_of(buffers.begin(), buffers.end(), holds))
      throw_error(
          fmt::format("has {} bytes that were written at {:#x}; expected them to lie in one of "
                      "its buffers",
                      written.size, written.address));
  }

  [[noreturn]] void throw_error(std::string_view what) const {
    throw Error(file_, 0, fmt::format("job {} {}", number_, what));
  }

  std::string_view file_;
  unsigned number_ = 0;
  // The size of the last buffer at each place.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> known_;
};

}  // namespace

Dump parse_dump(std::string_view bytes, std::string_view file) {
  return Parser(bytes, file, 0).parse();
}

std::vector<Dump> parse_record(std::string_view bytes, std::string_view file) {
  std::vector<Dump> jobs;
  std::uint64_t start = 0;
  RecordCheck check(file);
  do {
    const std::string_view rest = bytes.substr(start);
    // The parser reports a job that is cut off or has an invalid size.
    nvdla_dump_header header{};
    std::memcpy(&header, rest.data(), std::min(rest.size(), sizeof(header)));
    const bool sized = header.magic == NVDLA_DUMP_MAGIC && header.bytes >= sizeof(header);
    const std::string_view one = sized ? rest.substr(0, header.bytes) : rest;
    jobs.push_back(Parser(one, file, start).parse());
    check.add(jobs.back(), jobs.front());
    start += one.size();
  } while (start < bytes.size());
  return jobs;
}

}  // namespace nvdla::replay
