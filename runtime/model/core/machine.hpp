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

using cost::machine_of;

inline cost::Interface interface_of(Ram ram) noexcept {
  return ram == Ram::kPrimary ? cost::Interface::kPrimary : cost::Interface::kSecondary;
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_MACHINE_HPP
