// SPDX-License-Identifier: MIT
#include "emulator/device/stream.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>

namespace nvdla::emulator {
namespace {

std::string system_message(const char* what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
}

// The peer may end at any time, an answer unread.
bool gone(ssize_t result) { return result < 0 && (errno == ECONNRESET || errno == EPIPE); }

}  // namespace

std::size_t read_bytes(int socket, std::span<unsigned char> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::recv(socket, bytes.data() + done, bytes.size() - done, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0 || gone(count)) break;
    if (count < 0) throw ProtocolError(system_message("reading a message"));
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::size_t read_bytes(int socket, std::span<unsigned char> bytes,
                       std::vector<Descriptor>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control;
  iovec vector{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count;
  do {
    count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (gone(count)) return 0;
  if (count < 0) throw ProtocolError(system_message("reading a message"));
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t numbers = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < numbers; ++i) {
      int number;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(number);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0)
    throw ProtocolError(fmt::format("more than {} descriptors with one message", kMaxDescriptors));
  const std::size_t done = static_cast<std::size_t>(count);
  if (done == 0) return 0;
  return done + read_bytes(socket, bytes.subspan(done));
}

bool read_header(int socket, std::span<unsigned char> header,
                 std::vector<Descriptor>& descriptors) {
  const std::size_t got = read_bytes(socket, header, descriptors);
  if (got != 0 && got < header.size())
    throw ProtocolError(
        fmt::format("the stream ends after {} bytes of a header of {}", got, header.size()));
  return got != 0;
}

void write_bytes(int socket, std::span<const unsigned char> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (gone(count)) return;
    if (count < 0) throw ProtocolError(system_message("answering a message"));
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace nvdla::emulator
