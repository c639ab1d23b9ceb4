// SPDX-License-Identifier: MIT
//
// User-mode Linux as a child process: a kernel that is a program, which finds the device at a
// socket.
#ifndef NVDLA_EMULATOR_UML_HPP
#define NVDLA_EMULATOR_UML_HPP

#include <string>
#include <vector>

#include "emulator/device/child.hpp"
#include "emulator/device/qemu.hpp"
#include "emulator/device/stream.hpp"

namespace nvdla::emulator {

// A socket that waits for one caller, in a folder of its own until then.
class Listener {
 public:
  Listener();  // throws std::system_error
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const std::string& path() const noexcept { return path_; }
  int get() const noexcept { return socket_.get(); }

 private:
  std::string folder_;
  std::string path_;
  Descriptor socket_;
};

// The kernel's words: its memory, where the device is, then those of machine.append.
// Throws program::UsageError for a size of memory that is none.
std::vector<std::string> uml_command_line(const Machine& machine, const std::string& socket);

class Uml final : public Child {
 public:
  explicit Uml(const Machine& machine);

  // Waits until the kernel has found the device: its connection. None, that is -1, if the kernel
  // ended before.
  Descriptor accept();

 private:
  Listener listener_;
  Descriptor alive_;  // reads as ended once the kernel has
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_UML_HPP
