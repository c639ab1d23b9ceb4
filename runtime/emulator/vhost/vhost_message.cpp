// SPDX-License-Identifier: MIT
#include "emulator/vhost/vhost_message.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

namespace nvdla::emulator {
namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kTableBytes = 8;
constexpr std::size_t kRegionBytes = 32;
constexpr std::size_t kMaxPayload = kTableBytes + kMaxDescriptors * kRegionBytes;
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kReplyFlag = 1u << 2;
constexpr std::uint32_t kVringCall = 4;  // towards the guest

using Payload = std::span<const unsigned char>;

// The name of a request, and the payload and descriptors that it must have.
struct Shape {
  VhostRequest request;
  const char* name;
  std::size_t payload;
  std::size_t descriptors;
};
constexpr Shape kShapes[] = {
    {VhostRequest::kGetFeatures, "GET_FEATURES", 0, 0},
    {VhostRequest::kSetFeatures, "SET_FEATURES", 8, 0},
    {VhostRequest::kSetOwner, "SET_OWNER", 0, 0},
    // Has room for more regions than there are, with a descriptor for each.
    {VhostRequest::kSetMemTable, "SET_MEM_TABLE", kMaxPayload, kMaxDescriptors},
    {VhostRequest::kSetVringNum, "SET_VRING_NUM", 8, 0},
    {VhostRequest::kSetVringAddr, "SET_VRING_ADDR", 40, 0},
    {VhostRequest::kSetVringBase, "SET_VRING_BASE", 8, 0},
    {VhostRequest::kGetProtocolFeatures, "GET_PROTOCOL_FEATURES", 0, 0},
    {VhostRequest::kSetProtocolFeatures, "SET_PROTOCOL_FEATURES", 8, 0},
    {VhostRequest::kSetVringEnable, "SET_VRING_ENABLE", 8, 0},
    {VhostRequest::kSetSlaveReqFd, "SET_SLAVE_REQ_FD", 0, 1},
    {VhostRequest::kVringKick, "VRING_KICK", 8, 0},
};

const Shape& shape(std::uint32_t request) {
  for (const Shape& known : kShapes)
    if (static_cast<std::uint32_t>(known.request) == request) return known;
  throw ProtocolError(fmt::format(
      "vhost-user request {}: unknown, or of a feature that the device does not offer", request));
}

void check_shape(const Shape& expected, std::size_t size, std::size_t descriptors) {
  if (expected.request == VhostRequest::kSetMemTable) {
    if (size < kTableBytes || size > kMaxPayload || (size - kTableBytes) % kRegionBytes != 0)
      throw ProtocolError(fmt::format(
          "SET_MEM_TABLE: payload of {} bytes, {} and {} for each of at most {} regions are right",
          size, kTableBytes, kRegionBytes, kMaxDescriptors));
    return;
  }
  if (size != expected.payload)
    throw ProtocolError(fmt::format("{}: payload of {} bytes, {} are right", expected.name, size,
                                    expected.payload));
  if (descriptors != expected.descriptors)
    throw ProtocolError(fmt::format("{}: {} descriptors, {} are right", expected.name, descriptors,
                                    expected.descriptors));
}

std::vector<MemoryRange> memory_ranges(Payload payload, std::vector<Descriptor> descriptors) {
  const auto count = field<std::uint32_t>(payload, 0);
  const std::size_t room = (payload.size() - kTableBytes) / kRegionBytes;
  if (count > room || count != descriptors.size())
    throw ProtocolError(
        fmt::format("SET_MEM_TABLE: {} regions with {} descriptors in a payload for {}", count,
                    descriptors.size(), room));
  std::vector<MemoryRange> ranges;
  for (std::size_t i = 0; i < count; ++i) {
    const Payload region = payload.subspan(kTableBytes + i * kRegionBytes, kRegionBytes);
    MemoryRange range;
    range.address = field<std::uint64_t>(region, 0);
    range.size = field<std::uint64_t>(region, 8);
    const auto user = field<std::uint64_t>(region, 16);
    range.offset = field<std::uint64_t>(region, 24);
    if (range.size == 0) throw ProtocolError(fmt::format("SET_MEM_TABLE: region {} is empty", i));
    if (range.size - 1 > ~range.address || range.size - 1 > ~range.offset)
      throw ProtocolError(
          fmt::format("SET_MEM_TABLE: region {}, {:#x} bytes at {:#x}, {:#x} of "
                      "its file, leaves 64 bits",
                      i, range.size, range.address, range.offset));
    // Rings are located by user addresses, which must equal guest addresses.
    if (user != range.address)
      throw ProtocolError(
          fmt::format("SET_MEM_TABLE: region {} is at {:#x} for the guest and {:#x} for its user, "
                      "where User-mode Linux has one address",
                      i, range.address, user));
    range.file = std::move(descriptors[i]);
    ranges.push_back(std::move(range));
  }
  return ranges;
}

decltype(VhostMessage::body) body(const Shape& expected, Payload payload,
                                  std::vector<Descriptor> descriptors) {
  switch (expected.request) {
    case VhostRequest::kSetFeatures:
    case VhostRequest::kSetProtocolFeatures:
      return field<std::uint64_t>(payload, 0);
    case VhostRequest::kSetMemTable:
      return memory_ranges(payload, std::move(descriptors));
    case VhostRequest::kSetVringNum:
    case VhostRequest::kSetVringBase:
    case VhostRequest::kSetVringEnable:
    case VhostRequest::kVringKick:
      return VringState{field<std::uint32_t>(payload, 0), field<std::uint32_t>(payload, 4)};
    case VhostRequest::kSetVringAddr:
      return VringAddress{field<std::uint32_t>(payload, 0), field<std::uint64_t>(payload, 8),
                          field<std::uint64_t>(payload, 16), field<std::uint64_t>(payload, 24)};
    case VhostRequest::kSetSlaveReqFd:
      return std::move(descriptors[0]);
    case VhostRequest::kGetFeatures:
    case VhostRequest::kSetOwner:
    case VhostRequest::kGetProtocolFeatures:
      break;
  }
  return std::monostate{};
}

}  // namespace

