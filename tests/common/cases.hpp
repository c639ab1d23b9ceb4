// SPDX-License-Identifier: MIT
//
// Golden register cases and public register traces from outside of the tree:
// where they are, and what of them describes layers. For replaying them there is
// the `nvdla` command; this is only for looking at the registers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nvdla::test {

struct CaseRegion {
  std::uint64_t address;
  std::uint64_t size;
  std::vector<std::uint8_t> bytes;  // empty: not from a file
};

struct CaseWrite {
  std::uint32_t offset;
  std::uint32_t value;
  std::string name;
};

struct Case {
  std::string name;  // "nv_small/conv_dc/fz00"
  std::string configuration;
  std::string unit;
  std::vector<CaseWrite> writes;
  std::vector<CaseRegion> regions;  // memory that is loaded or filled
};

// Names of all cases of a unit, sorted; empty if there are none.
std::vector<std::filesystem::path> find_cases(const std::string& configuration,
                                              const std::string& unit);

// Throws std::runtime_error with the path for anything that is not a case.
Case load_case(const std::filesystem::path& directory);

// Folders of .cfg traces of a configuration whose name begins with @prefix.
std::vector<std::filesystem::path> find_traces(const std::string& configuration,
                                               const std::string& prefix);

// Register writes and memory of a .cfg trace; waits and checks are left out.
// Throws std::runtime_error with the path and the line.
Case load_trace(const std::filesystem::path& directory);

}  // namespace nvdla::test
