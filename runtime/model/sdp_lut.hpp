// SPDX-License-Identifier: MIT
//
// The table of EW: what SDP's registers say of it, how it interpolates, and what it counts.
#ifndef NVDLA_MODEL_SDP_LUT_HPP
#define NVDLA_MODEL_SDP_LUT_HPP

#include <cstdint>

#include "model/lut_search.hpp"
#include "model/register_file.hpp"
#include "model/surface.hpp"

namespace nvdla::model {

// The tables themselves stay in the register file.
LutConfig read_sdp_lut(const RegisterFile& registers, Precision proc);

// Where the answers came from, and independently of that which tables had one.
struct SdpLutCounters {
  std::uint64_t underflow = 0, overflow = 0, hit = 0;
  std::uint64_t le_hit = 0, lo_hit = 0;

  SdpLutCounters& operator+=(const SdpLutCounters& other) noexcept {
    underflow += other.underflow;
    overflow += other.overflow;
    hit += other.hit;
    le_hit += other.le_hit;
    lo_hit += other.lo_hit;
    return *this;
  }
};

// In place on the first `lanes` of [count][kBlock].
void sdp_lut(std::int32_t* values, unsigned count, unsigned lanes, const LutConfig& config,
             SdpLutCounters& counters) noexcept;
// fp32 to fp32.
void sdp_lut_float(std::int32_t* values, unsigned count, unsigned lanes, const LutConfig& config,
                   SdpLutCounters& counters) noexcept;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_LUT_HPP
