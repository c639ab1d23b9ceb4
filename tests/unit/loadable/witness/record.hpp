// SPDX-License-Identifier: MIT
//
// The descriptors of interface DLA1 by the tables of their documentation: where each field lies,
// written down as numbers. Nothing here is shared with runtime/loadable.
#ifndef NVDLA_TESTS_LOADABLE_WITNESS_RECORD_HPP
#define NVDLA_TESTS_LOADABLE_WITNESS_RECORD_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nvdla::witness {

struct Place {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  bool is_signed = false;
};

// Fields by path ("src_data.width", "transfers[3].lines"). Interface revisions 0.10 and 0.11 have
// older cubes.
struct Layout {
  std::size_t bytes = 0;
  std::map<std::string, Place> places;
};
const Layout& layout(const std::string& type, bool old);

// The bytes of one descriptor; all zero until fields are set.
class Record {
 public:
  Record(const std::string& type, bool old);
  Record(const std::string& type, bool old, const std::byte* bytes);

  // Both fail for a field that the table does not have.
  void set(const std::string& field, std::int64_t value);
  std::int64_t get(const std::string& field) const;
  bool has(const std::string& field) const { return layout_->places.contains(field); }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  const std::map<std::string, Place>& fields() const { return layout_->places; }

 private:
  const Place& place(const std::string& field) const;

  const Layout* layout_;
  std::string type_;
  std::vector<std::byte> bytes_;
};

}  // namespace nvdla::witness

#endif  // NVDLA_TESTS_LOADABLE_WITNESS_RECORD_HPP
