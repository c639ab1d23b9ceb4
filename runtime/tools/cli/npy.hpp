// SPDX-License-Identifier: MIT
//
// Arrays as NumPy keeps them in files (.npy, version 1.0).
#ifndef NVDLA_TOOLS_CLI_NPY_HPP
#define NVDLA_TOOLS_CLI_NPY_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace nvdla::cli {

// `type` is "i1", "i2", "f2" or "u1"; elements in the byte order of this machine, the last index
// fastest.
std::vector<std::byte> npy_file(std::string_view type, std::span<const std::uint32_t> shape,
                                std::span<const std::byte> elements);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_NPY_HPP
