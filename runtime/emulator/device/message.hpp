// SPDX-License-Identifier: MIT
//
// Messages between QEMU's x-pci-proxy-dev and the device process (QEMU 7.2): a header of 16 bytes
// {i32 command, padding, u64 payload size}, a payload, and descriptors that travel with the header.
// Everything received is checked here; who gets a Message may rely on its shape.
#ifndef NVDLA_EMULATOR_DEVICE_MESSAGE_HPP
#define NVDLA_EMULATOR_DEVICE_MESSAGE_HPP

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "emulator/device/stream.hpp"

namespace nvdla::emulator {

enum class Command : std::int32_t {
  kSyncSysmem = 0,
  kReturn = 1,
  kConfigWrite = 2,
  kConfigRead = 3,
  kBarWrite = 4,
  kBarRead = 5,
  kSetIrqFd = 6,
  kDeviceReset = 7,
};

// Guest memory `address`, `size` is found at `offset` of `file`.
struct MemoryRange {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  Descriptor file;
};

struct ConfigAccess {
  std::uint32_t address = 0;
  std::uint32_t value = 0;
  std::uint32_t length = 0;  // 1, 2 or 4
};

struct BarAccess {
  std::uint64_t address = 0;  // guest physical
  std::uint64_t value = 0;
  std::uint32_t size = 0;  // 1, 2, 4 or 8
  bool memory = false;     // not an I/O port
};

struct Message {
  Command command = Command::kReturn;
  std::variant<std::monostate, std::vector<MemoryRange>, ConfigAccess, BarAccess> body;
};

// The next message; nothing once the peer has closed the stream between two messages.
std::optional<Message> receive(int socket);

// Answers a message that wants a reply.
void reply(int socket, std::uint64_t value);

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_MESSAGE_HPP
