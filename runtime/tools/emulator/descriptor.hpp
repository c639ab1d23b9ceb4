// SPDX-License-Identifier: MIT
#ifndef NVDLA_EMULATOR_DESCRIPTOR_HPP
#define NVDLA_EMULATOR_DESCRIPTOR_HPP

#include "base/descriptor.hpp"

namespace nvdla::emulator {

using detail::Descriptor;

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DESCRIPTOR_HPP
