// SPDX-License-Identifier: MIT
#include "tools/cli/input/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "backend/info.hpp"
#include "backend/kernel/kernel_backend.hpp"
#include "backend/kernel/node.hpp"
#include "backend/name/device_name.hpp"
#include "backend/open/open_registers.hpp"
#include "backend/registers/identify.hpp"
#include "nvdla/device.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"

namespace nvdla::cli {

const nvdla_hw& configuration_of(const std::string& device) {
  using detail::DeviceName;
  const DeviceName name = detail::choose_device_name(device);
  if (name.kind == DeviceName::Kind::kModel) return *name.hw;
  if (name.kind == DeviceName::Kind::kAuto && detail::find_kernel_devices().empty()) {
    return detail::default_configuration();
  }
  if (name.kind == DeviceName::Kind::kSim) {
    return *detail::find_configuration(Device::open(device, program::open_options()).info());
  }
  if (name.kind == DeviceName::Kind::kMmio) {
    // Its registers say it, and nobody's work is disturbed.
    return detail::identify(*detail::open_bare(device_text(device)), name.hw);
  }
  const Device opened = Device::open(name.path.empty() ? "kernel" : name.path);
  return *detail::find_configuration(opened.info().configuration);
}

std::string device_text(const std::string& device) {
  const char* const variable = std::getenv("NVDLA_DEVICE");
  return device == "auto" && variable != nullptr && *variable != '\0' ? variable : device;
}

std::string model_for(const Loadable& file) {
  const std::string device(file.device());
  if (detail::is_model_name(device)) return device;
  return file.configurations() == 0 ? std::string()
                                    : fmt::format("model:{}", file.configuration(0));
}

std::string choose_device(const Loadable& file, const std::string& asked) {
  if (detail::choose_device_name(asked).kind != detail::DeviceName::Kind::kAuto) return asked;
  std::vector<std::string_view> made_for;
  for (std::uint32_t i = 0; i < file.configurations(); ++i)
    made_for.push_back(file.configuration(i));
  const std::string model = model_for(file);
  if (model.empty()) return asked;
  for (const std::string& path : detail::find_kernel_devices()) {
    const std::string_view found = detail::describe_kernel_device(path).hw->name;
    if (std::find(made_for.begin(), made_for.end(), found) != made_for.end()) return path;
  }
  return model;
}

void print_other_memory(const Loadable& file, const std::string& device) {
  const detail::DeviceName name = detail::choose_device_name(device);
  const std::string model(file.device());
  if (name.kind != detail::DeviceName::Kind::kModel || !detail::is_model_name(model)) return;
  const auto memory_of = [](const detail::DeviceName& of) {
    return detail::model_name(*of.hw, detail::memory_speed(of.options.memory));
  };
  const std::string here = memory_of(name), there = memory_of(detail::parse_device_name(model));
  if (here == there) return;
  program::print(stderr,
                 "nvdla: the layers of the file were chosen for {}, and this is {}: the results "
                 "are the same, but other layers may be faster\n",
                 there, here);
}

}  // namespace nvdla::cli
