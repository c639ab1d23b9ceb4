// SPDX-License-Identifier: MIT
//
// From the device's interrupt line to what a PCI function does with it: a message on the rising
// edge where MSI is enabled, else the level of INTA.
//
// The line is a level: the OR of unmasked status bits. A message is sent when it rises and not
// again while it stays high, so a driver that clears only some bits and leaves gets no second
// message; the one that reads and clears until nothing is left gets all. A message that rises while
// it is masked goes out when the mask does.
#ifndef NVDLA_EMULATOR_DEVICE_INTERRUPTS_HPP
#define NVDLA_EMULATOR_DEVICE_INTERRUPTS_HPP

#include <cstdint>

#include "emulator/device/faults.hpp"
#include "emulator/device/pci_config.hpp"

namespace nvdla::emulator {

// Towards the emulated machine. Both calls only queue, in order, and may be made under locks.
class InterruptPort {
 public:
  virtual ~InterruptPort() = default;
  virtual void message(std::uint64_t address, std::uint32_t data) = 0;
  virtual void level(bool high) = 0;
  // Waits until the machine has taken all that was queued.
  virtual void settle() = 0;
};

class Interrupts {
 public:
  Interrupts(InterruptPort& port, Faults& faults, Counters& counters) noexcept
      : port_(port), faults_(faults), counters_(counters) {}

  // The line or what configuration space says about interrupts may have changed.
  void update(bool line, PciConfig& config);

  // An interrupt for which the device has no reason.
  void spurious(PciConfig& config);

 private:
  void send(PciConfig& config);

  InterruptPort& port_;
  Faults& faults_;
  Counters& counters_;
  bool line_ = false;
  bool swallowed_ = false;  // this time the line is high nobody hears of it
  bool intx_ = false;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_INTERRUPTS_HPP
