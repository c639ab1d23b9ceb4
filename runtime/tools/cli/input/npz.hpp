// SPDX-License-Identifier: MIT
//
// Archives of arrays as NumPy keeps them (.npz): numpy.savez(file, image=..., mask=...).
#ifndef NVDLA_TOOLS_CLI_INPUT_NPZ_HPP
#define NVDLA_TOOLS_CLI_INPUT_NPZ_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nvdla::cli {

// An array of an archive for an input.
struct NpzArray {
  std::size_t input = 0;
  std::string place;               // archive and name, for messages
  std::vector<std::uint8_t> file;  // as an .npy file
};

// Returns an array for each of the inputs, in their order. Arrays have the names of inputs; that of
// a single input may have another one. Throws UsageError naming `path` for an archive that is
// damaged, that has other arrays, or lacks one.
std::vector<NpzArray> read_npz(const std::string& path, std::span<const std::uint8_t> file,
                               const std::vector<std::string>& inputs);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_NPZ_HPP
