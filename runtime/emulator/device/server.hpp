// SPDX-License-Identifier: MIT
//
// Answers QEMU's messages about one function until QEMU goes away.
#ifndef NVDLA_EMULATOR_DEVICE_SERVER_HPP
#define NVDLA_EMULATOR_DEVICE_SERVER_HPP

#include "emulator/device/function.hpp"

namespace nvdla::emulator {

// Throws ProtocolError when a message is not right.
void serve(int socket, Function& function);

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_SERVER_HPP
