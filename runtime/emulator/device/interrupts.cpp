// SPDX-License-Identifier: MIT
#include "emulator/device/interrupts.hpp"

#include "emulator/device/log.hpp"

namespace nvdla::emulator {

void Interrupts::update(bool line, PciConfig& config) {
  const bool rises = line && !line_;
  line_ = line;
  if (!line) swallowed_ = false;
  if (rises && faults_.swallow_interrupts != 0) {
    --faults_.swallow_interrupts;
    swallowed_ = true;
    log("swallowed an interrupt");
  }

  if (config.msi_enabled() && ((rises && !swallowed_) || config.msi_pending())) send(config);

  const bool pending = line && !swallowed_ && !config.msi_enabled();
  config.set_interrupt_status(pending);
  const bool intx = pending && !config.intx_disabled();
  if (intx != intx_) {
    intx_ = intx;
    port_.level(intx);
    if (intx) ++counters_.interrupts;
  }
}

void Interrupts::spurious(PciConfig& config) {
  if (config.msi_enabled()) {
    send(config);
  } else if (!config.intx_disabled() && !intx_) {
    port_.level(true);
    port_.level(false);
    ++counters_.interrupts;
  }
}

// A message is a memory write of the function, so it takes bus mastering.
void Interrupts::send(PciConfig& config) {
  config.set_msi_pending(config.msi_masked());
  if (config.msi_masked()) return;
  if (config.bus_master()) {
    port_.message(config.msi_address(), config.msi_data());
    ++counters_.interrupts;
  } else {
    log("an interrupt message is lost: bus mastering is off");
  }
}

}  // namespace nvdla::emulator
