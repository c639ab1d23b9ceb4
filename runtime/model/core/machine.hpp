// SPDX-License-Identifier: MIT
//
// A configuration in the terms in which cycles are predicted.
#ifndef NVDLA_MODEL_CORE_MACHINE_HPP
#define NVDLA_MODEL_CORE_MACHINE_HPP

#include "cost/geometry.hpp"
#include "cost/machine.hpp"
#include "firmware/nvdla_hw.h"
#include "model/core/bus.hpp"

namespace nvdla::model {

inline cost::Machine machine_of(const nvdla_hw& hw) noexcept {
  return {.atom = hw.atom,
          .atomic_c = hw.atomic_c,
          .atomic_k = hw.atomic_k,
          .cbuf_entries = hw.cbuf_entries,
          .cbuf_entry_bytes = hw.cbuf_entry_bytes,
          .bus_bytes = hw.bus_bytes,
          .burst = hw.burst,
          .sram_burst = hw.sram_burst,
          .sdp_x_throughput = hw.sdp_x_throughput,
          .sdp_throughput = hw.sdp_throughput,
          .pdp_throughput = hw.pdp_throughput,
          .cdp_throughput = hw.cdp_throughput};
}

inline cost::Interface interface_of(Ram ram) noexcept {
  return ram == Ram::kPrimary ? cost::Interface::kPrimary : cost::Interface::kSecondary;
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_MACHINE_HPP
