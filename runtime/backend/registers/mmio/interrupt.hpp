// SPDX-License-Identifier: MIT
//
// An interrupt line that the kernel hears for this process. While it is reported and was not waited
// for again, the kernel keeps it silent.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_INTERRUPT_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_INTERRUPT_HPP

#include <chrono>
#include <cstddef>

namespace nvdla::detail {

class Interrupt {
 public:
  virtual ~Interrupt() = default;
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Whether the kernel reports an interrupt by this file of UIO: there are devices without one.
  static bool reported_by(int file) noexcept;

  // True as soon as the line is up, at once if it is; false if the time is over.
  bool wait(std::chrono::nanoseconds time);

 protected:
  // `file` becomes readable with a report of so many bytes, and does not block; it outlives this.
  Interrupt(int file, std::size_t bytes) noexcept : file_(file), bytes_(bytes) {}

 private:
  // The kernel hears the line again, and reports it if it is up.
  virtual void listen() = 0;

  int file_;
  std::size_t bytes_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_INTERRUPT_HPP
