// SPDX-License-Identifier: MIT
#include "record.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace nvdla::witness {
namespace {

struct Field {
  const char* name;
  std::size_t offset;
  const char* type;
  std::size_t count = 0;  // 0: no array
};

struct Struct {
  const char* name;
  std::size_t bytes;
  std::vector<Field> fields;
};

const std::vector<Struct>& structs() {
  static const std::vector<Struct> all = {
#include "descriptors.inc"
  };
  return all;
}

const Struct& find(const std::string& name) {
  for (const Struct& s : structs()) {
    if (s.name == name) return s;
  }
  throw std::out_of_range("no descriptor " + name);
}

// An older cube has four bytes less, and so has what lies behind it.
constexpr std::size_t kCubeGrew = 4;

void add(Layout& to, const Struct& from, bool old, const std::string& prefix, std::size_t base) {
  std::size_t cubes = 0;
  for (const Field& f : from.fields) {
    std::string type = f.type;
    const std::size_t at = base + f.offset - (old ? cubes * kCubeGrew : 0);
    const bool cube = type == "dla_data_cube";
    if (cube) ++cubes;
    if (cube && old) type += "_old";
    const bool number = type.size() <= 3;
    const std::size_t bytes = number ? std::stoul(type.substr(1)) / 8 : find(type).bytes;
    for (std::size_t i = 0; i < std::max<std::size_t>(f.count, 1); ++i) {
      std::string path = prefix + f.name;
      if (f.count != 0) path += "[" + std::to_string(i) + "]";
      if (number) {
        to.places[path] = {at + i * bytes, bytes, type[0] == 'i'};
      } else {
        add(to, find(type), old, path + ".", at + i * bytes);
      }
    }
  }
  if (prefix.empty()) to.bytes = from.bytes - (old ? cubes * kCubeGrew : 0);
}

}  // namespace

const Layout& layout(const std::string& type, bool old) {
  static std::map<std::pair<std::string, bool>, Layout> known;
  Layout& found = known[{type, old}];
  if (found.bytes == 0) add(found, find(type), old, "", 0);
  return found;
}

Record::Record(const std::string& type, bool old)
    : layout_(&layout(type, old)), type_(type), bytes_(layout_->bytes) {}

Record::Record(const std::string& type, bool old, const std::byte* bytes) : Record(type, old) {
  bytes_.assign(bytes, bytes + bytes_.size());
}

const Place& Record::place(const std::string& field) const {
  const auto found = layout_->places.find(field);
  if (found == layout_->places.end()) throw std::out_of_range(type_ + " has no field " + field);
  return found->second;
}

void Record::set(const std::string& field, std::int64_t value) {
  const Place& p = place(field);
  for (std::size_t i = 0; i < p.bytes; ++i) {
    bytes_[p.offset + i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
  if (get(field) != value) {
    throw std::out_of_range(type_ + "." + field + " cannot be " + std::to_string(value));
  }
}

std::int64_t Record::get(const std::string& field) const {
  const Place& p = place(field);
  std::uint64_t value = 0;
  for (std::size_t i = p.bytes; i-- > 0;) {
    value = value << 8 | static_cast<std::uint64_t>(bytes_[p.offset + i]);
  }
  const std::size_t spare = 64 - 8 * p.bytes;
  if (p.is_signed) return static_cast<std::int64_t>(value << spare) >> spare;
  return static_cast<std::int64_t>(value);
}

}  // namespace nvdla::witness
