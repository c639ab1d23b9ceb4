// SPDX-License-Identifier: MIT
//
// The FlatBuffer of a loadable by the numbers of its fields, written and read without the code that
// is generated of the schema.
#ifndef NVDLA_TESTS_LOADABLE_WITNESS_CONTAINER_HPP
#define NVDLA_TESTS_LOADABLE_WITNESS_CONTAINER_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nvdla::witness {

// One table. What is not set is absent, and reads as 0.
struct Entry {
  std::map<std::string, std::uint64_t> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<std::uint64_t>> lists;  // [ushort], [ulong]
  std::map<std::string, std::vector<std::byte>> bytes;      // [ubyte]
  std::map<std::string, std::vector<std::string>> names;    // [string]
  std::map<std::string, std::array<std::uint8_t, 3>> versions;

  bool operator==(const Entry&) const = default;
};

// The lists of a file by the names that its root table gives them.
struct File {
  std::array<std::uint8_t, 3> version = {0, 7, 0};
  std::map<std::string, std::vector<Entry>> lists;

  Entry& at(const std::string& list, std::size_t i) { return lists.at(list).at(i); }
};

// Both fail for a field that a table does not have.
std::vector<std::byte> write(const File& file);
File read(const std::vector<std::byte>& bytes);

}  // namespace nvdla::witness

#endif  // NVDLA_TESTS_LOADABLE_WITNESS_CONTAINER_HPP
