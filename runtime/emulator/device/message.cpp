// SPDX-License-Identifier: MIT
#include "emulator/device/message.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "emulator/device/stream.hpp"

namespace nvdla::emulator {
namespace {

constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kSysmemBytes = kMaxDescriptors * 24;
constexpr std::size_t kConfigBytes = 12;
constexpr std::size_t kBarAccessBytes = 24;

using Payload = std::array<unsigned char, kSysmemBytes>;

const char* name(Command command) {
  switch (command) {
    case Command::kSyncSysmem:
      return "SYNC_SYSMEM";
    case Command::kReturn:
      return "RET";
    case Command::kConfigWrite:
      return "PCI_CFGWRITE";
    case Command::kConfigRead:
      return "PCI_CFGREAD";
    case Command::kBarWrite:
      return "BAR_WRITE";
    case Command::kBarRead:
      return "BAR_READ";
    case Command::kSetIrqFd:
      return "SET_IRQFD";
    case Command::kDeviceReset:
      return "DEVICE_RESET";
  }
  return "unknown";
}

// The payload and the descriptors that a command must have.
struct Shape {
  std::size_t payload;
  std::size_t min_descriptors;
  std::size_t max_descriptors;
};

Shape shape(std::int32_t command) {
  switch (static_cast<Command>(command)) {
    case Command::kSyncSysmem:
      return {kSysmemBytes, 0, kMaxDescriptors};
    case Command::kConfigWrite:
    case Command::kConfigRead:
      return {kConfigBytes, 0, 0};
    case Command::kBarWrite:
    case Command::kBarRead:
      return {kBarAccessBytes, 0, 0};
    case Command::kSetIrqFd:
      return {0, 2, 2};
    case Command::kDeviceReset:
      return {0, 0, 0};
    case Command::kReturn:
      throw ProtocolError("RET received: the device process only sends it");
  }
  throw ProtocolError(fmt::format("unknown command {}: QEMU 7.2 sends 0 to 7", command));
}

std::vector<MemoryRange> memory_ranges(const Payload& payload,
                                       std::vector<Descriptor> descriptors) {
  std::vector<MemoryRange> ranges;
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    MemoryRange range;
    range.address = field<std::uint64_t>(payload, 8 * i);
    range.size = field<std::uint64_t>(payload, 64 + 8 * i);
    const auto offset = field<std::int64_t>(payload, 128 + 8 * i);
    if (range.size == 0) throw ProtocolError(fmt::format("SYNC_SYSMEM: range {} is empty", i));
    if (range.address + (range.size - 1) < range.address)
      throw ProtocolError(fmt::format("SYNC_SYSMEM: range {}, {:#x} + {:#x}, leaves 64 bits", i,
                                      range.address, range.size));
    if (offset < 0)
      throw ProtocolError(fmt::format("SYNC_SYSMEM: range {} has offset {}", i, offset));
    range.offset = static_cast<std::uint64_t>(offset);
    range.file = std::move(descriptors[i]);
    ranges.push_back(std::move(range));
  }
  return ranges;
}

ConfigAccess config_access(const Payload& payload) {
  const auto length = field<std::int32_t>(payload, 8);
  if (length != 1 && length != 2 && length != 4)
    throw ProtocolError(
        fmt::format("configuration access of {} bytes: 1, 2 or 4 are right", length));
  return {field<std::uint32_t>(payload, 0), field<std::uint32_t>(payload, 4),
          static_cast<std::uint32_t>(length)};
}

BarAccess bar_access(const Payload& payload) {
  const BarAccess access{field<std::uint64_t>(payload, 0), field<std::uint64_t>(payload, 8),
                         field<std::uint32_t>(payload, 16), field<std::uint8_t>(payload, 20) != 0};
  if (access.size != 1 && access.size != 2 && access.size != 4 && access.size != 8)
    throw ProtocolError(
        fmt::format("register access of {} bytes: 1, 2, 4 or 8 are right", access.size));
  return access;
}

}  // namespace

std::optional<Message> receive(int socket) {
  std::array<unsigned char, kHeaderBytes> header;
  std::vector<Descriptor> descriptors;
  if (!read_header(socket, header, descriptors)) return std::nullopt;

  const auto number = field<std::int32_t>(header, 0);
  const auto size = field<std::uint64_t>(header, 8);
  const Shape expected = shape(number);
  const auto command = static_cast<Command>(number);
  if (size != expected.payload)
    throw ProtocolError(fmt::format("{}: payload of {} bytes, {} are right", name(command), size,
                                    expected.payload));
  if (descriptors.size() < expected.min_descriptors ||
      descriptors.size() > expected.max_descriptors)
    throw ProtocolError(fmt::format("{}: {} descriptors, {} to {} are right", name(command),
                                    descriptors.size(), expected.min_descriptors,
                                    expected.max_descriptors));

  Payload payload{};
  const std::size_t body = read_bytes(socket, std::span(payload).first(expected.payload));
  if (body < expected.payload)
    throw ProtocolError(fmt::format("{}: the stream ends after {} bytes of a payload of {}",
                                    name(command), body, expected.payload));

  Message message;
  message.command = command;
  switch (command) {
    case Command::kSyncSysmem:
      message.body = memory_ranges(payload, std::move(descriptors));
      break;
    case Command::kConfigWrite:
    case Command::kConfigRead:
      message.body = config_access(payload);
      break;
    case Command::kBarWrite:
    case Command::kBarRead:
      message.body = bar_access(payload);
      break;
    case Command::kSetIrqFd:     // its descriptors reach KVM only: dropped
    case Command::kDeviceReset:  // nothing more to know
    case Command::kReturn:
      break;
  }
  return message;
}

void reply(int socket, std::uint64_t value) {
  std::array<unsigned char, kHeaderBytes + 8> bytes{};
  put(bytes, 0, static_cast<std::int32_t>(Command::kReturn));
  put(bytes, 8, std::uint64_t{8});
  put(bytes, kHeaderBytes, value);
  write_bytes(socket, bytes);
}

}  // namespace nvdla::emulator
