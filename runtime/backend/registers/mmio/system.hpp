// SPDX-License-Identifier: MIT
//
// Files of the kernel: /dev, /proc and /sys.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_SYSTEM_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_SYSTEM_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/descriptor.hpp"

namespace nvdla::detail {

class System {
 public:
  // `root` is in front of every path; tests have files of their own there.
  explicit System(std::string root = {}) : root_(std::move(root)) {}

  std::string path(std::string_view absolute) const { return root_ + std::string(absolute); }
  bool has(std::string_view file) const;
  // What is in a small file, without the end of its last line; nullopt if it cannot be read.
  std::optional<std::string> text(std::string_view file) const;
  // The last name that a symbolic link points to; empty if there is none.
  std::string linked(std::string_view link) const;
  // For reading and writing, with `flags` of open(). Throws kNoDevice on behalf of the device
  // `name`, saying why, and where only the superuser may, that; kBusy for what only one can open.
  Descriptor open(std::string_view file, std::string_view name, int flags = 0) const;
  // Writes a word to an attribute; false, with errno, if that failed.
  bool put(std::string_view file, std::string_view word) const;

 private:
  std::string root_;
};

// Makes bytes of an open file this process's until it closes it. Throws kBusy if another has some.
void take_alone(const Descriptor& file, std::uint64_t start, std::uint64_t bytes,
                std::string_view name);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_SYSTEM_HPP
