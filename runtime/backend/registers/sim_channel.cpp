// SPDX-License-Identifier: MIT
#include "backend/registers/sim_channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sim/nvdla_sim_protocol.h"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

const char* connect_hint(int error) {
  switch (error) {
    case ENOENT:
      return ": no simulator made its socket there yet";
    case ECONNREFUSED:
      return ": the simulator that made the socket has ended";
    case EAGAIN:
      return ": the simulator serves somebody else";
    default:
      return "";
  }
}

}  // namespace

void put_number(SimBytes& bytes, std::uint32_t number) {
  for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<unsigned char>(number >> (8 * i)));
}

void put_number(SimBytes& bytes, std::uint64_t number) {
  for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<unsigned char>(number >> (8 * i)));
}

std::uint32_t get_word(std::span<const unsigned char> bytes, std::size_t at) noexcept {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i) word |= std::uint32_t{bytes[at + i]} << (8 * i);
  return word;
}

std::uint64_t get_long(std::span<const unsigned char> bytes, std::size_t at) noexcept {
  return get_word(bytes, at) | std::uint64_t{get_word(bytes, at + 4)} << 32;
}

SimChannel::SimChannel(std::string name, const std::string& path, std::chrono::seconds stall)
    : name_(std::move(name)), stall_(stall) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw_error(ErrorCode::kNoDevice, "{}: the path of a socket has less than {} bytes", name_,
                sizeof(address.sun_path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  socket_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Bounds the time that connect() waits while the simulator serves other clients.
  const timeval limit = {.tv_sec = stall_.count(), .tv_usec = 0};
  if (socket_.get() < 0 ||
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0 ||
      ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const int error = errno;
    throw_error(ErrorCode::kNoDevice, "{}: {}{}", name_, std::strerror(error), connect_hint(error));
  }
}

void SimChannel::fail(std::string_view what) const {
  throw Error(ErrorCode::kGone, fmt::format("{}: {}", name_, what));
}

void SimChannel::stalled() const {
  fail(
      fmt::format("the simulator gave no sign of life for {} s (stall=<seconds> sets how long): "
                  "is it stopped, or busy with somebody else?",
                  stall_.count()));
}

bool SimChannel::ready(short events, Clock::time_point until) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd wait = {.fd = socket_.get(), .events = events, .revents = 0};
    const int count = ::poll(&wait, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000)));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) fail(std::strerror(errno));
    if (left <= 0) return false;
  }
}

void SimChannel::send(std::uint32_t type, std::span<const unsigned char> payload, int file) {
  SimBytes message;
  message.reserve(NVDLA_SIM_HEADER_BYTES + payload.size());
  put_number(message, type);
  put_number(message, static_cast<std::uint32_t>(payload.size()));
  message.insert(message.end(), payload.begin(), payload.end());

  const auto until = Clock::now() + stall_;
  for (std::size_t done = 0; done < message.size();) {
    if (!ready(POLLOUT, until)) stalled();
    iovec part = {.iov_base = message.data() + done, .iov_len = message.size() - done};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (file >= 0 && done == 0) {
      header.msg_control = control;
      header.msg_controllen = sizeof(control);
      cmsghdr* const rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(rights), &file, sizeof(int));
    }
    const ssize_t count = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    // The simulator's last message, still to be received, may state why it closed the connection.
    if (count < 0 && (errno == EPIPE || errno == ECONNRESET)) return;
    if (count < 0) fail(std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
}

void SimChannel::read(std::span<unsigned char> bytes, Clock::time_point until, bool first) {
  for (std::size_t done = 0; done < bytes.size();) {
    if (!ready(POLLIN, until)) stalled();
    const ssize_t count =
        ::recv(socket_.get(), bytes.data() + done, bytes.size() - done, MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0 && errno != ECONNRESET) fail(std::strerror(errno));
    if (count <= 0) {
      fail(first && done == 0 ? "the simulator closed the connection"
                              : "the simulator closed the connection in the middle of a message");
    }
    done += static_cast<std::size_t>(count);
  }
}

SimChannel::Message SimChannel::receive() {
  const auto until = Clock::now() + stall_;
  unsigned char header[NVDLA_SIM_HEADER_BYTES];
  read(header, until, true);
  Message message{.type = get_word(header, 0)};
  const std::uint32_t size = get_word(header, 4);
  if (size > NVDLA_SIM_MAX_PAYLOAD) {
    fail(fmt::format("the simulator sent message {} of {} bytes; {} are the most", message.type,
                     size, NVDLA_SIM_MAX_PAYLOAD));
  }
  message.payload.resize(size);
  read(message.payload, until, false);
  return message;
}

}  // namespace nvdla::detail
