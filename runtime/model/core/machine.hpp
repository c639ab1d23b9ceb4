// SPDX-License-Identifier: MIT
//
// A configuration in the terms in which cycles are predicted.
#ifndef NVDLA_MODEL_CORE_MACHINE_HPP
#define NVDLA_MODEL_CORE_MACHINE_HPP

#include "cost/geometry.hpp"
#include "cost/machine.hpp"
#include "firmware/nvdla_hw.h"
#include "firmware/registers/nvdla_regs.h"
#include "model/core/bus.hpp"

namespace nvdla::model {

inline cost::Machine machine_of(const nvdla_hw& hw) noexcept {
  return cost::machine_of(hw, hw.regmap == NVDLA_REGMAP_NV_FULL);
}

inline cost::Interface interface_of(Ram ram) noexcept {
  return ram == Ram::kPrimary ? cost::Interface::kPrimary : cost::Interface::kSecondary;
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_MACHINE_HPP
