// SPDX-License-Identifier: MIT
//
// `System` accesses files of the kernel: /dev, /proc and /sys.
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
  // `root` is prepended to every path, so that tests can use files of their own.
  explicit System(std::string root = {}) : root_(std::move(root)) {}

  std::string path(std::string_view absolute) const { return root_ + std::string(absolute); }
  bool has(std::string_view file) const;
  // Returns the contents of a small file without the last newline; nullopt if it cannot be read.
  std::optional<std::string> text(std::string_view file) const;
  // Returns the last component of a symbolic link's target; empty if there is no link.
  std::string linked(std::string_view link) const;
  // Opens a file for reading and writing, with additional `flags` of open(). Throws kNoDevice on
  // behalf of the device `name`, with the reason and a hint where only the superuser may open the
  // file, and kBusy if somebody else has opened an exclusive file.
  Descriptor open(std::string_view file, std::string_view name, int flags = 0) const;
  // Writes a word to an attribute; false, with errno, on failure.
  bool put(std::string_view file, std::string_view word) const;

 private:
  std::string root_;
};

// Locks bytes of an open file until it is closed. Throws kBusy if another open file has locked any
// of them.
void take_alone(const Descriptor& file, std::uint64_t start, std::uint64_t bytes,
                std::string_view name);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_SYSTEM_HPP
