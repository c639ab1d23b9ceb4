// SPDX-License-Identifier: MIT
#include "backend/kernel/describe.hpp"

#include "backend/kernel/kernel_core.hpp"

namespace nvdla::detail {

KernelDevice describe_kernel_device(std::string_view path) {
  const KernelCore core(path);
  return {core.node()->path(), &core.hw(), core.node()->driver_version(), core.info().clock_khz};
}

}  // namespace nvdla::detail
