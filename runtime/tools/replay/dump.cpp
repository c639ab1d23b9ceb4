// SPDX-License-Identifier: MIT
#include "tools/replay/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <type_traits>

#include "firmware/engine/nvdla_engine.h"
#include "tools/replay/error.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace {

constexpr std::uint32_t kBases[][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;

// Reads what it is asked for and nothing beyond.
class Reader {
 public:
  Reader(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

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
    throw Error(file_, 0, fmt::format("at byte {}: {}", at_, message));
  }

 private:
  std::string_view bytes_;
  std::string_view file_;
  std::uint64_t at_ = 0;
};

// What a field of characters holds, up to its zero.
template <std::size_t N>
std::string text_of(const Reader& reader, const char (&field)[N], std::string_view what) {
  const char* const end = std::find(field, field + N, '\0');
  if (end == field + N) reader.fail(fmt::format("{} does not end; expected a zero in it", what));
  return std::string(field, end);
}

class Parser {
 public:
  Parser(std::string_view bytes, std::string_view file)
      : size_(bytes.size()), file_(file), reader_(bytes, file) {}

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
    if (magic == __builtin_bswap64(DRM_NVDLA_DUMP_MAGIC))
      reader_.fail("the dump is of a machine with the other byte order; expected this one's");
    if (magic != DRM_NVDLA_DUMP_MAGIC)
      reader_.fail("no dump of the driver nvdla; expected one to start with NVDLADMP");
    header = reader_.take_as<drm_nvdla_dump_header>("the header");
    if (header.version != DRM_NVDLA_DUMP_VERSION)
      reader_.fail(fmt::format("version {} of the format; expected {}", header.version,
                               DRM_NVDLA_DUMP_VERSION));
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
  std::vector<T> elements(const drm_nvdla_dump_section& section, std::string_view payload) {
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
  void set(std::vector<T>& to, const drm_nvdla_dump_section& section, std::string_view payload) {
    if (seen_ >> section.type & 1)
      reader_.fail(fmt::format("a second section of type {}; expected one", section.type));
    seen_ |= 1u << section.type;
    to = elements<T>(section, payload);
  }

  void add_buffer(const drm_nvdla_dump_section& section, std::string_view payload) {
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
    dump_.buffers.push_back(std::move(buffer));
  }

  void parse_section() {
    const auto section = reader_.take_as<drm_nvdla_dump_section>("the start of a section");
    const std::string_view payload = reader_.take(section.bytes, "a section");
    reader_.take(-section.bytes & 7, "what fills up a section");
    switch (section.type) {
      case DRM_NVDLA_DUMP_REGISTERS:
        return set(dump_.registers, section, payload);
      case DRM_NVDLA_DUMP_LAYERS:
        return set(dump_.layers, section, payload);
      case DRM_NVDLA_DUMP_WRITES:
        return set(dump_.writes, section, payload);
      case DRM_NVDLA_DUMP_ACCESSES:
        return set(dump_.accesses, section, payload);
      case DRM_NVDLA_DUMP_SLOTS:
        return set(dump_.slots, section, payload);
      case DRM_NVDLA_DUMP_TRANSFERS:
        return set(dump_.transfers, section, payload);
      case DRM_NVDLA_DUMP_LUTS:
        return set(dump_.luts, section, payload);
      case DRM_NVDLA_DUMP_BUFFER:
        return add_buffer(section, payload);
      default:
        return;  // of a later driver
    }
  }

  [[noreturn]] void refuse(std::string_view message) const { throw Error(file_, 0, message); }

  void check_part(std::size_t layer, std::string_view what, std::uint32_t first,
                  std::uint32_t count, std::size_t total) const {
    if (first > total || count > total - first)
      refuse(fmt::format("layer {}: {} {} to {} of {}; expected them to be there", layer, what,
                         first, std::uint64_t{first} + count, total));
  }

  void check_layer(std::size_t index) const {
    const drm_nvdla_dump_layer& layer = dump_.layers[index];
    if (layer.state > DRM_NVDLA_DUMP_ENDED)
      refuse(fmt::format("layer {}: state {}; expected at most {}", index, layer.state,
                         +DRM_NVDLA_DUMP_ENDED));
    check_part(index, "writes", layer.first_write, layer.num_writes, dump_.writes.size());
    check_part(index, "accesses", layer.first_access, layer.num_accesses, dump_.accesses.size());
    check_part(index, "transfers", layer.first_transfer, layer.num_transfers,
               dump_.transfers.size());
    if (layer.lut > dump_.luts.size())
      refuse(fmt::format("layer {}: look-up table {} of {}; expected it to be there", index,
                         layer.lut, dump_.luts.size()));
  }

  void check() const {
    if (dump_.layers.size() > NVDLA_MAX_LAYERS)
      refuse(fmt::format("{} layers; expected at most {}", dump_.layers.size(), +NVDLA_MAX_LAYERS));
    if (!dump_.layers.empty() && dump_.header.layer >= dump_.layers.size())
      refuse(fmt::format("layer {} of {} failed; expected one of them", dump_.header.layer,
                         dump_.layers.size()));
    for (const drm_nvdla_dump_register& reg : dump_.registers) {
      check_register_offset({file_}, reg.offset);
      if (reg.group > 1) refuse(fmt::format("register group {}; expected 0 or 1", reg.group));
    }
    for (const drm_nvdla_dump_write& write : dump_.writes)
      check_register_offset({file_}, write.offset);
    for (const drm_nvdla_dump_access& access : dump_.accesses) {
      check_range({file_}, access.address, access.bytes);
      if (access.memory > NVDLA_MEMORY_SRAM)
        refuse(fmt::format("an access to memory {}; expected 0 or 1", access.memory));
    }
    for (const nvdla_transfer& transfer : dump_.transfers)
      for (const std::uint32_t slot : {transfer.source.slot, transfer.destination.slot})
        if (slot >= dump_.slots.size())
          refuse(fmt::format("a transfer names slot {} of {}; expected one of them", slot,
                             dump_.slots.size()));
    for (const nvdla_lut& lut : dump_.luts)
      if (lut.unit > NVDLA_LUT_CDP)
        refuse(fmt::format("a look-up table of unit {}; expected 0 or 1", lut.unit));
    std::uint64_t writes = 0, accesses = 0;
    for (std::size_t i = 0; i < dump_.layers.size(); ++i) {
      check_layer(i);
      writes += dump_.layers[i].num_writes;
      accesses += dump_.layers[i].num_accesses;
    }
    // Shared ones would make much out of little.
    if (writes > dump_.writes.size() || accesses > dump_.accesses.size())
      refuse(
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

bool hangs(const Dump& dump) { return dump.header.result == NVDLA_JOB_HANG; }
bool is_gone(const Dump& dump) { return dump.header.result == NVDLA_JOB_GONE; }

Ram ram_of(std::uint32_t memory) {
  return memory == NVDLA_MEMORY_SRAM ? Ram::kSecondary : Ram::kPrimary;
}

// Bytes of the two memories.
class Areas {
 public:
  void add(const drm_nvdla_dump_access& access) {
    std::uint64_t begin = access.address;
    std::uint64_t last = access.address + (access.bytes - 1);
    auto& areas = areas_[access.memory];
    auto next = areas.upper_bound(begin);
    if (next != areas.begin() && std::prev(next)->second >= begin) --next;
    while (next != areas.end() && next->first <= last) {
      begin = std::min(begin, next->first);
      last = std::max(last, next->second);
      next = areas.erase(next);
    }
    areas.emplace(begin, last);
  }

  bool touch(const drm_nvdla_dump_access& access) const {
    const auto& areas = areas_[access.memory];
    const auto next = areas.upper_bound(access.address + (access.bytes - 1));
    return next != areas.begin() && std::prev(next)->second >= access.address;
  }

  const std::map<std::uint64_t, std::uint64_t>& of(std::uint32_t memory) const {
    return areas_[memory];
  }

 private:
  std::map<std::uint64_t, std::uint64_t> areas_[2];  // first byte to last
};

// Has the driver's own engine program one layer after the other, on a device that is done at once,
// and writes down what it writes.
class Recorder {
 public:
  Recorder(const Dump& dump, std::string_view file, std::vector<Command>& commands)
      : file_(file), commands_(commands), hw_(*dump.hw), dump_(dump) {
    if (dump.header.flags & DRM_NVDLA_DUMP_WEIGHT_GATING)
      hw_.features |= NVDLA_HW_WEIGHT_GATING;
    else
      hw_.features &= ~NVDLA_HW_WEIGHT_GATING;
    port_.reg_read = [](void* context, u32 offset) -> u32 {
      return static_cast<Recorder*>(context)->read(offset);
    };
    port_.reg_write = [](void* context, u32 offset, u32 value) {
      static_cast<Recorder*>(context)->commands_.push_back({0, WriteRegister{offset, value}});
    };
    port_.dma_barrier = [](void*) {};
    port_.relax = [](void*) {};
    port_.now_ns = [](void*) -> u64 { return 0; };
    for (const drm_nvdla_dump_write& write : dump.writes)
      writes_.push_back({write.offset, write.value});
    for (const drm_nvdla_dump_slot& slot : dump.slots) {
      slots_.push_back({slot.size, 1, slot.memory, slot.access, 0});
      bases_.push_back(slot.address);
    }
    transfers_ = dump.transfers;
    luts_ = dump.luts;
    // The engine forms addresses in tables that may be empty: there is something to point to.
    writes_.reserve(1);
    slots_.reserve(1);
    transfers_.reserve(1);
    luts_.reserve(1);
    relocs_.reserve(1);
    nvdla_engine_init(&engine_, &hw_, &port_, this);
    if (const int error = nvdla_engine_start(&engine_))
      throw Error(file_, 0, fmt::format("the engine does not start: error {}", -error));
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void layer(std::uint32_t index) {
    nvdla_layer_image image = image_of(dump_.layers[index]);
    nvdla_program program = {};
    program.hw = &hw_;
    program.layers = &image;
    program.num_layers = 1;
    program.writes = writes_.data();
    program.relocs = relocs_.data();
    program.num_writes = static_cast<std::uint32_t>(writes_.size());
    program.slots = slots_.data();
    program.num_slots = static_cast<std::uint32_t>(slots_.size());
    program.luts = luts_.data();
    program.num_luts = static_cast<std::uint32_t>(luts_.size());
    program.transfers = transfers_.data();
    program.num_transfers = static_cast<std::uint32_t>(transfers_.size());
    if (dump_.header.flags & DRM_NVDLA_DUMP_STATS) program.flags = NVDLA_PROGRAM_STATS;
    nvdla_layer_stats stats;
    nvdla_job job = {};
    job.program = &program;
    job.bases = bases_.data();
    job.stats = &stats;
    // Names the tables; programs have numbers from 1 on.
    job.serial = std::max<std::uint64_t>(dump_.header.program, 1);

    if (nvdla_engine_submit(&engine_, &job)) refuse(index, "is none that the driver makes");
    if (job.result == NVDLA_JOB_BROKEN) refuse(index, "writes a register of none of its units");
    commands_.push_back({0, EndLayer{index, hangs(dump_) && index == dump_.header.layer}});
    nvdla_engine_interrupt(&engine_, NVDLA_IRQ_LAST);
    if (nvdla_engine_done(&engine_) == nullptr || job.result != NVDLA_JOB_OK)
      refuse(index, "does not end in the engine");
  }

 private:
  [[noreturn]] void refuse(std::uint32_t layer, std::string_view what) const {
    throw Error(file_, 0, fmt::format("layer {} {}; expected what was submitted", layer, what));
  }

  // A device that is idle.
  std::uint32_t read(std::uint32_t offset) const {
    const auto& bases = kBases[hw_.regmap];
    if (offset == bases[NVDLA_UNIT_GLB] + NVDLA_GLB_S_NVDLA_HW_VERSION) return 0x00303031;
    if (offset == bases[NVDLA_UNIT_CDMA] + NVDLA_CDMA_S_CBUF_FLUSH_STATUS)
      return NVDLA_CDMA_S_CBUF_FLUSH_STATUS_FLUSH_DONE_MASK;
    if (bases[NVDLA_UNIT_BDMA] != NVDLA_NO_REG &&
        offset == bases[NVDLA_UNIT_BDMA] + NVDLA_BDMA_STATUS)
      return 20;  // free slots
    return 0;
  }

  static nvdla_layer_image image_of(const drm_nvdla_dump_layer& layer) {
    nvdla_layer_image image = {};
    image.kind = layer.kind;
    image.units = layer.units;
    image.lut = layer.lut;
    image.first_write = layer.first_write;
    image.num_writes = layer.num_writes;
    image.first_transfer = layer.first_transfer;
    image.num_transfers = layer.num_transfers;
    return image;
  }

  std::string_view file_;
  std::vector<Command>& commands_;
  nvdla_hw hw_;
  const Dump& dump_;
  nvdla_port port_ = {};
  nvdla_engine engine_;
  std::vector<nvdla_reg_write> writes_;
  std::vector<nvdla_slot> slots_;
  std::vector<u64> bases_;
  std::vector<nvdla_transfer> transfers_;
  std::vector<nvdla_lut> luts_;
  std::vector<nvdla_reloc> relocs_;  // none: the writes hold the addresses already
};

class Scripter {
 public:
  Scripter(const Dump& dump, std::string_view file) : dump_(dump), file_(file) {}

  Script script() {
    script_.kind = Kind::kDump;
    script_.file = file_;
    script_.map = static_cast<RegisterMap>(dump_.hw->regmap);
    if (dump_.layers.empty())
      script_.nothing = fmt::format(
          "the dump holds {}; expected one of the parameter dump=full",
          is_gone(dump_) ? "no registers, as the device was gone, and no job" : "registers only");
    else
      script_.end_note = is_gone(dump_)
                             ? fmt::format("all layers end here; the device was gone in layer {}",
                                           dump_.header.layer)
                             : fmt::format("all layers end here; on the device layer {} did not",
                                           dump_.header.layer);
    if (is_gone(dump_) && dump_.registers.empty())
      script_.warnings.push_back(
          "the device answered all ones: the dump has no registers, so none are compared");
    compare_registers();
    load_memory();
    Recorder recorder(dump_, file_, script_.commands);
    const std::uint32_t count = static_cast<std::uint32_t>(dump_.layers.size());
    if (can_compare()) {
      for (std::uint32_t i = 0; i < count; ++i)
        if (ended(i)) recorder.layer(i);
      compare_memory();
    } else {
      find_kept();
    }
    for (std::uint32_t i = 0; i < count; ++i)
      if (!ended(i) || again_[i]) recorder.layer(i);
    return std::move(script_);
  }

 private:
  bool ended(std::uint32_t layer) const {
    return dump_.layers[layer].state == DRM_NVDLA_DUMP_ENDED;
  }
  bool started(std::uint32_t layer) const {
    return dump_.layers[layer].state >= DRM_NVDLA_DUMP_ENABLED;
  }

  template <typename Visit>
  void for_accesses(std::uint32_t layer, Visit visit) const {
    const drm_nvdla_dump_layer& of = dump_.layers[layer];
    for (std::uint32_t i = 0; i < of.num_accesses; ++i) visit(dump_.accesses[of.first_access + i]);
  }

  // What the device held for layers in its groups must be what was written for them.
  void compare_registers() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> held;
    for (const drm_nvdla_dump_register& reg : dump_.registers)
      held[{reg.offset, reg.group}] = reg.value;
    for (std::size_t i = 0; i < dump_.layers.size(); ++i) {
      const drm_nvdla_dump_layer& layer = dump_.layers[i];
      if (layer.state != DRM_NVDLA_DUMP_PROGRAMMED && layer.state != DRM_NVDLA_DUMP_ENABLED)
        continue;
      std::map<std::uint32_t, std::uint32_t> last;
      for (std::uint32_t j = 0; j < layer.num_writes; ++j) {
        const drm_nvdla_dump_write& write = dump_.writes[layer.first_write + j];
        last[write.offset] = write.value;
      }
      for (const auto& [offset, value] : last) {
        const model::RegisterInfo* info = model::register_at(script_.map, offset);
        if (!info || info->scope != model::Scope::kGroup) continue;
        const auto found = held.find({offset, layer.groups >> info->unit & 1});
        if (found == held.end()) continue;
        const std::uint32_t mask = info->read[script_.map] & info->write[script_.map];
        ++script_.registers_compared;
        if ((found->second ^ value) & mask)
          script_.failures.push_back(fmt::format(
              "layer {}: {:#010x} was written to {}, the device held {:#010x} in group {}", i,
              value, model::register_name(script_.map, offset), found->second,
              found->first.second));
      }
    }
  }

  void load_memory() {
    for (const DumpBuffer& buffer : dump_.buffers) {
      if (buffer.bytes.size() < buffer.info.size) {
        complete_ = false;
        script_.warnings.push_back(
            fmt::format("of the buffer at {:#x} the dump has {} of {} bytes; the others are zero "
                        "here",
                        buffer.info.address, buffer.bytes.size(), buffer.info.size));
      }
      if (buffer.bytes.empty()) continue;
      LoadMemory load;
      load.ram = ram_of(buffer.info.memory);
      load.address = buffer.info.address;
      load.size = buffer.bytes.size();
      load.file = blob({{0, buffer.bytes}}, buffer);
      script_.commands.push_back({0, std::move(load)});
    }
  }

  static BlobFile blob(Blob data, const DumpBuffer& buffer) {
    BlobFile file;
    file.name = fmt::format("the buffer at {:#x}", buffer.info.address);
    file.data = std::make_shared<const Blob>(std::move(data));
    return file;
  }

  // What a layer that ended has read is still there unless it, or one that came after it, may have
  // written there.
  bool can_compare() {
    if (!complete_) return false;
    Areas written;
    for (std::uint32_t i = static_cast<std::uint32_t>(dump_.layers.size()); i-- > 0;) {
      if (!started(i)) continue;
      bool intact = true;
      for_accesses(i, [&](const auto& access) {
        if (access.write) written.add(access);
      });
      for_accesses(i, [&](const auto& access) {
        if (!access.write && written.touch(access)) intact = false;
      });
      if (ended(i) && !intact) {
        script_.warnings.push_back(
            fmt::format("what layer {} has read was written since: layers that had ended are not "
                        "run again, nor is memory compared",
                        i));
        return false;
      }
    }
    return true;
  }

  // All that is dumped but what layers that were running may have written in part.
  void compare_memory() {
    Areas unknown;
    for (std::uint32_t i = 0; i < dump_.layers.size(); ++i)
      if (started(i) && !ended(i))
        for_accesses(i, [&](const auto& access) {
          if (access.write) unknown.add(access);
        });
    for (const DumpBuffer& buffer : dump_.buffers) {
      Blob known;
      const std::uint64_t begin = buffer.info.address, size = buffer.bytes.size();
      std::uint64_t at = 0;
      const auto add = [&](std::uint64_t end) {
        if (end > at)
          known.push_back({at,
                           {buffer.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            buffer.bytes.begin() + static_cast<std::ptrdiff_t>(end)}});
      };
      for (const auto& [first, last] : unknown.of(buffer.info.memory)) {
        if (last < begin || first > begin + (size - 1)) continue;
        add(first > begin ? first - begin : 0);
        at = std::min(last - begin, size - 1) + 1;
      }
      add(size);
      if (known.empty()) continue;
      CompareMemory compare;
      compare.ram = ram_of(buffer.info.memory);
      compare.address = begin;
      compare.size = size;
      compare.file = blob(std::move(known), buffer);
      script_.commands.push_back({0, std::move(compare)});
    }
  }

  // Does the layer take from the convolution buffer what an earlier one left there?
  bool reuses(std::uint32_t layer) const {
    const drm_nvdla_dump_layer& of = dump_.layers[layer];
    const std::uint32_t offset = kBases[script_.map][NVDLA_UNIT_CDMA] + NVDLA_CDMA_D_MISC_CFG;
    for (std::uint32_t i = 0; i < of.num_writes; ++i) {
      const drm_nvdla_dump_write& write = dump_.writes[of.first_write + i];
      if (write.offset == offset && (write.value & (NVDLA_CDMA_D_MISC_CFG_DATA_REUSE_MASK |
                                                    NVDLA_CDMA_D_MISC_CFG_WEIGHT_REUSE_MASK)))
        return true;
    }
    return false;
  }

  // Marks the convolutions that one which had not ended goes on from.
  void find_kept() {
    const auto count = static_cast<std::uint32_t>(dump_.layers.size());
    const auto convolves = [&](std::uint32_t i) {
      return (dump_.layers[i].units >> NVDLA_UNIT_CDMA & 1) != 0;
    };
    std::uint32_t next = 0;
    while (next < count && (ended(next) || !convolves(next))) ++next;
    if (next == count || !reuses(next)) return;
    for (std::uint32_t i = next; i-- > 0;) {
      if (!convolves(i)) continue;
      again_[i] = true;
      if (reuses(i)) continue;
      script_.warnings.push_back(
          fmt::format("layer {} goes on from what layer {} left in the convolution buffer: "
                      "convolutions from there on are run again on the memory of the dump",
                      next, i));
      return;
    }
  }

  const Dump& dump_;
  std::string_view file_;
  Script script_;
  bool complete_ = true;
  std::vector<bool> again_ = std::vector<bool>(dump_.layers.size());  // though they had ended
};

}  // namespace

Dump parse_dump(std::string_view bytes, std::string_view file) {
  return Parser(bytes, file).parse();
}

Script dump_script(const Dump& dump, std::string_view file) {
  return Scripter(dump, file).script();
}

}  // namespace nvdla::replay
