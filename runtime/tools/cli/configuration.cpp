// SPDX-License-Identifier: MIT
#include "tools/cli/configuration.hpp"

#include "backend/device_name.hpp"
#include "backend/info.hpp"
#include "backend/kernel/node.hpp"
#include "nvdla/device.hpp"

namespace nvdla::cli {

const nvdla_hw& configuration_of(const std::string& device) {
  using detail::DeviceName;
  const DeviceName name = detail::choose_device_name(device);
  if (name.kind == DeviceName::Kind::kModel) return *name.hw;
  if (name.kind == DeviceName::Kind::kAuto && detail::find_kernel_devices().empty()) {
    return detail::default_configuration();
  }
  if (name.kind == DeviceName::Kind::kSim) {
    return *detail::find_configuration(Device::open(device).info());
  }
  const Device opened = Device::open(name.path.empty() ? "kernel" : name.path);
  return *detail::find_configuration(opened.info().configuration);
}

}  // namespace nvdla::cli
