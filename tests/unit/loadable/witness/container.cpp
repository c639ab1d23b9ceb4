// SPDX-License-Identifier: MIT
#include "container.hpp"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <stdexcept>

namespace nvdla::witness {
namespace {

struct Slot {
  enum Kind { kScalar, kText, kBytes, kNumbers, kTexts, kTables, kVersion };
  const char* name;
  unsigned id;
  Kind kind;
  unsigned bytes;  // of a scalar or an element
};

struct Table {
  const char* name;
  std::vector<Slot> slots;
};

const std::vector<Table>& tables() {
  static const std::vector<Table> all = {
#include "container.inc"
  };
  return all;
}

struct List {
  const char* name;
  const char* table;
};
constexpr List kLists[] = {{"task_list", "TaskListEntry"},
                           {"memory_list", "MemoryListEntry"},
                           {"address_list", "AddressListEntry"},
                           {"event_list", "EventListEntry"},
                           {"blobs", "Blob"},
                           {"tensor_desc_list", "TensorDescListEntry"},
                           {"reloc_list", "RelocListEntry"},
                           {"submit_list", "SubmitListEntry"}};

const Table& table(const std::string& name) {
  for (const Table& t : tables()) {
    if (t.name == name) return t;
  }
  throw std::out_of_range("no table " + name);
}

const Slot& slot(const std::string& in, const std::string& name, Slot::Kind kind) {
  for (const Slot& s : table(in).slots) {
    if (s.name == name && s.kind == kind) return s;
  }
  throw std::out_of_range(in + " has no such field " + name);
}

// Where the vtable says it: behind its own size and that of the table.
flatbuffers::voffset_t offset_of(const Slot& s) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * s.id);
}

using Builder = flatbuffers::FlatBufferBuilder;
using Child = flatbuffers::Offset<void>;

// Calls `f` with a value of the type that has so many bytes.
template <typename F>
void as_bytes(unsigned bytes, std::uint64_t value, F&& f) {
  if (bytes == 1) f(static_cast<std::uint8_t>(value));
  if (bytes == 2) f(static_cast<std::uint16_t>(value));
  if (bytes == 4) f(static_cast<std::uint32_t>(value));
  if (bytes == 8) f(static_cast<std::uint64_t>(value));
}

template <typename T>
flatbuffers::uoffset_t put_vector(Builder& b, const std::vector<std::uint64_t>& values) {
  std::vector<T> narrow;
  for (const std::uint64_t value : values) narrow.push_back(static_cast<T>(value));
  return b.CreateVector(narrow).o;
}

void put_version(Builder& b, const Slot& s, const std::array<std::uint8_t, 3>& version) {
  b.Align(1);
  b.PushBytes(version.data(), version.size());
  b.AddStructOffset(offset_of(s), b.GetSize());
}

flatbuffers::Offset<void> put(Builder& b, const std::string& name, const Entry& entry) {
  // Children lie before the table that they belong to.
  std::map<unsigned, flatbuffers::uoffset_t> children;
  for (const auto& [field, text] : entry.texts) {
    children[slot(name, field, Slot::kText).id] = b.CreateString(text).o;
  }
  for (const auto& [field, values] : entry.lists) {
    const Slot& s = slot(name, field, Slot::kNumbers);
    children[s.id] =
        s.bytes == 2 ? put_vector<std::uint16_t>(b, values) : put_vector<std::uint64_t>(b, values);
  }
  for (const auto& [field, bytes] : entry.bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    children[slot(name, field, Slot::kBytes).id] = b.CreateVector(data, bytes.size()).o;
  }
  for (const auto& [field, texts] : entry.names) {
    children[slot(name, field, Slot::kTexts).id] = b.CreateVectorOfStrings(texts).o;
  }
  const auto start = b.StartTable();
  for (const auto& [field, value] : entry.numbers) {
    const Slot& s = slot(name, field, Slot::kScalar);
    as_bytes(s.bytes, value, [&](auto v) { b.AddElement(offset_of(s), v); });
  }
  for (const auto& [id, child] : children) {
    b.AddOffset(static_cast<flatbuffers::voffset_t>(4 + 2 * id), Child(child));
  }
  for (const auto& [field, version] : entry.versions) {
    put_version(b, slot(name, field, Slot::kVersion), version);
  }
  return Child(b.EndTable(start));
}

