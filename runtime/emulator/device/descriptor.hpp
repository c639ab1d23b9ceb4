// SPDX-License-Identifier: MIT
#ifndef NVDLA_EMULATOR_DEVICE_DESCRIPTOR_HPP
#define NVDLA_EMULATOR_DEVICE_DESCRIPTOR_HPP

#include "support/descriptor.hpp"

namespace nvdla::emulator {

using detail::Descriptor;

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_DESCRIPTOR_HPP
