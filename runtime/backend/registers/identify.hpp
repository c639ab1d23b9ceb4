// SPDX-License-Identifier: MIT
//
// Identifies an NVDLA and its configuration by its registers, which are only read.
#ifndef NVDLA_BACKEND_REGISTERS_IDENTIFY_HPP
#define NVDLA_BACKEND_REGISTERS_IDENTIFY_HPP

#include <cstdint>
#include <optional>

#include "backend/registers/bare_device.hpp"
#include "firmware/registers/nvdla_regs.h"

namespace nvdla::detail {

// Returns the register map whose version register is an NVDLA's; nothing if none is.
std::optional<nvdla_regmap> find_register_map(BareDevice& device);

// Returns the base of GLB, which depends on the generation: NVDLA_NV_FULL_GLB_BASE is the first.
// Throws kNoDevice if the registers are not an NVDLA's.
std::uint32_t find_glb(BareDevice& device);

// Returns the configuration of a device: from the device itself, its registers and `named`, which
// may be nullptr. Throws kNoDevice if the device is no NVDLA, is not the one named, or can only be
// identified by a name.
const nvdla_hw& identify(BareDevice& device, const nvdla_hw* named);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_IDENTIFY_HPP
