// SPDX-License-Identifier: MIT
#include "backend/record/recorder.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

#include "backend/record/dump_writer.hpp"
#include "backend/record/record_format.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

using Bindings = std::span<const RecordedBinding>;
// The ranges (begin, end) that layers may write, by the index of the memory, as offsets in it.
using Ranges = std::map<std::size_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>>;

std::uint64_t base_of(const RecordedBinding& binding) {
  return binding.memory->address() + binding.offset;
}

// `View` maps the contents of a binding for reading.
class View {
 public:
  explicit View(const RecordedBinding& binding) : buffer_(binding.buffer), bytes_(binding.bytes) {
    if (buffer_ != nullptr) {
      bytes_ = {buffer_->begin_access(MapMode::kRead), static_cast<std::size_t>(buffer_->size())};
    }
  }
  ~View() {
    if (buffer_ != nullptr) buffer_->end_access(MapMode::kRead);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  BufferImpl* buffer_;
  std::span<const std::byte> bytes_;
};

// The first binding of each piece of memory.
std::vector<const RecordedBinding*> distinct(Bindings bindings) {
  std::vector<const RecordedBinding*> found;
  for (const RecordedBinding& binding : bindings) {
    const auto same = [&](const RecordedBinding* one) { return one->memory == binding.memory; };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(&binding);
  }
  return found;
}

template <typename T>
std::span<const T> elements(const T* first, std::uint32_t count) {
  return {first, count};
}

std::vector<nvdla_dump_layer> layers_of(const nvdla_program& program, std::uint32_t state) {
  std::vector<nvdla_dump_layer> layers;
  for (const nvdla_layer_image& image : elements(program.layers, program.num_layers)) {
    layers.push_back({image.kind, state, image.units, 0, image.lut, image.first_write,
                      image.num_writes, image.first_access, image.num_accesses,
                      image.first_transfer, image.num_transfers, 0});
  }
  return layers;
}

std::vector<nvdla_dump_write> writes_of(const nvdla_program& program, Bindings bindings) {
  std::vector<nvdla_dump_write> writes;
  for (const nvdla_reg_write& write : elements(program.writes, program.num_writes)) {
    writes.push_back({write.offset, write.value});
  }
  for (const nvdla_layer_image& image : elements(program.layers, program.num_layers)) {
    for (const nvdla_reloc& reloc :
         elements(program.relocs + image.first_reloc, image.num_relocs)) {
      const std::uint64_t address = base_of(bindings[reloc.slot]) + reloc.offset;
      writes[image.first_write + reloc.low].value = static_cast<std::uint32_t>(address);
      if (reloc.high != NVDLA_RELOC_NONE) {
        writes[image.first_write + reloc.high].value = static_cast<std::uint32_t>(address >> 32);
      }
    }
  }
  return writes;
}

std::vector<nvdla_dump_access> accesses_of(const nvdla_program& program, Bindings bindings) {
  std::vector<nvdla_dump_access> accesses;
  for (const nvdla_access& access : elements(program.accesses, program.num_accesses)) {
    accesses.push_back({base_of(bindings[access.slot]) + access.begin, access.end - access.begin,
                        program.slots[access.slot].memory, access.dma, access.write, 0});
  }
  return accesses;
}

std::vector<nvdla_dump_slot> slots_of(const nvdla_program& program, Bindings bindings) {
  std::vector<nvdla_dump_slot> slots;
  for (std::uint32_t i = 0; i < program.num_slots; ++i) {
    const nvdla_slot& slot = program.slots[i];
    slots.push_back({base_of(bindings[i]), slot.size, slot.memory, slot.access});
  }
  return slots;
}

void write_program(DumpWriter& writer, const nvdla_program& program, Bindings bindings,
                   std::uint32_t state) {
  const auto array = [&](std::uint32_t type, const auto& list) {
    writer.array(type, std::span(list.data(), list.size()));
  };
  array(NVDLA_DUMP_LAYERS, layers_of(program, state));
  array(NVDLA_DUMP_WRITES, writes_of(program, bindings));
  array(NVDLA_DUMP_ACCESSES, accesses_of(program, bindings));
  array(NVDLA_DUMP_SLOTS, slots_of(program, bindings));
  array(NVDLA_DUMP_TRANSFERS, elements(program.transfers, program.num_transfers));
  array(NVDLA_DUMP_LUTS, elements(program.luts, program.num_luts));
}

nvdla_dump_buffer piece(const RecordedMemory& memory, std::uint64_t offset, std::uint64_t size) {
  return {memory.address() + offset, size, static_cast<std::uint32_t>(memory.memory()), 0};
}

// Returns the ranges that layers may have written, sorted and merged, by the index of the memory in
// `memories`.
Ranges written_ranges(const nvdla_program& program, Bindings bindings,
                      const std::vector<const RecordedBinding*>& memories) {
  Ranges ranges;
  for (const nvdla_access& access : elements(program.accesses, program.num_accesses)) {
    if (access.write == 0) continue;
    const RecordedBinding& binding = bindings[access.slot];
    const auto at = std::find_if(memories.begin(), memories.end(),
                                 [&](const auto* one) { return one->memory == binding.memory; });
    ranges[static_cast<std::size_t>(at - memories.begin())].emplace_back(
        binding.offset + access.begin, binding.offset + access.end);
  }
  for (auto& [memory, list] : ranges) {
    std::sort(list.begin(), list.end());
    std::size_t last = 0;
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (list[i].first <= list[last].second) {
        list[last].second = std::max(list[last].second, list[i].second);
      } else {
        list[++last] = list[i];
      }
    }
    list.resize(last + 1);
  }
  return ranges;
}

