// SPDX-License-Identifier: MIT
//
// Files that arguments name, whatever they turn out to be. "-" and /dev/stdin are standard input,
// "-" and /dev/stdout standard output.
#ifndef NVDLA_TOOLS_FILES_FILES_HPP
#define NVDLA_TOOLS_FILES_FILES_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nvdla::program {

// More than any loadable has.
inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 31;

// All bytes of a file or pipe. Throws UsageError naming `path`: for what cannot be opened or read,
// is a folder or a device, is empty, or goes on beyond `limit` bytes.
std::vector<std::uint8_t> read_file(const std::string& path, std::uint64_t limit = kMaxFileBytes);

bool is_standard_input(const std::string& path);
bool is_standard_output(const std::string& path);

// Replaces the file by these bytes. Throws OutputError naming `path`.
void write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_FILES_FILES_HPP
