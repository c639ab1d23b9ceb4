// SPDX-License-Identifier: MIT
//
// Parts of lift.cpp: one function for each unit but the convolution's.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/lift/lift.hpp"

namespace nvdla::test {

// A field of a register, or all of it, by the names of the generated header.
#define LIFT_FIELD(registers, unit, reg, field)                 \
  (((registers).read(NVDLA_UNIT_##unit, NVDLA_##unit##_##reg) & \
    NVDLA_##unit##_##reg##_##field##_MASK) >>                   \
   NVDLA_##unit##_##reg##_##field##_SHIFT)
#define LIFT_WHOLE(registers, unit, reg) (registers).read(NVDLA_UNIT_##unit, NVDLA_##unit##_##reg)
// The same of the `registers` that a function is given.
#define GET(unit, reg, field) LIFT_FIELD(registers, unit, reg, field)
#define WHOLE(unit, reg) LIFT_WHOLE(registers, unit, reg)

inline std::int32_t sign_extend(std::uint32_t value, unsigned bits) {
  const unsigned shift = 32 - bits;
  return static_cast<std::int32_t>(value << shift) >> shift;
}

// Finds the slot: RAM type, high and low word of the address, line and surface
// stride. Throws LiftError.
using SurfaceAt = std::function<nvdla_surface(std::uint32_t, std::uint32_t, std::uint32_t,
                                              std::uint32_t, std::uint32_t)>;

// @flying: the unit in front feeds it; @pooled: PDP takes what it makes.
nvdla_sdp lift_sdp(const LaunchRegisters& registers, const SurfaceAt& surface, bool flying,
                   bool pooled);
nvdla_pdp lift_pdp(const LaunchRegisters& registers, const SurfaceAt& surface, bool flying);
nvdla_cdp lift_cdp(const LaunchRegisters& registers, const SurfaceAt& surface);
nvdla_rubik lift_rubik(const LaunchRegisters& registers, const SurfaceAt& surface);
std::vector<nvdla_transfer> lift_transfers(const LaunchRegisters& registers,
                                           const SurfaceAt& surface);
// The table of a layer with operators of @precision; @lut_unit: enum nvdla_lut_unit.
nvdla_lut lift_lut(const LaunchRegisters& registers, std::uint32_t lut_unit,
                   std::uint32_t precision);

}  // namespace nvdla::test
