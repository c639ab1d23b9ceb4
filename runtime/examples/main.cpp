// SPDX-License-Identifier: MIT
//
// main() of the examples that only need a device.
#include <nvdla/nvdla.hpp>
#include <string>

#include "tools/common/program.hpp"

// The example: true if all is as expected.
bool run(const nvdla::Device& device);

int main(int argc, char** argv) {
  namespace program = nvdla::program;
  program::Program self(NVDLA_EXAMPLE, NVDLA_EXAMPLE_ABOUT);
  std::string device;
  program::add_device_option(self.app(), device,
                             "Where to run: model:nv_small, kernel, ... as "
                             "`nvdla --help` tells",
                             "DEVICE");
  self.app().footer("Examples:\n  " NVDLA_EXAMPLE "\n  " NVDLA_EXAMPLE " model:nv_full");
  return self.run(argc, argv, [&] {
    return run(nvdla::Device::open(device, program::open_options())) ? program::kSuccess
                                                                     : program::kDifferent;
  });
}