Entry get(const std::string& name, const flatbuffers::Table& from) {
  Entry entry;
  for (const Slot& s : table(name).slots) {
    const flatbuffers::voffset_t at = from.GetOptionalFieldOffset(offset_of(s));
    if (at == 0) continue;
    const std::uint8_t* data = reinterpret_cast<const std::uint8_t*>(&from) + at;
    const auto number = [](const std::uint8_t* p, unsigned bytes) {
      std::uint64_t value = 0;
      for (unsigned i = bytes; i-- > 0;) value = value << 8 | p[i];
      return value;
    };
    if (s.kind == Slot::kScalar) {
      entry.numbers[s.name] = number(data, s.bytes);
    } else if (s.kind == Slot::kVersion) {
      std::copy_n(data, 3, entry.versions[s.name].begin());
    } else {
      const std::uint8_t* child = data + number(data, 4);
      const std::uint64_t count = number(child, 4);
      child += 4;
      if (s.kind == Slot::kText) {
        entry.texts[s.name].assign(child, child + count);
      } else if (s.kind == Slot::kBytes) {
        const auto* bytes = reinterpret_cast<const std::byte*>(child);
        entry.bytes[s.name].assign(bytes, bytes + count);
      } else if (s.kind == Slot::kNumbers) {
        for (std::uint64_t i = 0; i < count; ++i) {
          entry.lists[s.name].push_back(number(child + i * s.bytes, s.bytes));
        }
      } else if (s.kind == Slot::kTexts) {
        for (std::uint64_t i = 0; i < count; ++i) {
          const std::uint8_t* text = child + 4 * i + number(child + 4 * i, 4);
          entry.names[s.name].emplace_back(text + 4, text + 4 + number(text, 4));
        }
      }
    }
  }
  return entry;
}

}  // namespace

std::vector<std::byte> write(const File& file) {
  Builder b;
  // A field that says 0 is written like any other.
  b.ForceDefaults(true);
  std::map<unsigned, flatbuffers::uoffset_t> lists;
  for (const List& list : kLists) {
    const auto found = file.lists.find(list.name);
    if (found == file.lists.end()) continue;
    std::vector<Child> entries;
    for (const Entry& entry : found->second) entries.push_back(put(b, list.table, entry));
    lists[slot("Loadable", list.name, Slot::kTables).id] = b.CreateVector(entries).o;
  }
  const auto start = b.StartTable();
  for (const auto& [id, list] : lists) {
    b.AddOffset(static_cast<flatbuffers::voffset_t>(4 + 2 * id), Child(list));
  }
  put_version(b, slot("Loadable", "version", Slot::kVersion), file.version);
  b.Finish(flatbuffers::Offset<flatbuffers::Table>(b.EndTable(start)));
  const auto* data = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
  return {data, data + b.GetSize()};
}

File read(const std::vector<std::byte>& bytes) {
  const auto* root = flatbuffers::GetRoot<flatbuffers::Table>(bytes.data());
  File file;
  const auto* version = root->GetStruct<const std::uint8_t*>(4);
  std::copy_n(version, 3, file.version.begin());
  for (const List& list : kLists) {
    const auto* entries =
        root->GetPointer<const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::Table>>*>(
            offset_of(slot("Loadable", list.name, Slot::kTables)));
    if (entries == nullptr) continue;
    for (const flatbuffers::Table* entry : *entries) {
      file.lists[list.name].push_back(get(list.table, *entry));
    }
  }
  return file;
}

}  // namespace nvdla::witness
