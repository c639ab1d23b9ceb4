// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "tools/cli/commands.hpp"

namespace nvdla::cli {

std::string known_devices() {
  std::string names;
  for (u32 i = 0; i < nvdla_hw_count(); ++i)
    names += fmt::format("{}model:{}", i ? ", " : "", nvdla_hw_get(i)->name);
  return names;
}

const nvdla_hw& model_configuration(const std::string& device) {
  const std::string prefix = "model:";
  if (device.starts_with(prefix))
    if (const nvdla_hw* hw = nvdla_hw_find(device.c_str() + prefix.size())) return *hw;
  throw UsageError(fmt::format("unknown device '{}'; expected one of {}", device, known_devices()));
}

}  // namespace nvdla::cli
