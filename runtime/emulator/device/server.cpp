// SPDX-License-Identifier: MIT
#include <utility>
#include <variant>

#include "emulator/device/function.hpp"
#include "emulator/device/message.hpp"

namespace nvdla::emulator {

void serve(int socket, Function& function) {
  while (std::optional<Message> message = receive(socket)) {
    switch (message->command) {
      case Command::kSyncSysmem:
        function.replace_memory(std::get<std::vector<MemoryRange>>(std::move(message->body)));
        break;
      case Command::kConfigRead: {
        const auto access = std::get<ConfigAccess>(message->body);
        reply(socket, function.config_read(access.address, access.length));
        break;
      }
      case Command::kConfigWrite: {
        const auto access = std::get<ConfigAccess>(message->body);
        function.config_write(access.address, access.value, access.length);
        reply(socket, 0);
        break;
      }
      case Command::kBarRead: {
        const auto access = std::get<BarAccess>(message->body);
        reply(socket, function.bar_read(access.address, access.size));
        break;
      }
      case Command::kBarWrite: {
        const auto access = std::get<BarAccess>(message->body);
        function.bar_write(access.address, access.value, access.size);
        reply(socket, 0);
        break;
      }
      case Command::kDeviceReset:
        function.reset();
        reply(socket, 0);
        break;
      case Command::kSetIrqFd:  // reaches a KVM interrupt chip only
      case Command::kReturn:
        break;
    }
  }
}

}  // namespace nvdla::emulator
