// SPDX-License-Identifier: MIT
#include "emulator/device/platform.hpp"

#include <linux/pci_regs.h>

#include "emulator/device/log.hpp"
#include "emulator/device/message.hpp"

namespace nvdla::emulator {

Platform::Platform(Function& function) : function_(function) { release(); }

// Registers at offset 0 of the window, DMA, and INTA for the interrupt.
void Platform::release() {
  function_.config_write(PCI_BASE_ADDRESS_0, 0, 4);
  function_.config_write(PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
}

// Without power it is as in reset.
void Platform::hold(bool in_reset, bool powered) {
  const bool held = in_reset_ || !powered_;
  if (in_reset != in_reset_) log("reset line {}", in_reset ? "asserted" : "released");
  if (powered != powered_) log("power switched {}", powered ? "on" : "off");
  in_reset_ = in_reset;
  powered_ = powered;
  if ((in_reset || !powered) == held) return;
  if (held) {
    release();
  } else {
    function_.reset();
  }
}

std::uint64_t Platform::read(std::uint64_t offset, std::uint32_t size) {
  if (offset < kPlatformReset) return function_.bar_read(offset, size);
  if (offset == kPlatformReset) return in_reset_ ? 1 : 0;
  if (offset == kPlatformPower) return powered_ ? 1 : 0;
  if (offset >= kPlatformConfig && size <= 4)
    return function_.config_read(static_cast<std::uint32_t>(offset - kPlatformConfig), size);
  return ~std::uint64_t{0};
}

void Platform::write(std::uint64_t offset, std::uint64_t value, std::uint32_t size) {
  if (offset < kPlatformReset) {
    function_.bar_write(offset, value, size);
  } else if (offset == kPlatformReset) {
    hold((value & 1) != 0, powered_);
  } else if (offset == kPlatformPower) {
    hold(in_reset_, (value & 1) != 0);
  } else if (offset >= kPlatformConfig && size <= 4) {
    function_.config_write(static_cast<std::uint32_t>(offset - kPlatformConfig),
                           static_cast<std::uint32_t>(value), size);
  }
}

void serve(int socket, Platform& platform) {
  while (const std::optional<Message> message = receive(socket)) {
    const BarAccess* access = std::get_if<BarAccess>(&message->body);
    if (access == nullptr) throw ProtocolError("the window's plugin sends register accesses only");
    std::uint64_t value = 0;
    if (message->command == Command::kBarRead) {
      value = platform.read(access->address, access->size);
    } else {
      platform.write(access->address, access->value, access->size);
    }
    reply(socket, value);
  }
}

}  // namespace nvdla::emulator
