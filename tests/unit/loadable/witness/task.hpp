// SPDX-License-Identifier: MIT
//
// A file with one task of the hardware, whose operations are set field by field.
#ifndef NVDLA_TESTS_LOADABLE_WITNESS_TASK_HPP
#define NVDLA_TESTS_LOADABLE_WITNESS_TASK_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "container.hpp"
#include "record.hpp"

namespace nvdla::witness {

enum Type { kBdma, kConv, kSdp, kPdp, kCdp, kRubik };

// Memories, and positions of the task's address list: the same numbers. Behind them, positions of
// the data and of the result a little further on.
enum Memory { kNetwork, kData, kResult, kGraph, kOps, kSurfaces, kTables, kSram };
constexpr std::int64_t kFurtherData = 8, kFurtherResult = 9;
constexpr std::uint64_t kFurther = 0x3000;
constexpr std::uint64_t kDataBytes = 0x4000;

// The three descriptors of an operation, with fields "common.", "op." and "surface.".
struct Operation {
  Record common, op, surface;

  void set(const std::string& field, std::int64_t value);
  std::int64_t get(const std::string& field) const;
  // Whether there is such a field: older cubes have no offset.
  bool has(const std::string& field) const;
  // All fields but those of "common.".
  std::vector<std::string> fields() const;

 private:
  const Record& record(const std::string& field) const;
};

class Task {
 public:
  explicit Task(std::array<std::uint8_t, 3> revision = {0, 12, 3});

  bool old() const { return interface[1] < 12; }

  // An operation behind the last one of its type.
  Operation& add(Type type);
  // Conv to SDP, SDP to PDP: on the fly.
  void fuse(std::size_t parent, std::size_t child);
  // Makes `to` wait until `from` has ended.
  void wait(std::size_t from, std::size_t to);
  Record& add_table();

  Operation& operator[](std::size_t i) { return operations_.at(i); }
  std::size_t size() const { return operations_.size(); }

  // May be changed before it is written.
  File file() const;
  std::vector<std::byte> bytes() const { return write(file()); }

  // The revision that the file says, and so that of the structures until it is changed.
  std::array<std::uint8_t, 3> interface;
  Record network;
  // What the memory of the data holds.
  std::vector<std::byte> data = std::vector<std::byte>(kDataBytes);

 private:
  void tell(std::size_t from, std::size_t to, int event);

  std::deque<Operation> operations_;
  std::array<std::int64_t, 6> last_of_ = {-1, -1, -1, -1, -1, -1};
  std::deque<Record> tables_;
};

}  // namespace nvdla::witness

#endif  // NVDLA_TESTS_LOADABLE_WITNESS_TASK_HPP
