// SPDX-License-Identifier: MIT
#include "loadable/format/container.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>

#include "loadable/format/cpu_task.hpp"
#include "loadable/format/model_sizes.hpp"
#include "loadable/format/quantization.hpp"
#include "loadable_generated.h"
#include "support/check.hpp"

namespace nvdla::loadable {
namespace {

using detail::HostPages;

std::string text(const flatbuffers::String* string) {
  return string == nullptr ? std::string() : string->str();
}

template <typename T>
std::size_t length(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

std::vector<std::uint16_t> numbers(const flatbuffers::Vector<std::uint16_t>* vector) {
  return vector == nullptr ? std::vector<std::uint16_t>{}
                           : std::vector<std::uint16_t>(vector->begin(), vector->end());
}

// The verifier aligns the count of a vector, not elements that are wider than it.
std::uint64_t offset_at(const flatbuffers::Vector<std::uint64_t>& offsets,
                        flatbuffers::uoffset_t i) {
  std::uint64_t value;
  std::memcpy(&value, offsets.Data() + std::size_t{i} * sizeof(value), sizeof(value));
  return flatbuffers::EndianScalar(value);
}

// Entries are known by their id, and id equals the place in every list that files have.
template <typename T>
void check_id(const char* list, std::size_t index, const T* entry) {
  if (entry->id() != index) {
    throw_in_file("{} {}: its id is {}; the id must be the place in the list", list, index,
                  entry->id());
  }
}

template <typename T>
void check_index(const std::string& what, const char* target, T value, std::size_t count) {
  if (value >= count) {
    throw_in_file("{}: there is no {} {}; the file has {}", what, target, value, count);
  }
}

void read_blobs(Container& c, const fb::Loadable& root) {
  for (std::size_t i = 0; i < length(root.blobs()); ++i) {
    const fb::Blob* from = root.blobs()->Get(static_cast<flatbuffers::uoffset_t>(i));
    Blob blob;
    blob.name = text(from->name());
    blob.interface = from->interface();
    blob.sub_interface = from->sub_interface();
    if (const fb::Version* v = from->version()) {
      blob.version = {v->major_version(), v->minor_version(), v->sub_minor_version()};
    }
    if (from->data() != nullptr) {
      blob.data =
          std::as_bytes(std::span<const std::uint8_t>(from->data()->data(), from->data()->size()));
    }
    if (from->size() != blob.data.size()) {
      throw_in_file("blob {} '{}': size says {} bytes, {} are there", i, blob.name, from->size(),
                    blob.data.size());
    }
    c.blobs.push_back(std::move(blob));
  }
}

void check_need(const std::string& what, const std::string& name) {
  if (knows_cpu_symbol(name)) return;
  throw Error(ErrorCode::kNotAvailable,
              fmt::format("loadable: {}: the file needs '{}', an operation of the CPU that is not "
                          "known here; known are {}",
                          what, name, known_cpu_operations()));
}

void read_memories(Container& c, const fb::Loadable& root) {
  std::map<std::string, std::uint32_t, std::less<>> by_name;
  for (std::uint32_t i = 0; i < c.blobs.size(); ++i) by_name.emplace(c.blobs[i].name, i);

  for (std::size_t i = 0; i < length(root.memory_list()); ++i) {
    const auto* from = root.memory_list()->Get(static_cast<flatbuffers::uoffset_t>(i));
    const std::string what = fmt::format("memory {}", i);
    check_id("memory", i, from);
    MemoryEntry memory;
    memory.domain = from->domain();
    memory.flags = from->flags();
    memory.size = from->size();
    memory.alignment = from->alignment();
    memory.bind_id = from->bind_id();
    memory.tensor = from->tensor_desc_id();
    if (memory.domain > kDomainSram) {
      throw_in_file("{}: domain {} is neither 0 (system) nor 1 (SRAM)", what, memory.domain);
    }
    constexpr unsigned kKnown =
        kMemoryAlloc | kMemorySet | kMemoryInput | kMemoryOutput | kMemoryDebug;
    if ((memory.flags & ~kKnown) != 0) {
      throw_in_file("{}: flags {:#x} are not all known; known are {:#x}", what, memory.flags,
                    kKnown);
    }
    if (memory.alignment != 0 && (memory.alignment & (memory.alignment - 1)) != 0) {
      throw_in_file("{}: alignment {} is not a power of two", what, memory.alignment);
    }
    if (memory.input() && memory.output()) {
      throw_in_file("{}: it is both an input and an output", what);
    }
    // Without SET a list may hold an empty name, which means nothing.
    if ((memory.flags & kMemorySet) != 0) {
      if (length(from->contents()) != length(from->offsets())) {
        throw_in_file("{}: {} contents but {} offsets", what, length(from->contents()),
                      length(from->offsets()));
      }
      for (std::size_t k = 0; k < length(from->contents()); ++k) {
        const auto place = static_cast<flatbuffers::uoffset_t>(k);
        const std::string name = from->contents()->Get(place)->str();
        const auto found = by_name.find(name);
        if (found == by_name.end() && is_cpu_symbol(name)) {
          check_need(what, name);
          memory.needs.push_back(name);
          continue;
        }
        if (found == by_name.end()) throw_in_file("{}: there is no blob called '{}'", what, name);
        const Content content = {found->second, offset_at(*from->offsets(), place)};
        const std::uint64_t bytes = c.blobs[content.blob].data.size();
        if (content.offset > memory.size || bytes > memory.size - content.offset) {
          throw_in_file("{}: blob '{}' of {} bytes at {} does not fit {} bytes", what, name, bytes,
                        content.offset, memory.size);
        }
        memory.contents.push_back(content);
      }
    }
    c.memories.push_back(std::move(memory));
  }
}

void read_addresses(Container& c, const fb::Loadable& root) {
  for (std::size_t i = 0; i < length(root.address_list()); ++i) {
    const auto* from = root.address_list()->Get(static_cast<flatbuffers::uoffset_t>(i));
    const std::string what = fmt::format("address {}", i);
    check_id("address", i, from);
    check_index(what, "memory", from->mem_id(), c.memories.size());
    const AddressEntry address = {from->mem_id(), from->offset(), from->size()};
    const std::uint64_t bytes = c.memories[address.memory].size;
    if (address.offset > bytes || address.size > bytes - address.offset) {
      throw_in_file("{}: {} bytes at {} do not fit memory {} of {} bytes", what, address.size,
                    address.offset, address.memory, bytes);
    }
    c.addresses.push_back(address);
  }
}

void read_tasks(Container& c, const fb::Loadable& root) {
  for (std::size_t i = 0; i < length(root.task_list()); ++i) {
    const auto* from = root.task_list()->Get(static_cast<flatbuffers::uoffset_t>(i));
    const std::string what = fmt::format("task {}", i);
    check_id("task", i, from);
    TaskEntry task;
    task.interface = from->interface();
    task.instance = from->instance();
    task.addresses = numbers(from->address_list());
    task.pre_actions = numbers(from->pre_actions());
    task.post_actions = numbers(from->post_actions());
    if (task.interface != kInterfaceDla && task.interface != kInterfaceEmu &&
        task.interface != kInterfaceCpu) {
      throw_in_file("{}: interface {} is none of 1 (DLA1), 2 (EMU1), {} (CPU1)", what,
                    task.interface, kInterfaceCpu);
    }
    if (task.addresses.empty()) {
      throw_in_file("{}: it has no addresses; the first must be the network descriptor", what);
    }
    if (task.addresses.size() > kMaxAddresses) {
      throw_in_file("{}: {} addresses exceed {}", what, task.addresses.size(), kMaxAddresses);
    }
    for (const std::uint16_t id : task.addresses) {
      check_index(what, "address", id, c.addresses.size());
    }
    for (const auto* actions : {&task.pre_actions, &task.post_actions}) {
      for (const std::uint16_t id : *actions) {
        const bool found = std::any_of(c.events.begin(), c.events.end(),
                                       [&](const EventEntry& event) { return event.id == id; });
        if (!found) throw_in_file("{}: there is no event {}", what, id);
      }
    }
    c.tasks.push_back(std::move(task));
  }
}

void read_events(Container& c, const fb::Loadable& root) {
  for (std::size_t i = 0; i < length(root.event_list()); ++i) {
    const auto* from = root.event_list()->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (from->op() > 1) {
      throw_in_file("event {}: operation {} is neither 0 (wait) nor 1 (signal)", i, from->op());
    }
    c.events.push_back({from->id(), from->type(), from->target(), from->val(), from->op()});
  }
}

void read_tensors(Container& c, const fb::Loadable& root) {
  for (std::size_t i = 0; i < length(root.tensor_desc_list()); ++i) {
    const auto* from = root.tensor_desc_list()->Get(static_cast<flatbuffers::uoffset_t>(i));
    const std::string what = fmt::format("tensor {}", i);
    check_index(what, "memory", from->mem_id(), c.memories.size());
    TensorEntry tensor;
    tensor.name = text(from->name());
    tensor.id = from->id();
    tensor.memory = from->mem_id();
    tensor.size = from->size();
    tensor.offset = from->offset();
    tensor.data_format = from->data_format();
    tensor.data_type = from->data_type();
    tensor.data_category = from->data_category();
    tensor.pixel_format = from->pixel_format();
    tensor.pixel_mapping = from->pixel_mapping();
    tensor.n = from->n();
    tensor.c = from->c();
    tensor.h = from->h();
    tensor.w = from->w();
    const std::uint32_t strides[] = {from->stride_0(), from->stride_1(), from->stride_2(),
                                     from->stride_3(), from->stride_4(), from->stride_5(),
                                     from->stride_6(), from->stride_7()};
    std::copy(std::begin(strides), std::end(strides), std::begin(tensor.stride));
    const std::uint64_t bytes = c.memories[tensor.memory].size;
    if (tensor.offset > bytes || tensor.size > bytes - tensor.offset) {
      throw_in_file("{}: {} bytes at {} do not fit memory {} of {} bytes", what, tensor.size,
                    tensor.offset, tensor.memory, bytes);
    }
    for (const std::int32_t side : {tensor.n, tensor.c, tensor.h, tensor.w}) {
      if (side < 1 || side > 65535) {
        throw_in_file("{}: {}x{}x{}x{} has a side that is not in 1..65535", what, tensor.n,
                      tensor.c, tensor.h, tensor.w);
      }
    }
    c.tensors.push_back(std::move(tensor));
  }
}

void read_relocs(Container& c, const fb::Loadable& root) {
  for (std::size_t i = 0; i < length(root.reloc_list()); ++i) {
    const auto* from = root.reloc_list()->Get(static_cast<flatbuffers::uoffset_t>(i));
    const std::string what = fmt::format("relocation {}", i);
    check_index(what, "address", from->address_id(), c.addresses.size());
    check_index(what, "memory", from->write_id(), c.memories.size());
    const std::uint64_t bytes = c.memories[from->write_id()].size;
    if (bytes < 4 || from->offset() > bytes - 4) {
      throw_in_file("{}: 4 bytes at {} do not fit memory {} of {} bytes", what, from->offset(),
                    from->write_id(), bytes);
    }
    c.relocs.push_back({from->address_id(), from->write_id(), from->offset(), from->interface(),
                        from->sub_interface(), from->reloc_type()});
  }
}

void read_submits(Container& c, const fb::Loadable& root) {
  std::map<std::uint16_t, std::vector<std::uint16_t>> by_id;
  std::vector<bool> seen(c.tasks.size());
  for (std::size_t i = 0; i < length(root.submit_list()); ++i) {
    const auto* from = root.submit_list()->Get(static_cast<flatbuffers::uoffset_t>(i));
    const std::string what = fmt::format("submit {}", i);
    std::vector<std::uint16_t> tasks = numbers(from->task_id());
    // The limit of the old driver's call.
    if (tasks.size() > 24) throw_in_file("{}: {} tasks exceed 24", what, tasks.size());
    for (const std::uint16_t task : tasks) {
      check_index(what, "task", task, c.tasks.size());
      if (seen[task]) throw_in_file("{}: task {} is submitted twice", what, task);
      seen[task] = true;
    }
    if (!by_id.emplace(from->id(), std::move(tasks)).second) {
      throw_in_file("{}: its id {} occurs twice", what, from->id());
    }
  }
  for (auto& [id, tasks] : by_id) c.submits.push_back(std::move(tasks));
}

// Inputs and outputs count from 0 without gaps, and each has a tensor.
void check_bindings(const Container& c) {
  for (const std::uint16_t direction : {kMemoryInput, kMemoryOutput}) {
    const char* name = direction == kMemoryInput ? "input" : "output";
    std::vector<std::size_t> owner(c.memories.size(), c.memories.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < c.memories.size(); ++i) {
      const MemoryEntry& memory = c.memories[i];
      if ((memory.flags & direction) == 0) continue;
      ++count;
      if (memory.bind_id >= owner.size()) {
        throw_in_file("memory {}: {} {} leaves a gap; they count from 0", i, name, memory.bind_id);
      }
      if (owner[memory.bind_id] != c.memories.size()) {
        throw_in_file("memory {}: {} {} is memory {} already", i, name, memory.bind_id,
                      owner[memory.bind_id]);
      }
      owner[memory.bind_id] = i;
      check_index(fmt::format("memory {}", i), "tensor", memory.tensor, c.tensors.size());
      if (c.tensors[memory.tensor].memory != i) {
        throw_in_file("memory {}: tensor {} is that of memory {}", i, memory.tensor,
                      c.tensors[memory.tensor].memory);
      }
    }
    for (std::size_t id = 0; id < count; ++id) {
      if (owner[id] == c.memories.size()) {
        throw_in_file("there are {} {}s but none with bind_id {}", count, name, id);
      }
    }
  }
}

// Blobs are few; the tables of a FlatBuffer may share bytes, so a small file could be walked for
// very long without a limit.
bool verifies(const HostPages& file) {
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(),
                                 64, 1'000'000);
  return fb::VerifyLoadableBuffer(verifier);
}

constexpr std::size_t kShift = sizeof(flatbuffers::uoffset_t);

// Real files exist in which all is aligned but for the whole being 4 bytes too early. Offsets are
// relative: behind a root offset of its own such a file is a FlatBuffer as it should be.
HostPages shift(const HostPages& file) {
  const auto root = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(file.data());
  HostPages shifted(file.size() + kShift);
  std::memcpy(shifted.data() + kShift, file.data(), file.size());
  // The verifier refuses one that does not fit, as a root that leads nowhere.
  if (root < kMaxFileBytes) {
    flatbuffers::WriteScalar(shifted.data(), static_cast<flatbuffers::uoffset_t>(root + kShift));
  }
  return shifted;
}

// Blobs of so many bytes and more have pages of their own.
constexpr std::size_t kLargeBlob = std::size_t{256} << 10;
// Small ones begin at multiples of this.
constexpr std::size_t kBlobAlignment = 16;
// So much is copied before as much of the file is given back.
constexpr std::size_t kCopied = std::size_t{4} << 20;

// Copies a blob to its own pages. Nobody needs the bytes of the file before `needed` later.
void move_to_pages(Blob& blob, HostPages& file, std::size_t needed) {
  const std::size_t size = blob.data.size();
  const auto first = static_cast<std::size_t>(blob.data.data() - file.data());
  auto pages = std::make_shared<HostPages>(static_cast<std::size_t>(whole_pages(size)));
  for (std::size_t at = 0; at < size; at += kCopied) {
    const std::size_t count = std::min(kCopied, size - at);
    std::memcpy(pages->data() + at, file.data() + first + at, count);
    file.release_before(std::min(first + at + count, needed));
  }
  blob.data = {pages->data(), size};
  blob.pages = std::move(pages);
}

// Moves all blobs out of the file, which goes.
void move_blobs(Container& c, HostPages file) {
  std::vector<Blob*> order;
  std::size_t total = 0, small = 0;
  for (Blob& blob : c.blobs) {
    total += blob.data.size();
    if (blob.data.size() < kLargeBlob) small += arith::round_up(blob.data.size(), kBlobAlignment);
    if (!blob.data.empty()) order.push_back(&blob);
  }
  // Blobs that share bytes would multiply them.
  if (total > file.size()) {
    c.small_blobs = std::move(file);
    return;
  }
  std::sort(order.begin(), order.end(),
            [](const Blob* a, const Blob* b) { return a->data.data() < b->data.data(); });
  c.small_blobs = HostPages(small);
  std::byte* to = c.small_blobs.data();
  for (std::size_t i = 0; i < order.size(); ++i) {
    Blob& blob = *order[i];
    if (blob.data.size() < kLargeBlob) {
      std::memcpy(to, blob.data.data(), blob.data.size());
      blob.data = {to, blob.data.size()};
      to += arith::round_up(blob.data.size(), kBlobAlignment);
      continue;
    }
    const std::size_t next =
        i + 1 == order.size() ? file.size()
                              : static_cast<std::size_t>(order[i + 1]->data.data() - file.data());
    move_to_pages(blob, file, next);
  }
}

}  // namespace

std::span<const std::byte> Container::content(std::uint16_t memory, std::uint64_t offset,
                                              std::uint64_t size, std::string_view what,
                                              const Blob** from) const {
  // The last blob wins where several overlap, as when they are copied in turn.
  const std::vector<Content>& contents = memories[memory].contents;
  for (auto content = contents.rbegin(); content != contents.rend(); ++content) {
    const Blob& blob = blobs[content->blob];
    const std::uint64_t bytes = blob.data.size();
    if (offset < content->offset || offset - content->offset > bytes ||
        size > bytes - (offset - content->offset)) {
      continue;
    }
    if (from != nullptr) *from = &blob;
    return blob.data.subspan(static_cast<std::size_t>(offset - content->offset),
                             static_cast<std::size_t>(size));
  }
  throw_in_file("{}: no blob sets {} bytes at {} of memory {}", what, size, offset, memory);
}

Container parse_container(std::span<const std::byte> file) {
  HostPages copy(file.size());
  if (!file.empty()) std::memcpy(copy.data(), file.data(), file.size());
  return parse_container(std::move(copy));
}

Container parse_container(HostPages file) {
  if (file.size() > kMaxFileBytes) {
    throw_in_file("{} bytes exceed {}", file.size(), kMaxFileBytes);
  }
  // Root offset, root table, its offset to the vtable.
  if (file.size() < 12) throw_in_file("{} bytes are too few for a FlatBuffer", file.size());
  if (!verifies(file)) {
    file = shift(file);
    if (!verifies(file)) {
      throw_in_file(
          "the {} bytes are no valid FlatBuffer of a loadable: truncated or damaged (an offset, "
          "size or string leads outside)",
          file.size() - kShift);
    }
  }
  Container c;
  const fb::Loadable& root = *fb::GetLoadable(reinterpret_cast<const std::uint8_t*>(file.data()));
  c.version = {root.version()->major_version(), root.version()->minor_version(),
               root.version()->sub_minor_version()};
  if (c.version.major_version != 0) {
    throw_in_file("format {}.{}.{} is unknown; known is 0.7.0", c.version.major_version,
                  c.version.minor_version, c.version.sub_minor_version);
  }
  read_blobs(c, root);
  read_memories(c, root);
  read_addresses(c, root);
  read_events(c, root);
  read_tasks(c, root);
  read_tensors(c, root);
  read_relocs(c, root);
  read_submits(c, root);
  if (c.memories.empty()) throw_in_file("it has no memory");
  if (c.tasks.empty()) throw_in_file("it has no task");
  if (c.submits.empty()) throw_in_file("it has no submit");
  check_bindings(c);
  read_quantizations(c);
  read_model_sizes(c);
  move_blobs(c, std::move(file));
  return c;
}

HostPages read_loadable(std::string_view path) {
  const std::string name(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) {
    throw_in_file("cannot read '{}': it is a folder; expected a file", name);
  }
  std::ifstream stream(name, std::ios::binary | std::ios::ate);
  if (!stream) {
    throw_in_file("cannot open '{}': {}", name, std::generic_category().message(errno));
  }
  const std::streamoff size = stream.tellg();
  if (size < 0) throw_in_file("cannot read '{}': not a file", name);
  if (static_cast<std::uint64_t>(size) > kMaxFileBytes) {
    throw_in_file("'{}' has {} bytes, more than {}", name, size, kMaxFileBytes);
  }
  HostPages pages(static_cast<std::size_t>(size));
  stream.seekg(0);
  stream.read(reinterpret_cast<char*>(pages.data()), size);
  if (!stream) throw_in_file("cannot read '{}': {}", name, std::generic_category().message(errno));
  return pages;
}

}  // namespace nvdla::loadable
