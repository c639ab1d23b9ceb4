// SPDX-License-Identifier: MIT
//
// Samples of a model's inputs, from files.
#ifndef NVDLA_TOOLS_CLI_INPUT_SAMPLES_HPP
#define NVDLA_TOOLS_CLI_INPUT_SAMPLES_HPP

#include <string>
#include <vector>

#include "nvdla/import.hpp"

namespace nvdla::cli {

// Reads samples into `options`: pictures, arrays, archives of arrays, and folders of these in the
// order of their names. Where there are several inputs a path is NAME=FILE, or that of an archive.
// Pictures make an input one of pixels, if `options` does not say so yet. `resize` is empty where
// pictures have to have the size of the input. Throws UsageError naming the file.
void read_samples(const std::vector<std::string>& paths, const std::vector<ImportedTensor>& inputs,
                  const std::string& resize, ImportOptions& options);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_SAMPLES_HPP
