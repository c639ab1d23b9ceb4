// SPDX-License-Identifier: MIT
//
// A network in a file of the writer's, read by the tests' own reader.
#ifndef NVDLA_TESTS_LOADABLE_WRITTEN_HPP
#define NVDLA_TESTS_LOADABLE_WRITTEN_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nvdla/network.hpp"
#include "unit/loadable/witness/container.hpp"
#include "unit/loadable/witness/record.hpp"

namespace nvdla::witness {

// Flags of memories: of what is bound, and of what is filled by the file.
constexpr std::uint64_t kInputMemory = 5, kOutputMemory = 9, kConstantMemory = 3;

using Fields = std::map<std::string, std::int64_t>;

// The one task of a file for nv_full, of interface 0.11 or 0.12.
class Written {
 public:
  Written(const Network& network, bool old);

  const File& file() const { return file_; }
  const Record& network() const { return network_; }
  std::int64_t operations() const { return network_.get("num_operations"); }

  // An entry of a list that the network descriptor names.
  Record entry(const std::string& list, std::int64_t i, std::size_t stride,
               const std::string& type) const;
  Record common(std::int64_t i) const;
  Record op(std::int64_t i, const std::string& unit) const;
  Record surface(std::int64_t i, const std::string& unit) const;

  // Where a position of the task's address list is.
  std::uint64_t memory_of(std::int64_t position) const;
  std::int64_t offset_of(std::int64_t position) const;
  // Where a cube is, whatever says its offset: the cube or, in older files, its position.
  std::int64_t offset_of(const Record& surface, const std::string& cube) const;
  // What a memory is set to.
  const std::vector<std::byte>& content(std::int64_t position) const;

  std::uint64_t number(const char* list, std::uint64_t i, const char* field) const;
  // That of the memory at a position.
  std::uint64_t memory_flags(std::int64_t position) const {
    return number("memory_list", memory_of(position), "flags");
  }

 private:
  const Entry& address(std::int64_t position) const;

  bool old_;
  File file_;
  Record network_;
};

// What is not expected must be 0. Fields under one of `free` are looked at elsewhere.
void expect_fields(const Record& record, const Fields& expected,
                   const std::vector<std::string>& free = {});

// A cube for nv_full in memory, of lines without gaps; its address is looked at elsewhere.
void add_cube(Fields& to, const std::string& name, std::int64_t channels, std::int64_t height,
              std::int64_t width, std::int64_t element_bytes = 1);
void add_no_cube(Fields& to, const std::string& name);
// What passes from one unit to another.
void add_passed(Fields& to, const std::string& name, std::int64_t channels, std::int64_t height,
                std::int64_t width);

}  // namespace nvdla::witness

#endif  // NVDLA_TESTS_LOADABLE_WRITTEN_HPP
