// SPDX-License-Identifier: MIT
//
// The PCI configuration space of the function: one 32-bit memory BAR, INTA, and the capabilities
// MSI (one vector, 64-bit address, maskable), Advanced Features (function-level reset; may be left
// out), power management (D0 and D3hot) and the fault capability of the emulator. The class has
// only bytes and write masks; Function acts on them.
#ifndef NVDLA_EMULATOR_DEVICE_PCI_CONFIG_HPP
#define NVDLA_EMULATOR_DEVICE_PCI_CONFIG_HPP

#include <array>
#include <cstdint>

namespace nvdla::emulator {

inline constexpr std::uint16_t kVendorId = 0x1234;
// The device ID of the first configuration in the order of nvdla_hw_get(); the others follow.
inline constexpr std::uint16_t kDeviceId = 0xd1a0;
inline constexpr std::uint32_t kBarBytes = 256 * 1024;

class PciConfig {
 public:
  PciConfig(std::uint16_t device_id, bool with_reset);

  // `length` is 1, 2 or 4. Addresses beyond the 256 bytes read as 0.
  std::uint32_t read(std::uint32_t address, std::uint32_t length) const;

  // The actions that a write requests besides changing bytes.
  struct Effects {
    bool function_reset = false;
    bool woken = false;   // left a sleep state in which the function lost its state
    bool faults = false;  // registers of the fault capability were written
  };
  Effects write(std::uint32_t address, std::uint32_t value, std::uint32_t length);

  // Resets configuration space as a reset of the function does.
  void reset();

  // Returns true in D3hot, where only configuration space can be accessed.
  bool asleep() const;
  bool memory_enabled() const;
  bool bus_master() const;
  bool intx_disabled() const;
  std::uint32_t bar() const;

  bool msi_enabled() const;
  std::uint64_t msi_address() const;
  std::uint32_t msi_data() const;
  bool msi_masked() const;
  // Returns true if a message waits until it is unmasked.
  bool msi_pending() const;
  void set_msi_pending(bool pending);

  // Sets whether the Advanced Features capability, if present, offers function-level reset.
  void offer_reset(bool offered);

  // Sets Interrupt Status in the status register: the device requests INTA.
  void set_interrupt_status(bool pending);

  // Access registers of the fault capability, by their offset in it.
  std::uint32_t fault_register(std::uint32_t offset) const;
  void set_fault_register(std::uint32_t offset, std::uint32_t value);

 private:
  std::uint32_t get(std::uint32_t address, std::uint32_t bytes) const;
  void set(std::uint32_t address, std::uint32_t bytes, std::uint32_t value);
  void allow(std::uint32_t address, std::uint32_t bytes, std::uint32_t mask);
  void set_power_state(std::uint32_t state);
  // Sets whether D3hot loses the function's state. If so, software can use it to reset the
  // function.
  void set_sleep_loses_state(bool loses);

  bool with_reset_;
  std::array<std::uint8_t, 256> bytes_{};
  std::array<std::uint8_t, 256> writable_{};
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_PCI_CONFIG_HPP
