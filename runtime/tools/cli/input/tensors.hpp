// SPDX-License-Identifier: MIT
//
// Reads and writes tensors of a loadable in the file formats that `nvdla run` knows.
#ifndef NVDLA_TOOLS_CLI_INPUT_TENSORS_HPP
#define NVDLA_TOOLS_CLI_INPUT_TENSORS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nvdla/loadable.hpp"

namespace nvdla::cli {

const char* type_name(LoadableType type);
// "16x8x8 int8"
std::string shape_text(const LoadableTensor& t);

// Checks that a tensor's elements stand for real numbers. Throws UsageError about `path` for
// integers without a quantization in the file.
void check_reals(const LoadableTensor& t, const std::string& path);

// Writes an input from the bytes of the file at `path`: a picture, an array, elements or pixels
// without gaps, or bytes as they are in memory. `resize` selects how a picture is resized to the
// input; if it is empty, the picture must have the input's size. Throws UsageError.
void write_input(Request& request, const LoadableTensor& t, const std::string& path,
                 const std::vector<std::uint8_t>& file, const std::string& resize);

// Returns the value of each element of an output as a number, by channel, line, column.
std::vector<double> values_of(const Request& request, const LoadableTensor& t);

// Checks that the output can have the format of `path`'s extension. Throws UsageError.
void check_output_form(const LoadableTensor& t, const std::string& path);
// Returns an output in that format.
std::vector<std::byte> output_bytes(const Request& request, const LoadableTensor& t,
                                    const std::string& path);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_TENSORS_HPP
