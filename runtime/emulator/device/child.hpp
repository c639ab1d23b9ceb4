// SPDX-License-Identifier: MIT
//
// The machine's process, which ends with this one.
#ifndef NVDLA_EMULATOR_DEVICE_CHILD_HPP
#define NVDLA_EMULATOR_DEVICE_CHILD_HPP

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace nvdla::emulator {

class Child {
 public:
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() noexcept;
  // Exit status as of a shell: 128 + signal for a child that was killed.
  int wait();

 protected:
  Child() noexcept = default;
  ~Child();  // kills what still runs

  // Starts `command`, found in PATH, with descriptors that it inherits by their numbers. It dies
  // with the calling thread. A program that cannot be run ends with 127. Throws std::system_error.
  void start(std::vector<std::string> command, std::span<const int> inherited = {});

 private:
  pid_t pid_ = -1;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_CHILD_HPP
