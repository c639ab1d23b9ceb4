// SPDX-License-Identifier: MIT
#include "loadable/write/save_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loadable/format/container.hpp"
#include "loadable/format/cpu_task.hpp"
#include "loadable/format/model_sizes.hpp"
#include "loadable/format/note.hpp"
#include "loadable/format/quantization.hpp"
#include "loadable/format/user_table.hpp"
#include "loadable/write/save_parts.hpp"
#include "support/check.hpp"

namespace nvdla::loadable {

SavedFile::SavedFile(const CompiledNetwork::Impl& net, Revision revision)
    : net_(net), revision_(revision) {
  c_.version = {0, 7, 0};
}

void SavedFile::begin_task(std::uint32_t interface, std::vector<std::byte> descriptor) {
  const bool first = c_.tasks.empty();
  TaskEntry task;
  task.interface = interface;
  task.instance = -1;
  c_.submits.push_back({static_cast<std::uint16_t>(c_.tasks.size())});
  c_.tasks.push_back(std::move(task));
  add_list("addr0", std::move(descriptor));
  if (first) add_slots();
}

void SavedFile::add_address(std::uint16_t address) { c_.tasks.back().addresses.push_back(address); }

std::uint16_t SavedFile::new_address(const AddressEntry& entry) {
  if (c_.addresses.size() > UINT16_MAX) {
    detail::throw_error(ErrorCode::kNotAvailable,
                        "a loadable has {} addresses at most: its tasks need "
                        "more",
                        UINT16_MAX + 1);
  }
  c_.addresses.push_back(entry);
  return static_cast<std::uint16_t>(c_.addresses.size() - 1);
}

void SavedFile::add_slot(std::uint32_t slot) { add_address(whole_[slot_memory(slot)]); }

void SavedFile::add_control(std::vector<std::byte> bytes) {
  MemoryEntry memory;
  memory.size = bytes.size();
  const std::string name = fmt::format("task-{}-control", c_.tasks.size() - 1);
  add_address(whole_[add_memory(std::move(memory), name, std::move(bytes))]);
}

void SavedFile::add_list(const char* name, std::vector<std::byte> bytes) {
  MemoryEntry memory;
  memory.size = bytes.size();
  const std::string full = fmt::format("task-{}-{}", c_.tasks.size() - 1, name);
  add_address(whole_[add_memory(std::move(memory), full, std::move(bytes))]);
}

void SavedFile::add_place(std::size_t position, std::uint64_t offset) {
  const AddressEntry whole = c_.addresses[c_.tasks.back().addresses[position]];
  add_address(new_address({whole.memory, offset, whole.size - offset}));
}

std::uint16_t SavedFile::add_memory(MemoryEntry memory, const std::string& name,
                                    std::vector<std::byte> bytes) {
  if (!bytes.empty()) {
    kept_.push_back(std::move(bytes));
    Blob blob;
    blob.name = name;
    blob.interface = c_.tasks.back().interface;
    if (blob.interface == kInterfaceCpu) {
      blob.version = {1, 0, 0};
    } else if (blob.interface == kInterfaceEmu) {
      blob.version = {0, 0, 1};
    } else if (revision_ == Revision::kOld) {
      blob.version = {0, 11, 0};
    } else {
      blob.version = {0, 12, 3};
    }
    blob.data = kept_.back();
    memory.flags |= kMemorySet;
    memory.contents.push_back({static_cast<std::uint32_t>(c_.blobs.size()), 0});
    c_.blobs.push_back(blob);
  }
  memory.flags |= kMemoryAlloc;
  memory.alignment = 4096;
  const auto index = static_cast<std::uint16_t>(c_.memories.size());
  whole_.push_back(new_address({index, 0, memory.size}));
  c_.memories.push_back(std::move(memory));
  return index;
}

void SavedFile::add_port(const CompiledNetwork::Impl::Port& port, std::size_t bind,
                         std::uint16_t flag, MemoryEntry& memory) {
  if ((memory.flags & (kMemoryInput | kMemoryOutput)) != 0) {
    detail::throw_invalid_argument("'{}' is bound twice; a loadable binds a tensor once",
                                   port.name);
  }
  memory.flags |= flag;
  memory.bind_id = static_cast<std::uint16_t>(bind);
  memory.tensor = static_cast<std::uint16_t>(c_.tensors.size());
  TensorEntry tensor = make_tensor(net_, port);
  tensor.id = memory.tensor;
  c_.tensors.push_back(std::move(tensor));
}

void SavedFile::add_slots() {
  for (std::uint32_t slot = 0; slot < net_.slots.size(); ++slot) add_slot_memory(slot);
}

void SavedFile::add_slot_memory(std::uint32_t slot) {
  MemoryEntry memory;
  memory.size = net_.slots[slot].size;
  if (memory.size > UINT32_MAX) {
    detail::throw_error(ErrorCode::kNotAvailable,
                        "{}: a buffer of {} bytes: offsets in a loadable have 32 bits",
                        net_.slot_names[slot], memory.size);
  }
  if (net_.slots[slot].memory == NVDLA_MEMORY_SRAM) memory.domain = kDomainSram;
  for (std::size_t i = 0; i < net_.inputs.size(); ++i) {
    if (net_.inputs[i].slot == slot) add_port(net_.inputs[i], i, kMemoryInput, memory);
  }
  for (std::size_t i = 0; i < net_.outputs.size(); ++i) {
    if (net_.outputs[i].slot == slot) add_port(net_.outputs[i], i, kMemoryOutput, memory);
  }
  std::vector<std::byte> bytes;
  if (const Buffer& constants = net_.constants[slot]) {
    const Map map = constants.map(MapMode::kRead);
    bytes.assign(map.bytes().begin(),
                 map.bytes().begin() + static_cast<std::ptrdiff_t>(memory.size));
  }
  add_memory(std::move(memory), fmt::format("tb-{}", slot), std::move(bytes));
}

void SavedFile::add_quantizations() {
  keep_blob(kQuantizationBlob, kQuantizationVersion, pack_quantizations(c_.tensors));
}

void SavedFile::keep_blob(std::string_view name, std::uint8_t version,
                          std::vector<std::byte> bytes) {
  kept_.push_back(std::move(bytes));
  Blob blob;
  blob.name = name;
  blob.version = {version, 0, 0};
  blob.data = kept_.back();
  c_.blobs.push_back(blob);
}

void SavedFile::add_note(std::string_view note) {
  if (note.empty()) return;
  if (note.size() > kMaxNoteBytes)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a note of {} bytes; expected at most {}", note.size(), kMaxNoteBytes));
  add_text(kNoteBlob, kNoteVersion, note);
}

void SavedFile::add_device(std::string_view name) { add_text(kDeviceBlob, kDeviceVersion, name); }

void SavedFile::add_cut_short(std::string_view passes) {
  if (!passes.empty()) add_text(kCutShortBlob, kCutShortVersion, passes);
}

void SavedFile::add_text(std::string_view name, std::uint8_t version, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  keep_blob(name, version, {bytes.begin(), bytes.end()});
}

void SavedFile::add_model_sizes(const std::vector<ModelSizes>& all) {
  if (all.empty()) return;
  for (const ModelSizes& one : all) {
    const auto found =
        std::find_if(c_.tensors.begin(), c_.tensors.end(),
                     [&](const TensorEntry& tensor) { return tensor.name == one.name; });
    if (found == c_.tensors.end())
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("model sizes of '{}': no input or output is called so", one.name));
    found->has_model_sizes = true;
    found->channels_last = one.layout == Layout::kNhwc;
    for (const std::int64_t size : one.sizes)
      found->model_sizes.push_back(
          size > 0 && size <= std::int64_t{UINT32_MAX} ? static_cast<std::uint32_t>(size) : 0);
  }
  keep_blob(kSizesBlob, kSizesVersion, pack_model_sizes(c_.tensors));
}

void SavedFile::add_user_table() {
  std::vector<std::string> names;
  for (const CompiledNetwork::Impl::Layer& layer : net_.layers) names.push_back(layer.name);
  // A picture of so many layers helps nobody.
  if (names.size() > kMaxUserLayers) return;
  keep_blob(kUserBlob, kUserVersion, pack_user_table(net_.user, names));
}

void SavedFile::add_need(const std::string& operation) { needs_.insert(cpu_symbol(operation)); }

// One memory for all, which nothing lies in.
void SavedFile::add_needs() {
  if (needs_.empty()) return;
  MemoryEntry memory;
  memory.size = memory.alignment = 4096;
  memory.flags = kMemoryAlloc | kMemorySet;
  memory.needs.assign(needs_.begin(), needs_.end());
  c_.memories.push_back(std::move(memory));
}

std::vector<std::byte> SavedFile::write() {
  add_needs();
  add_user_table();
  add_quantizations();
  return write_container(c_);
}

}  // namespace nvdla::loadable
