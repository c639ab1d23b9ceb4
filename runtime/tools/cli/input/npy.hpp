// SPDX-License-Identifier: MIT
//
// Arrays as NumPy keeps them in files (.npy, version 1.0).
#ifndef NVDLA_TOOLS_CLI_INPUT_NPY_HPP
#define NVDLA_TOOLS_CLI_INPUT_NPY_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla::cli {

// `type` is "i1", "i2", "f2" or "u1"; elements in the byte order of this machine, the last index
// fastest.
std::vector<std::byte> npy_file(std::string_view type, std::span<const std::uint32_t> shape,
                                std::span<const std::byte> elements);

// An array of a file.
struct NpyArray {
  std::string type;  // "i1", "f4", ...
  std::vector<std::uint64_t> shape;
  std::span<const std::uint8_t> elements;  // of the file

  // Returns the elements of a type that is_real().
  std::vector<float> floats() const;
  // Returns the elements of any type of numbers; throws UsageError naming `path` for others.
  std::vector<float> numbers(const std::string& path) const;
  bool is_real() const { return type == "f2" || type == "f4" || type == "f8"; }
};

bool is_npy(std::span<const std::uint8_t> file);
// Throws UsageError, naming `path`, unless the array is whole, its last index is the fastest and
// its elements have the byte order of this machine.
NpyArray read_npy(const std::string& path, std::span<const std::uint8_t> file);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_NPY_HPP
