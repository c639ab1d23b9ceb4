// SPDX-License-Identifier: MIT
#include "tools/cli/input/model.hpp"

#include <fmt/format.h>

#include "nvdla/types/error.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/common/print.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {
namespace {

using program::UsageError;

// Reads "NAME=1x3x224x224"; the name may have any character.
InputShape parse_shape(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const auto wrong = [&] {
    return UsageError(fmt::format("--shape {}: expected NAME=1x3x224x224 or the like", text));
  };
  if (equals == std::string::npos || equals == 0) throw wrong();
  InputShape shape{text.substr(0, equals), {}};
  std::int64_t size = 0;
  bool digits = false;
  for (const char c : text.substr(equals + 1) + "x") {
    if (c == 'x' && digits) {
      shape.sizes.push_back(size);
      size = 0;
      digits = false;
    } else if (c >= '0' && c <= '9' && size < 100'000'000) {
      size = size * 10 + (c - '0');
      digits = true;
    } else {
      throw wrong();
    }
  }
  return shape;
}

CpuUse parse_cpu(const std::string& text) {
  return text == "all" ? CpuUse::kAll : text == "none" ? CpuUse::kNone : CpuUse::kTail;
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
  command
      .add_option("--shape", options.shapes,
                  "Sizes of an input that the model leaves open: data=1x3x224x224; a batch alone "
                  "is 1 otherwise")
      ->type_name("NAME=SIZES")
      ->allow_extra_args(false);
  command
      .add_option("--outputs", options.outputs,
                  "Values of the model that become the outputs, in place of its own; nodes behind "
                  "them are left out")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--cpu", options.cpu,
                  "What the CPU may compute: none; tail, a softmax or argmax at the end; all")
      ->check(CLI::IsMember({"none", "tail", "all"}).description(""))
      ->type_name("NAME")
      ->capture_default_str();
}

bool is_model(const std::string& path) { return path.ends_with(".onnx"); }

std::string model_configuration(const std::string& device) {
  if (device_text(device) == "auto") return "nv_full";
  return configuration_of(device).name;
}

ImportedModel load_model(const std::string& path, const std::string& configuration,
                         const ModelOptions& options, bool check) {
  ImportOptions import;
  for (const std::string& shape : options.shapes) import.shapes.push_back(parse_shape(shape));
  import.outputs = options.outputs;
  import.cpu = parse_cpu(options.cpu);
  import.check = check;
  try {
    return import_model(path, configuration_info(configuration), import);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

void print_notices(const ImportedModel& model) {
  for (const std::string& notice : model.notices) program::print(stderr, "nvdla: {}\n", notice);
}

}  // namespace nvdla::cli
