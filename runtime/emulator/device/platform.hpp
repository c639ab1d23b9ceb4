// SPDX-License-Identifier: MIT
//
// The device without PCI, as on a system on chip: a window of registers at a fixed address, a level
// for an interrupt, a reset line, a power switch. Behind it is the same function, whose
// configuration space the system has set up before anyone looks.
//
//   0x00000  registers of the device
//   0x20000  reset line, bit 0: while it is 1, registers read as ones and there is no DMA
//   0x20004  power switch, bit 0: while it is 0, the same, and what the device knew is gone
//   0x21000  configuration space of the function, for the sake of its fault capability
#ifndef NVDLA_EMULATOR_DEVICE_PLATFORM_HPP
#define NVDLA_EMULATOR_DEVICE_PLATFORM_HPP

#include <cstdint>

#include "emulator/device/function.hpp"

namespace nvdla::emulator {

inline constexpr std::uint64_t kPlatformReset = 0x20000;
inline constexpr std::uint64_t kPlatformPower = 0x20004;
inline constexpr std::uint64_t kPlatformConfig = 0x21000;
inline constexpr std::uint64_t kPlatformBytes = 0x22000;

class Platform {
 public:
  // Takes over the function, which was started and outlives it.
  explicit Platform(Function& function);

  // Offsets in the window. What is refused reads as ones.
  std::uint64_t read(std::uint64_t offset, std::uint32_t size);
  void write(std::uint64_t offset, std::uint64_t value, std::uint32_t size);

 private:
  void release();
  void hold(bool in_reset, bool powered);

  Function& function_;
  bool in_reset_ = false;
  bool powered_ = true;
};

// Answers QEMU's messages about the window until QEMU goes away. Throws ProtocolError.
void serve(int socket, Platform& platform);

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_PLATFORM_HPP
