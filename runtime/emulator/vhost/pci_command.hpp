// SPDX-License-Identifier: MIT
//
// What the guest asks a PCI function for in a chain of a virtqueue (<linux/virtio_pcidev.h>).
#ifndef NVDLA_EMULATOR_PCI_COMMAND_HPP
#define NVDLA_EMULATOR_PCI_COMMAND_HPP

#include <cstddef>

#include "emulator/device/function.hpp"
#include "emulator/vhost/virtqueue.hpp"

namespace nvdla::emulator {

// Does it, and says how many bytes of the answer are in the chain. Throws ProtocolError.
std::size_t run_command(const Virtqueue::Chain& chain, Function& function);

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_PCI_COMMAND_HPP
