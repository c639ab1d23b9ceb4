// SPDX-License-Identifier: MIT
//
// The `nvdla` command, linked so that "model:nv_small,threads=7" is a device with a fault: where it
// adds 2 it adds 3.
#include <string_view>

#include "common/runtime/other_device.hpp"

nvdla::Device open_as_it_is(std::string_view name) asm("__real_" DEVICE_OPEN);
nvdla::Device open_as_it_is(std::string_view name, const nvdla::OpenOptions& options) asm(
    "__real_" DEVICE_OPEN_WITH_OPTIONS);
nvdla::Device open_with_faults(std::string_view name) asm("__wrap_" DEVICE_OPEN);
nvdla::Device open_with_faults(std::string_view name, const nvdla::OpenOptions& options) asm(
    "__wrap_" DEVICE_OPEN_WITH_OPTIONS);

namespace {

constexpr std::string_view kName = "model:nv_small,threads=7";

nvdla::Device with_faults() {
  return nvdla::test::other_device(kName, [](nvdla_layer& layer) {
    if (layer.sdp.x1.alu_value == 2) layer.sdp.x1.alu_value = 3;
  });
}

}  // namespace

nvdla::Device open_with_faults(std::string_view name) {
  return name == kName ? with_faults() : open_as_it_is(name);
}

nvdla::Device open_with_faults(std::string_view name, const nvdla::OpenOptions& options) {
  return name == kName ? with_faults() : open_as_it_is(name, options);
}
