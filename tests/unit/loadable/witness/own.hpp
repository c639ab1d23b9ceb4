// SPDX-License-Identifier: MIT
//
// A file with one operation of our own, by the table of docs/formats.md. Nothing here is shared
// with runtime/loadable.
#ifndef NVDLA_TESTS_LOADABLE_WITNESS_OWN_HPP
#define NVDLA_TESTS_LOADABLE_WITNESS_OWN_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "container.hpp"

namespace nvdla::witness {

struct OwnCube {
  std::uint32_t address = 1, offset = 0, precision = 0;
  std::uint32_t batch = 1, channels = 40, height = 3, width = 5;
  std::uint32_t atom = 32, line_stride = 160, surface_stride = 480, batch_stride = 0;
};

// Memories 1 and 2 are the inputs, 3 the output, of 16,384 bytes each.
struct Own {
  // An operation as it should be, by its name.
  static Own of(const std::string& name);

  std::string name;
  std::uint32_t version = 1;
  std::uint32_t inputs = 1;
  std::vector<OwnCube> cubes;           // inputs, then the output
  std::vector<std::uint32_t> fields;    // 32 bits each, lowest byte first
  std::vector<std::byte> bytes_behind;  // of what is no multiple of 32 bits
  std::vector<std::string> needs;       // contents of a memory that are no blobs

  std::vector<std::byte> operation() const;
  File file() const;
};

const std::vector<std::string>& own_names();

}  // namespace nvdla::witness

#endif  // NVDLA_TESTS_LOADABLE_WITNESS_OWN_HPP
