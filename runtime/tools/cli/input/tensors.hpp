// SPDX-License-Identifier: MIT
//
// Tensors of a loadable from and to files: the formats that `nvdla run` knows.
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

// Whether a tensor's elements stand for reals: throws UsageError about `path` for integers of which
// the file does not say what.
void check_reals(const LoadableTensor& t, const std::string& path);

// Writes an input from the bytes of the file at `path`: a picture, an array, elements or pixels
// without gaps, or bytes as they are in memory. `resize` is how a picture is brought to the size of
// the input; empty: it has to have it. Throws UsageError.
void write_input(Request& request, const LoadableTensor& t, const std::string& path,
                 const std::vector<std::uint8_t>& file, const std::string& resize);

// The value of each element of an output as a number, by channel, line, column.
std::vector<double> values_of(const Request& request, const LoadableTensor& t);

// Whether the output can have the form that the end of `path` promises. Throws UsageError.
void check_output_form(const LoadableTensor& t, const std::string& path);
// An output in that form.
std::vector<std::byte> output_bytes(const Request& request, const LoadableTensor& t,
                                    const std::string& path);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_TENSORS_HPP
