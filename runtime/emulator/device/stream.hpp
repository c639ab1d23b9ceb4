// SPDX-License-Identifier: MIT
//
// Bytes, and descriptors with them, over a stream socket whose peer may go away at any time; and
// numbers in such bytes, in the machine's byte order as all these protocols have them.
#ifndef NVDLA_EMULATOR_DEVICE_STREAM_HPP
#define NVDLA_EMULATOR_DEVICE_STREAM_HPP

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/descriptor.hpp"

namespace nvdla::emulator {

using detail::Descriptor;

// The peer broke the protocol, or went away within a message.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// No message brings more.
inline constexpr std::size_t kMaxDescriptors = 8;

// Reads `bytes` or up to the end of the stream; says how many it got. With `descriptors` also those
// that come with the first of these bytes. Throws ProtocolError.
std::size_t read_bytes(int socket, std::span<unsigned char> bytes);
std::size_t read_bytes(int socket, std::span<unsigned char> bytes,
                       std::vector<Descriptor>& descriptors);

// The same for the start of a message: all of it, or false where the stream ends before it.
bool read_header(int socket, std::span<unsigned char> header, std::vector<Descriptor>& descriptors);

// Writes all of `bytes`, or nothing more once the peer is gone: the next read says so. Throws
// ProtocolError.
void write_bytes(int socket, std::span<const unsigned char> bytes);

template <typename T>
T field(std::span<const unsigned char> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

template <typename T>
void put(std::span<unsigned char> bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_STREAM_HPP
