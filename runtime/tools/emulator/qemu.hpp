// SPDX-License-Identifier: MIT
//
// QEMU as a child process that is connected to the device server by two inherited sockets.
#ifndef NVDLA_EMULATOR_QEMU_HPP
#define NVDLA_EMULATOR_QEMU_HPP

#include <sys/types.h>

#include <string>
#include <vector>

#include "tools/emulator/descriptor.hpp"

namespace nvdla::emulator {

struct Machine {
  std::string program = "qemu-system-x86_64";
  std::string kernel;
  std::string initrd;  // may be empty
  std::string append;
  std::string memory = "512M";
};

// The global system interrupt of INTA of slot kSlot on q35.
inline constexpr unsigned kSlot = 4;
inline constexpr unsigned kIntx = 20;

// A machine as this server needs it: TCG and one processor, because QEMU 7.2 drops the access of a
// second one while the first waits for the device; memory in a descriptor that can be shared.
std::vector<std::string> command_line(const Machine& machine);

class Qemu {
 public:
  // Starts `command`, to which the device and its sockets are added. The child dies with the
  // calling thread. Throws std::system_error.
  explicit Qemu(std::vector<std::string> command);
  ~Qemu();  // kills what still runs
  Qemu(const Qemu&) = delete;
  Qemu& operator=(const Qemu&) = delete;

  int device_socket() const noexcept { return device_.get(); }
  Descriptor take_qtest_socket() noexcept { return std::move(qtest_); }

  void kill() noexcept;
  // Exit status as of a shell: 128 + signal for a child that was killed.
  int wait();

 private:
  Descriptor device_;
  Descriptor qtest_;
  pid_t pid_ = -1;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_QEMU_HPP