std::optional<VhostMessage> receive_vhost(int socket) {
  std::array<unsigned char, kHeaderBytes> header;
  std::vector<Descriptor> descriptors;
  if (!read_header(socket, header, descriptors)) return std::nullopt;

  const Shape& expected = shape(field<std::uint32_t>(header, 0));
  const auto flags = field<std::uint32_t>(header, 4);
  const std::size_t size = field<std::uint32_t>(header, 8);
  if (flags != kVersion)
    throw ProtocolError(
        fmt::format("{}: flags {:#x}, {:#x} are right: version 1, no reply asked "
                    "for",
                    expected.name, flags, kVersion));
  check_shape(expected, size, descriptors.size());

  std::array<unsigned char, kMaxPayload> bytes{};
  const auto payload = std::span(bytes).first(size);
  const std::size_t read = read_bytes(socket, payload);
  if (read < size)
    throw ProtocolError(fmt::format("{}: the stream ends after {} bytes of a payload of {}",
                                    expected.name, read, size));
  return VhostMessage{expected.request, body(expected, payload, std::move(descriptors))};
}

void reply_vhost(int socket, VhostRequest request, std::uint64_t value) {
  std::array<unsigned char, kHeaderBytes + 8> bytes{};
  put(bytes, 0, static_cast<std::uint32_t>(request));
  put(bytes, 4, kVersion | kReplyFlag);
  put(bytes, 8, std::uint32_t{8});
  put(bytes, kHeaderBytes, value);
  write_bytes(socket, bytes);
}

void call_vhost(int socket, std::uint32_t queue) {
  std::array<unsigned char, kHeaderBytes + 8> bytes{};
  put(bytes, 0, kVringCall);
  put(bytes, 4, kVersion);
  put(bytes, 8, std::uint32_t{8});
  put(bytes, kHeaderBytes, queue);
  write_bytes(socket, bytes);
}

}  // namespace nvdla::emulator
