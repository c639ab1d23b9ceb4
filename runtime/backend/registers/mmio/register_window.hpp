// SPDX-License-Identifier: MIT
//
// Registers that are mapped. Each access is one of 32 bits, in the order of the program, and behind
// what the program wrote to memory before.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_REGISTER_WINDOW_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_REGISTER_WINDOW_HPP

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/descriptor.hpp"

namespace nvdla::detail {

class RegisterWindow {
 public:
  // `bytes` of a file at `offset`, a multiple of the page size; registers begin `head` bytes behind
  // that. `name` is of the device, for errors. Throws kNoDevice.
  RegisterWindow(std::string name, const Descriptor& file, std::uint64_t offset,
                 std::uint64_t bytes, std::uint64_t head = 0);
  RegisterWindow(const RegisterWindow&) = delete;
  RegisterWindow& operator=(const RegisterWindow&) = delete;
  ~RegisterWindow();

  // Offsets are multiples of 4. Throws kGone for what is outside.
  std::uint32_t read(std::uint32_t offset) const;
  void write(std::uint32_t offset, std::uint32_t value) const;

 private:
  volatile std::uint32_t* word(std::uint32_t offset) const;

  std::string name_;
  std::size_t bytes_;
  std::uint64_t head_;
  void* data_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_REGISTER_WINDOW_HPP
