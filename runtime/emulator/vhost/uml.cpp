// SPDX-License-Identifier: MIT
#include "emulator/vhost/uml.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "emulator/device/guest_memory.hpp"
#include "emulator/vhost/vhost_device.hpp"
#include "tools/files/status.hpp"

namespace nvdla::emulator {
namespace {

// Microseconds that a register access may take: the device computes a layer first.
constexpr unsigned kPatience = 100000000;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Listener::Listener() {
  std::string folder = (std::filesystem::temp_directory_path() / "nvdla-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) fail(folder);
  folder_ = folder;
  path_ = folder + "/device";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    fail(path_);
  }
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  socket_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket_.get() < 0 ||
      ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket_.get(), 1) != 0)
    fail(path_);
}

Listener::~Listener() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> uml_command_line(const Machine& machine, const std::string& socket) {
  if (!parse_window(machine.memory + "@0"))
    throw program::UsageError(
        fmt::format("memory of {}: expected a size such as 512M", machine.memory));
  std::vector<std::string> command = {
      // An absolute path is not searched in PATH.
      std::filesystem::absolute(machine.kernel), "mem=" + machine.memory,
      // User-mode Linux writes files about its instance, such as its PID, to this directory.
      fmt::format("uml_dir={}/", std::filesystem::path(socket).parent_path().string()),
      fmt::format("virtio_uml.device={}:{}", socket, kVhostDeviceId),
      fmt::format("virt_pci.max_delay_us={}", kPatience)};
  if (!machine.initrd.empty()) command.push_back("initrd=" + machine.initrd);
  std::istringstream words(machine.append);
  for (std::string word; words >> word;) command.push_back(word);
  return command;
}

Uml::Uml(const Machine& machine) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  alive_ = Descriptor(ends[0]);
  const Descriptor held(ends[1]);
  start(uml_command_line(machine, listener_.path()), std::array{held.get()});
}

Descriptor Uml::accept() {
  std::array<pollfd, 2> events{{{listener_.get(), POLLIN, 0}, {alive_.get(), POLLIN, 0}}};
  while (::poll(events.data(), events.size(), -1) < 0)
    if (errno != EINTR) fail("poll");
  if (events[0].revents == 0) return {};
  Descriptor connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (connection.get() < 0) fail("accept");
  return connection;
}

}  // namespace nvdla::emulator
