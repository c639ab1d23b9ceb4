// SPDX-License-Identifier: MIT
//
// Inputs of a loadable, and samples of those of a model, from files.
#ifndef NVDLA_TOOLS_CLI_INPUT_INPUTS_HPP
#define NVDLA_TOOLS_CLI_INPUT_INPUTS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "nvdla/import.hpp"
#include "nvdla/loadable.hpp"

namespace nvdla::cli {

// The bytes that an input is written from.
struct InputFile {
  std::string place;  // the file, and the array of an archive, for messages
  std::vector<std::uint8_t> bytes;
};

// Reads a file for each input, in their order or as NAME=FILE, or all of them from one archive of
// arrays (.npz). Returns none where none is named: inputs are zeros then. `loadable` is the path of
// the loadable, which has standard input for itself if it is that. Throws UsageError.
std::vector<InputFile> read_inputs(const std::vector<std::string>& arguments, const Loadable& file,
                                   const std::string& loadable);

// Writes the inputs of a request; `resize` is how a picture is brought to the size of its input,
// and without it the picture has to have that size. Throws UsageError.
void write_inputs(Request& request, const Loadable& file, const std::vector<InputFile>& inputs,
                  const std::string& resize = {});

// Reads samples into `options`: pictures, arrays, archives of arrays, and folders of these in the
// order of their names. Where there are several inputs a path is NAME=FILE, or that of an archive.
// Pictures make an input one of pixels, if `options` does not say so yet. `resize` is empty where
// pictures have to have the size of the input. Throws UsageError naming the file.
void read_samples(const std::vector<std::string>& paths, const std::vector<ImportedTensor>& inputs,
                  const std::string& resize, ImportOptions& options);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_INPUTS_HPP
