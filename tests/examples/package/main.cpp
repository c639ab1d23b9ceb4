// SPDX-License-Identifier: MIT
//
// The least program that needs the library's headers, symbols, exceptions and
// the contract's header.
#include <drm/nvdla_layer.h>

#include <cstdio>
#include <nvdla/nvdla.hpp>

int main() {
  const nvdla::DeviceInfo info = nvdla::configuration_info("nv_small");
  std::printf("%s: atom %u\n", info.configuration.data(), info.atom);
  try {
    nvdla::configuration_info("no such configuration");
  } catch (const nvdla::Error& error) {
    std::printf("%s\n", error.what());
    return info.atom == 8 ? 0 : 1;
  }
  return 1;
}
