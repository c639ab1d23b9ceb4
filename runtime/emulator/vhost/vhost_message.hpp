// SPDX-License-Identifier: MIT
//
// Messages of vhost-user, as User-mode Linux (virtio_uml) sends them: a header of 12 bytes {u32
// request, u32 flags, u32 payload size}, a payload, and descriptors that travel with the header.
// Everything received is checked here; who gets a VhostMessage may rely on its shape.
#ifndef NVDLA_EMULATOR_VHOST_MESSAGE_HPP
#define NVDLA_EMULATOR_VHOST_MESSAGE_HPP

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "emulator/device/message.hpp"
#include "emulator/device/stream.hpp"

namespace nvdla::emulator {

enum class VhostRequest : std::uint32_t {
  kGetFeatures = 1,
  kSetFeatures = 2,
  kSetOwner = 3,
  kSetMemTable = 5,
  kSetVringNum = 8,
  kSetVringAddr = 9,
  kSetVringBase = 10,
  kGetProtocolFeatures = 15,
  kSetProtocolFeatures = 16,
  kSetVringEnable = 18,
  kSetSlaveReqFd = 21,
  kVringKick = 35,
};

struct VringState {
  std::uint32_t index = 0;
  std::uint32_t number = 0;
};

struct VringAddress {
  std::uint32_t index = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t used = 0;
  std::uint64_t available = 0;
};

struct VhostMessage {
  VhostRequest request = VhostRequest::kSetOwner;
  std::variant<std::monostate, std::uint64_t, VringState, VringAddress, std::vector<MemoryRange>,
               Descriptor>
      body;
};

// The next message; nothing once the peer has closed the stream between two messages. Throws
// ProtocolError.
std::optional<VhostMessage> receive_vhost(int socket);

// Answers GET_FEATURES and GET_PROTOCOL_FEATURES.
void reply_vhost(int socket, VhostRequest request, std::uint64_t value);

// Tells the guest, by the descriptor of SET_SLAVE_REQ_FD, that a queue has news for it.
void call_vhost(int socket, std::uint32_t queue);

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_VHOST_MESSAGE_HPP