template <std::size_t N>
void set_text(char (&field)[N], std::string_view text) {
  std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

// Returns "run.2.record" for "run.record": the number stands before the suffix, if there is one.
std::string with_number(const std::string& path, unsigned number) {
  const std::size_t name = path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1;
  std::size_t dot = path.rfind('.');
  if (dot == path.npos || dot <= name) dot = path.size();
  return fmt::format("{}.{}{}", path.substr(0, dot), number, path.substr(dot));
}

}  // namespace

// Forgets what the record has of memory.
class Recorder::Forgetting {
 public:
  explicit Forgetting(std::span<const RecordedBinding* const> memories) : memories_(memories) {}
  ~Forgetting() {
    for (const RecordedBinding* binding : memories_) binding->memory->known_.clear();
  }
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;

  void stop() noexcept { memories_ = {}; }

 private:
  std::span<const RecordedBinding* const> memories_;
};

RecordedMemory::RecordedMemory(std::shared_ptr<AddressSpace> space, std::uint64_t size,
                               Memory memory)
    : space_(std::move(space)), size_(size), memory_(memory) {
  const auto address = space_->take(size);
  if (!address)
    throw_error(ErrorCode::kNoMemory, "no room for {} bytes in the record's addresses", size);
  address_ = *address;
}

RecordedMemory::~RecordedMemory() { space_->give_back(address_); }

Recorder::Recorder(std::string path, bool numbered, const DeviceInfo& info)
    : path_(std::move(path)), numbered_(numbered), info_(info) {}

Recorder::~Recorder() {
  if (file_ != nullptr) std::fclose(file_);
}

void Recorder::open() {
  if (file_ != nullptr) return;
  if (std::exchange(numbered_, false)) {
    static std::mutex mutex;
    static std::map<std::string, unsigned> counts;
    const std::lock_guard lock(mutex);
    if (const unsigned number = ++counts[path_]; number > 1) path_ = with_number(path_, number);
  }
  file_ = std::fopen(path_.c_str(), "wbe");
  if (file_ == nullptr) {
    throw_error(ErrorCode::kNotWritten, "the record {} cannot be created: {}", path_,
                std::generic_category().message(errno));
  }
}

void Recorder::append(std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxRecordBytes - written_) {
    throw_error(
        ErrorCode::kNotWritten,
        "the record {} has {} bytes and would get {} more; expected at most {} in all: record "
        "fewer jobs",
        path_, written_, bytes.size(), kMaxRecordBytes);
  }
  // A job is in the file when it has ended, whatever becomes of the process.
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size() ||
      std::fflush(file_) != 0) {
    throw_error(ErrorCode::kNotWritten, "the record {} cannot be written: {}", path_,
                std::generic_category().message(errno));
  }
  written_ += bytes.size();
}

std::shared_ptr<FenceImpl> Recorder::record(
    const CompiledProgram& compiled, const LayerNames& names, Bindings bindings,
    const std::function<std::shared_ptr<FenceImpl>()>& run) {
  const nvdla_program& program = compiled.program();
  const std::lock_guard lock(mutex_);
  open();
  const auto memories = distinct(bindings);
  DumpWriter before;
  for (const RecordedBinding* binding : memories) {
    const View view(*binding);
    RecordedMemory& memory = *binding->memory;
    const auto bytes = view.bytes();
    if (std::equal(bytes.begin(), bytes.end(), memory.known_.begin(), memory.known_.end())) {
      before.memory(kSectionKept, piece(memory, 0, bytes.size()), {});
    } else {
      before.memory(NVDLA_DUMP_BUFFER, piece(memory, 0, bytes.size()), bytes);
      memory.known_.assign(bytes.begin(), bytes.end());
    }
  }

  // Until it is in the file, the record has nothing of this memory.
  Forgetting forgetting(memories);
  const std::shared_ptr<FenceImpl> fence = run();
  fence->wait(std::nullopt);
  const Error* const error = fence->error();

  if (names != nullptr) before.names(*names);
  write_program(before, program, bindings,
                error == nullptr ? NVDLA_DUMP_ENDED : NVDLA_DUMP_WAITING);
  if (error == nullptr) {
    for (const auto& [index, ranges] : written_ranges(program, bindings, memories)) {
      const View view(*memories[index]);
      RecordedMemory& memory = *memories[index]->memory;
      for (const auto& [begin, end] : ranges) {
        const auto bytes = view.bytes().subspan(begin, end - begin);
        before.memory(kSectionWritten, piece(memory, begin, bytes.size()), bytes);
        std::copy(bytes.begin(), bytes.end(),
                  memory.known_.begin() + static_cast<std::ptrdiff_t>(begin));
      }
    }
  }

  nvdla_dump_header header{};
  header.time_ns =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
  header.program = compiled.serial();
  header.result = kJobEndedWell;
  if (error != nullptr) {
    header.result = error->code() == ErrorCode::kHang ? kJobHung : kJobFailed;
    const std::int64_t layer = error->layer();
    if (layer >= 0 && layer < program.num_layers) header.layer = static_cast<std::uint32_t>(layer);
  }
  if (compiled.statistics()) header.flags |= NVDLA_DUMP_STATS;
  if (info_.has_weight_gating) header.flags |= NVDLA_DUMP_WEIGHT_GATING;
  set_text(header.configuration, info_.configuration);
  set_text(header.driver, info_.backend);
  append(before.finish(header));
  // Nobody knows how far a job that failed got.
  if (error == nullptr) forgetting.stop();
  return fence;
}

}  // namespace nvdla::detail
