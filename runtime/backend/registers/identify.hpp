// SPDX-License-Identifier: MIT
//
// Whether registers are an NVDLA's, and which. Only reads.
#ifndef NVDLA_BACKEND_REGISTERS_IDENTIFY_HPP
#define NVDLA_BACKEND_REGISTERS_IDENTIFY_HPP

#include <cstdint>
#include <optional>

#include "backend/registers/bare_device.hpp"
#include "firmware/registers/nvdla_regs.h"

namespace nvdla::detail {

// The register map whose version register is an NVDLA's; nothing if none is.
std::optional<nvdla_regmap> find_register_map(BareDevice& device);

// Where GLB is, which tells the generation: NVDLA_NV_FULL_GLB_BASE is the first. Throws kNoDevice
// for what is no NVDLA.
std::uint32_t find_glb(BareDevice& device);

// Which configuration the device is, of what it says itself, what its registers tell and `named`,
// which may be nullptr. Throws kNoDevice for what is no NVDLA, another one than named, or one that
// has to be named.
const nvdla_hw& identify(BareDevice& device, const nvdla_hw* named);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_IDENTIFY_HPP
