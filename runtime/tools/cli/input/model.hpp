// SPDX-License-Identifier: MIT
//
// Models of frameworks that an argument names.
#ifndef NVDLA_TOOLS_CLI_INPUT_MODEL_HPP
#define NVDLA_TOOLS_CLI_INPUT_MODEL_HPP

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "nvdla/import.hpp"
#include "nvdla/loadable.hpp"

namespace nvdla::cli {

// Options that describe how a model is imported.
struct ModelOptions {
  std::vector<std::string> shapes;
  std::vector<std::string> constants;
  std::vector<std::string> outputs;
  std::string cpu = "tail";
  std::string precision;
  std::vector<std::string> samples;
  std::vector<float> mean, deviation;
  std::string pixels;
  bool bytes = true;  // pictures may go in as bytes in fp16; no option of its own

  // Returns true if an option was given that is of models only.
  bool any() const;
};

// Adds the options of models.
void add_model_options(CLI::App& command, ModelOptions& options);
// Returns the configuration that a device, or NVDLA_DEVICE, stands for.
const nvdla_hw& model_configuration(const std::string& device);
// Returns options with which a loadable is made for such a configuration.
LoadableOptions loadable_options(const nvdla_hw& hw, const std::string& device);
// Imports a model for a configuration; `resize` is how pictures among its samples are brought to
// the size of its input. Throws program::UsageError.
ImportedModel load_model(const std::string& path, const std::string& configuration,
                         const ModelOptions& options, const std::string& resize,
                         const std::function<void(const BuildProgress&)>& progress,
                         bool check = false, bool measure = false);
// Returns the sizes of inputs and outputs of a model, for loadables.
std::vector<ModelSizes> sizes_of(const ImportedModel& model);
// Prints notices of the importer on standard error.
void print_notices(const ImportedModel& model);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_MODEL_HPP
