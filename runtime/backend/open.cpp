// SPDX-License-Identifier: MIT
//
// From the name of a device to its backend.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "backend/backend.hpp"
#include "backend/info.hpp"
#include "backend/kernel/kernel_backend.hpp"
#include "backend/kernel/node.hpp"
#include "backend/model/model_backend.hpp"
#include "core/check.hpp"
#include "firmware/nvdla_hw.h"

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

std::shared_ptr<Backend> open_model(std::string_view configuration) {
  const nvdla_hw* hw = find_configuration(configuration);
  if (hw == nullptr) {
    refuse(ErrorCode::kNoDevice, "device 'model:{}': no configuration is called '{}'; there are {}",
           configuration, configuration, configurations());
  }
  return make_model_backend(*hw);
}

std::shared_ptr<Backend> open_named(std::string_view name) {
  if (name == kModel) return open_model(kDefaultConfiguration);
  if (name.starts_with("model:")) return open_model(name.substr(kModel.size() + 1));
  if (name.starts_with("/dev/")) return make_kernel_backend(name);
  refuse(ErrorCode::kNoDevice,
         "no device is called '{}'; valid are 'auto', a kernel device such as /dev/accel/accel0, "
         "'model' and 'model:<configuration>' with one of {}",
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
  return open_model(kDefaultConfiguration);
}

DeviceId new_device_id() noexcept {
  static std::atomic<DeviceId> last{0};
  return ++last;
}

}  // namespace nvdla::detail
