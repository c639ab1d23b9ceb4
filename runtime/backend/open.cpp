// SPDX-License-Identifier: MIT
//
// From the name of a device to its backend.
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "backend/backend.hpp"
#include "backend/info.hpp"
#include "backend/kernel/kernel_backend.hpp"
#include "backend/kernel/node.hpp"
#include "backend/model/model_backend.hpp"
#include "base/check.hpp"
#include "firmware/nvdla_hw.h"
#include "model/device.hpp"

namespace nvdla::detail {
namespace {

constexpr std::string_view kModel = "model";
constexpr std::string_view kAuto = "auto";
constexpr const char* kDefaultConfiguration = "nv_full";
constexpr const char* kVariable = "NVDLA_DEVICE";

std::string configurations() {
  std::string names;
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    names += (i == 0 ? "" : ", ") + std::string(nvdla_hw_get(i)->name);
  }
  return names;
}

// What stands behind the commas of a model's name.
struct ModelOptions {
  unsigned threads = 0;  // 0: one for each processor
  bool gating = true;    // where the configuration has it
};

// A number from 1 to the most, or 0.
unsigned parse_threads(std::string_view text) {
  unsigned threads = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, threads);
  return error == std::errc() && stop == end && threads <= model::kMaxThreads ? threads : 0;
}

// One option, which changes what it names.
bool parse_option(std::string_view option, ModelOptions& options) {
  constexpr std::string_view kThreads = "threads=";
  if (option.starts_with(kThreads)) {
    options.threads = parse_threads(option.substr(kThreads.size()));
    return options.threads != 0;
  }
  options.gating = option != "gating=off";
  return !options.gating || option == "gating=on";
}

ModelOptions parse_options(std::string_view name, std::size_t comma) {
  ModelOptions options;
  while (comma != name.npos) {
    const std::size_t next = name.find(',', comma + 1);
    const std::string_view option = name.substr(comma + 1, next - comma - 1);
    if (!parse_option(option, options)) {
      refuse(ErrorCode::kNoDevice,
             "device '{}': expected 'threads=<1 to {}>' or 'gating=<on or off>' behind the comma, "
             "not '{}'",
             name, model::kMaxThreads, option);
    }
    comma = next;
  }
  return options;
}

// "model[:<configuration>][,threads=<n>][,gating=off]"
std::shared_ptr<Backend> open_model(std::string_view name) {
  const std::size_t comma = name.find(',');
  const ModelOptions options = parse_options(name, comma);
  const std::string_view behind = name.substr(kModel.size(), comma - kModel.size());
  const std::string_view configuration = behind.empty() ? kDefaultConfiguration : behind.substr(1);
  const nvdla_hw* hw = find_configuration(configuration);
  if (hw == nullptr) {
    refuse(ErrorCode::kNoDevice, "device '{}': no configuration is called '{}'; there are {}", name,
           configuration, configurations());
  }
  try {
    return make_model_backend(options.gating ? *hw : without_weight_gating(*hw), options.threads);
  } catch (const std::invalid_argument& error) {
    refuse(ErrorCode::kNoDevice, "device '{}': {}", name, error.what());
  }
}

// Whether what follows "model" in a name can belong to it.
bool names_model(std::string_view name) {
  return name.starts_with(kModel) &&
         (name.size() == kModel.size() || name[kModel.size()] == ':' || name[kModel.size()] == ',');
}

std::shared_ptr<Backend> open_named(std::string_view name) {
  if (names_model(name)) return open_model(name);
  if (name.starts_with("/dev/")) return make_kernel_backend(name);
  refuse(
      ErrorCode::kNoDevice,
      "no device is called '{}'; valid are 'auto', a kernel device such as /dev/accel/accel0, "
      "'model' and 'model:<configuration>' with one of {}; 'model' may end in ',threads=<n>' and "
      "',gating=off'",
      name, configurations());
}

}  // namespace

std::shared_ptr<Backend> open_backend(std::string_view name) {
  if (name != kAuto) return open_named(name);
  if (const char* value = std::getenv(kVariable); value != nullptr && *value != '\0') {
    if (value == kAuto) {
      refuse(ErrorCode::kNoDevice, "{} says 'auto', which is what it is asked to replace",
             kVariable);
    }
    try {
      return open_named(value);
    } catch (const Error& error) {
      throw Error(static_cast<ErrorCode>(error.code().value()),
                  std::string(kVariable) + ": " + error.what());
    }
  }
  if (const auto devices = find_kernel_devices(); !devices.empty()) {
    return make_kernel_backend(devices.front());
  }
  std::fprintf(stderr, "nvdla: no NVDLA found, using the device model of %s\n",
               kDefaultConfiguration);
  return open_model(kModel);
}

DeviceId new_device_id() noexcept {
  static std::atomic<DeviceId> last{0};
  return ++last;
}

}  // namespace nvdla::detail
