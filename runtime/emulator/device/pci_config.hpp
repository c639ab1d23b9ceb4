// SPDX-License-Identifier: MIT
//
// The PCI configuration space of the function: one 32-bit memory BAR, INTA, and the capabilities
// MSI (one vector, 64-bit address, maskable), Advanced Features (function-level reset; may be left
// out), power management (D0 and D3hot) and the fault capability of the emulator. Bytes and write
// masks, no behaviour beyond them.
#ifndef NVDLA_EMULATOR_DEVICE_PCI_CONFIG_HPP
#define NVDLA_EMULATOR_DEVICE_PCI_CONFIG_HPP

#include <array>
#include <cstdint>

namespace nvdla::emulator {

inline constexpr std::uint16_t kVendorId = 0x1234;
// Plus the index of the configuration, in the order of nvdla_hw_get().
inline constexpr std::uint16_t kDeviceId = 0xd1a0;
inline constexpr std::uint32_t kBarBytes = 256 * 1024;

class PciConfig {
 public:
  PciConfig(std::uint16_t device_id, bool with_reset);

  // `length` is 1, 2 or 4. Beyond the 256 bytes there is nothing: reads as 0.
  std::uint32_t read(std::uint32_t address, std::uint32_t length) const;

  // What a write asked for beyond changing bytes.
  struct Effects {
    bool function_reset = false;
    bool woken = false;   // from a sleep in which the function lost its state
    bool faults = false;  // registers of the fault capability were written
  };
  Effects write(std::uint32_t address, std::uint32_t value, std::uint32_t length);

  // What a reset of the function does to configuration space.
  void reset();

  // In D3hot only configuration space is there.
  bool asleep() const;
  bool memory_enabled() const;
  bool bus_master() const;
  bool intx_disabled() const;
  std::uint32_t bar() const;

  bool msi_enabled() const;
  std::uint64_t msi_address() const;
  std::uint32_t msi_data() const;
  bool msi_masked() const;
  // A message that waits for the mask to go.
  bool msi_pending() const;
  void set_msi_pending(bool pending);

  // Whether the Advanced Features, where they are, say that the function can be reset.
  void offer_reset(bool offered);

  // Interrupt Status of the status register: INTA wants to be asserted.
  void set_interrupt_status(bool pending);

  // Registers of the fault capability, by their offset in it.
  std::uint32_t fault_register(std::uint32_t offset) const;
  void set_fault_register(std::uint32_t offset, std::uint32_t value);

 private:
  std::uint32_t get(std::uint32_t address, std::uint32_t bytes) const;
  void set(std::uint32_t address, std::uint32_t bytes, std::uint32_t value);
  void allow(std::uint32_t address, std::uint32_t bytes, std::uint32_t mask);
  void set_power_state(std::uint32_t state);
  // Where sleep loses the state, it is a way to reset the function.
  void set_sleep_loses_state(bool loses);

  bool with_reset_;
  std::array<std::uint8_t, 256> bytes_{};
  std::array<std::uint8_t, 256> writable_{};
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_PCI_CONFIG_HPP
