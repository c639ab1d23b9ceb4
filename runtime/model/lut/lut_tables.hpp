// SPDX-License-Identifier: MIT
//
// The tables of SDP or CDP as the kernels take them, made ready once for a layer.
#ifndef NVDLA_MODEL_LUT_LUT_TABLES_HPP
#define NVDLA_MODEL_LUT_LUT_TABLES_HPP

#include <cstdint>

#include "model/lut/lut_search.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {

enum class LutUnit : std::uint8_t { kSdp, kCdp };

// False where the kernels' arithmetic does not reach: steps of 2^32 and more in numbers of 32 bits.
bool make_tables(const LutConfig& config, LutUnit unit, bool wide, IntTables& tables) noexcept;
// False where a register holds a pattern that fp32 does not have here.
bool make_tables(const LutConfig& config, LutUnit unit, FloatTables& tables) noexcept;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_LUT_LUT_TABLES_HPP
