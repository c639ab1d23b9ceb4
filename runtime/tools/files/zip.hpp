// SPDX-License-Identifier: MIT
//
// Archives of ZIP, as NumPy writes them (.npz): members are stored or deflated.
#ifndef NVDLA_TOOLS_FILES_ZIP_HPP
#define NVDLA_TOOLS_FILES_ZIP_HPP

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nvdla::program {

struct ZipMember {
  std::string name;
  std::vector<std::uint8_t> bytes;
};

// Returns true if a file begins as an archive does.
bool is_zip(std::span<const std::uint8_t> file);

// Returns all members, in the order of the archive's directory. Throws UsageError naming `path`,
// and the member, for an archive that is damaged, is encrypted, or has more than 2 GiB in all.
std::vector<ZipMember> read_zip(const std::string& path, std::span<const std::uint8_t> file);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_FILES_ZIP_HPP
