// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <linux/pci_regs.h>
#include <linux/virtio_pcidev.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "emulator/vhost/vhost_device.hpp"

namespace nvdla::emulator {
namespace {

using Bytes = std::span<const unsigned char>;

// Splits an access as a bus does: into powers of two up to `most`, each at a multiple of itself.
// Calls access(address, offset, size) for each.
template <typename Access>
void in_pieces(std::uint64_t address, std::size_t size, std::uint32_t most, Access&& access) {
  for (std::size_t offset = 0; offset < size;) {
    std::uint32_t piece = most;
    while (piece > size - offset || (address + offset) % piece != 0) piece /= 2;
    access(address + offset, offset, piece);
    offset += piece;
  }
}

std::uint64_t number(Bytes bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

// In front of the BAR's offsets, where the guest has put it.
std::uint64_t bar_address(Function& function, unsigned bar) {
  if (bar != 0)
    throw ProtocolError(fmt::format("access to BAR {}: the function has BAR 0 only", bar));
  return function.config_read(PCI_BASE_ADDRESS_0, 4) & PCI_BASE_ADDRESS_MEM_MASK;
}

std::uint32_t config_address(const virtio_pcidev_msg& command) {
  constexpr std::uint64_t kConfigBytes = 4096;
  if (command.addr >= kConfigBytes || command.size > kConfigBytes - command.addr)
    throw ProtocolError(fmt::format("{} bytes of configuration space at {:#x}: it has {}",
                                    command.size, command.addr, kConfigBytes));
  return static_cast<std::uint32_t>(command.addr);
}

std::size_t read(const virtio_pcidev_msg& command, const Virtqueue::Chain& chain,
                 Function& function) {
  if (command.size > chain.room())
    throw ProtocolError(
        fmt::format("a read of {} bytes with room for {}", command.size, chain.room()));
  std::vector<unsigned char> data(command.size);
  if (command.op == VIRTIO_PCIDEV_OP_CFG_READ) {
    in_pieces(config_address(command), data.size(), 4,
              [&](std::uint64_t address, std::size_t offset, std::uint32_t size) {
                const std::uint32_t value =
                    function.config_read(static_cast<std::uint32_t>(address), size);
                std::memcpy(data.data() + offset, &value, size);
              });
  } else {
    in_pieces(bar_address(function, command.bar) + command.addr, data.size(), 8,
              [&](std::uint64_t address, std::size_t offset, std::uint32_t size) {
                const std::uint64_t value = function.bar_read(address, size);
                std::memcpy(data.data() + offset, &value, size);
              });
  }
  chain.fill(data);
  return data.size();
}

void write(const virtio_pcidev_msg& command, Bytes data, Function& function) {
  if (command.size > data.size())
    throw ProtocolError(fmt::format("a write of {} bytes brings {}", command.size, data.size()));
  if (command.op == VIRTIO_PCIDEV_OP_CFG_WRITE) {
    in_pieces(config_address(command), command.size, 4,
              [&](std::uint64_t address, std::size_t offset, std::uint32_t size) {
                function.config_write(
                    static_cast<std::uint32_t>(address),
                    static_cast<std::uint32_t>(number(data.subspan(offset, size))), size);
              });
  } else {
    in_pieces(bar_address(function, command.bar) + command.addr, command.size, 8,
              [&](std::uint64_t address, std::size_t offset, std::uint32_t size) {
                function.bar_write(address, number(data.subspan(offset, size)), size);
              });
  }
}

}  // namespace

std::size_t run_command(const Virtqueue::Chain& chain, Function& function) {
  const Bytes bytes(chain.read);
  if (bytes.size() < sizeof(virtio_pcidev_msg))
    throw ProtocolError(fmt::format("a PCI command of {} bytes: its header has {}", bytes.size(),
                                    sizeof(virtio_pcidev_msg)));
  const auto command = field<virtio_pcidev_msg>(bytes, 0);
  const Bytes data = bytes.subspan(sizeof(virtio_pcidev_msg));
  switch (command.op) {
    case VIRTIO_PCIDEV_OP_CFG_READ:
    case VIRTIO_PCIDEV_OP_MMIO_READ:
      return read(command, chain, function);
    case VIRTIO_PCIDEV_OP_CFG_WRITE:
    case VIRTIO_PCIDEV_OP_MMIO_WRITE:
      write(command, data, function);
      return 0;
    case VIRTIO_PCIDEV_OP_MMIO_MEMSET: {
      if (data.empty()) throw ProtocolError("a PCI command to set memory brings no byte");
      if (command.size > kBarBytes)
        throw ProtocolError(
            fmt::format("a PCI command sets {} bytes: the BAR has {}", command.size, kBarBytes));
      write(command, std::vector<unsigned char>(command.size, data[0]), function);
      return 0;
    }
    default:
      throw ProtocolError(
          fmt::format("PCI command {}: 1 to 5 are right, accesses to configuration space and BARs",
                      unsigned{command.op}));
  }
}

}  // namespace nvdla::emulator
