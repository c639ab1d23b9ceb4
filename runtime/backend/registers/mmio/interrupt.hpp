// SPDX-License-Identifier: MIT
//
// `Interrupt` is an interrupt line that the kernel reports to this process. Between a report and
// the next wait, the kernel keeps the line masked.
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

  // Returns true if the kernel reports interrupts by this UIO file: some devices have none.
  static bool reported_by(int file) noexcept;

  // Returns true as soon as the line is up, at once if it is; false if the time is over.
  bool wait(std::chrono::nanoseconds time);

 protected:
  // `file` becomes readable with a report of `bytes` bytes, and does not block. It outlives this
  // object.
  Interrupt(int file, std::size_t bytes) noexcept : file_(file), bytes_(bytes) {}

 private:
  // Unmasks the line, so that the kernel reports it again if it is up.
  virtual void listen() = 0;

  int file_;
  std::size_t bytes_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_INTERRUPT_HPP
