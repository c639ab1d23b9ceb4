// SPDX-License-Identifier: MIT
//
// The bytes of docs/simulator.md on a socket, for tests of either side.
#ifndef NVDLA_TESTS_SIM_SOCKET_HPP
#define NVDLA_TESTS_SIM_SOCKET_HPP

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nvdla::sim_test {

using Bytes = std::vector<unsigned char>;

// "NVDLASIM"
constexpr std::uint64_t kMagic = 0x4d4953414c44564e;

struct Message {
  std::uint32_t type = 0;
  Bytes payload = {};
};

inline void add(Bytes& bytes, std::uint64_t number, unsigned size) {
  for (unsigned i = 0; i < size; ++i)
    bytes.push_back(static_cast<unsigned char>(number >> (8 * i)));
}

// Numbers of so many bytes each, one behind the other.
inline Bytes numbers(std::initializer_list<std::pair<std::uint64_t, unsigned>> list) {
  Bytes bytes;
  for (const auto& [number, size] : list) add(bytes, number, size);
  return bytes;
}

inline std::uint64_t number_at(const Bytes& bytes, std::size_t at, unsigned size) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < size; ++i) number |= std::uint64_t{bytes.at(at + i)} << (8 * i);
  return number;
}

// A path that nobody else has.
class SocketPath {
 public:
  SocketPath() {
    static std::atomic<int> last{0};
    path_ = (std::filesystem::temp_directory_path() /
             ("nvdla-sim-" + std::to_string(::getpid()) + "-" + std::to_string(++last)))
                .string();
    ::unlink(path_.c_str());
  }
  ~SocketPath() { ::unlink(path_.c_str()); }
  const std::string& name() const { return path_; }
  sockaddr_un address() const {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    return address;
  }

 private:
  std::string path_;
};

// One end of a connection.
class End {
 public:
  explicit End(int socket) : socket_(socket) {}
  End(End&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ~End() { close(); }

  static End connect(const SocketPath& path) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = path.address();
    EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return End(socket);
  }

  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

  void send_bytes(const Bytes& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (count <= 0) return;
      done += static_cast<std::size_t>(count);
    }
  }
  void send(std::uint32_t type, const Bytes& payload = {}) {
    Bytes message = numbers({{type, 4}, {payload.size(), 4}});
    message.insert(message.end(), payload.begin(), payload.end());
    send_bytes(message);
  }

  // Sends a message with files.
  void send_with(std::uint32_t type, const Bytes& payload, const std::vector<int>& files) {
    Bytes message = numbers({{type, 4}, {payload.size(), 4}});
    message.insert(message.end(), payload.begin(), payload.end());
    iovec part = {message.data(), message.size()};
    const std::size_t bytes = files.size() * sizeof(int);
    Bytes control(CMSG_SPACE(bytes));
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), files.data(), bytes);
    EXPECT_EQ(::sendmsg(socket_, &header, MSG_NOSIGNAL), static_cast<ssize_t>(message.size()));
  }

  // Nothing when the other side has closed, or says nothing for minutes.
  std::optional<Message> receive() {
    Bytes header(8);
    if (!read(header)) return std::nullopt;
    Message message{static_cast<std::uint32_t>(number_at(header, 0, 4)), {}};
    message.payload.resize(number_at(header, 4, 4));
    if (!read(message.payload)) return std::nullopt;
    return message;
  }

 private:
  bool read(Bytes& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      pollfd wait = {socket_, POLLIN, 0};
      if (::poll(&wait, 1, 120000) <= 0) return false;
      const ssize_t count = ::recv(socket_, bytes.data() + done, bytes.size() - done, 0);
      if (count <= 0) return false;
      done += static_cast<std::size_t>(count);
    }
    return true;
  }

  int socket_;
};

class Listener {
 public:
  explicit Listener(const SocketPath& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = path.address();
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
  }
  ~Listener() { ::close(socket_); }
  End accept() const { return End(::accept(socket_, nullptr, nullptr)); }

 private:
  int socket_;
};

}  // namespace nvdla::sim_test

#endif  // NVDLA_TESTS_SIM_SOCKET_HPP
