// SPDX-License-Identifier: MIT
//
// Models of frameworks that an argument names.
#ifndef NVDLA_TOOLS_CLI_INPUT_MODEL_HPP
#define NVDLA_TOOLS_CLI_INPUT_MODEL_HPP

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "nvdla/import.hpp"

namespace nvdla::cli {

// Options that describe how a model is imported.
struct ModelOptions {
  std::vector<std::string> shapes;
  std::vector<std::string> outputs;
  std::string cpu = "tail";
};

// Adds --shape, --outputs and --cpu.
void add_model_options(CLI::App& command, ModelOptions& options);
// Returns true if the name of a file ends as that of a model does: ".onnx".
bool is_model(const std::string& path);
// Returns the name of the configuration that a device, or NVDLA_DEVICE, stands for.
std::string model_configuration(const std::string& device);
// Imports a model for a configuration. Throws program::UsageError.
ImportedModel load_model(const std::string& path, const std::string& configuration,
                         const ModelOptions& options, bool check = false);
// Prints notices of the importer on standard error.
void print_notices(const ImportedModel& model);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_MODEL_HPP
