// SPDX-License-Identifier: MIT
#include "tools/cli/input/loadable_device.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "backend/kernel/describe.hpp"
#include "backend/kernel/node.hpp"
#include "backend/name/device_name.hpp"

namespace nvdla::cli {

std::string choose_device(const Loadable& file, const std::string& asked) {
  if (detail::choose_device_name(asked).kind != detail::DeviceName::Kind::kAuto) return asked;
  std::vector<std::string_view> made_for;
  for (std::uint32_t i = 0; i < file.configurations(); ++i)
    made_for.push_back(file.configuration(i));
  if (made_for.empty()) return asked;
  for (const std::string& path : detail::find_kernel_devices()) {
    const std::string_view found = detail::describe_kernel_device(path).hw->name;
    if (std::find(made_for.begin(), made_for.end(), found) != made_for.end()) return path;
  }
  return "model:" + std::string(made_for.front());
}

}  // namespace nvdla::cli
