// SPDX-License-Identifier: MIT
//
// SDP's operators in fp16 processing: the stream is fp32, operands are fp32 by the time that they
// come here, shifts and converters take no part. Patterns live in the same 32-bit tiles as
// integers do, [count][kBlock], and the first `lanes` of each position are worked on.
#ifndef NVDLA_MODEL_SDP_FLOAT_HPP
#define NVDLA_MODEL_SDP_FLOAT_HPP

#include <cstdint>

#include "model/kernels/kernels.hpp"

namespace nvdla::model {

// NAN_TO_ZERO at the input, from wherever it comes.
void sdp_flush_nan(std::int32_t* values, unsigned count, unsigned lanes) noexcept;

void sdp_x_float(std::int32_t* values, unsigned count, unsigned lanes, const SdpX& unit) noexcept;
void sdp_y_float(std::int32_t* values, unsigned count, unsigned lanes, const SdpY& unit) noexcept;

// What the output's counters see.
struct SdpOutputCounts {
  std::uint32_t nan = 0;
  std::uint32_t largest = 0;  // results equal to +-65504, saturated or not
};

// fp32 to fp16 patterns.
SdpOutputCounts sdp_float_to_fp16(const std::int32_t* values, unsigned count, unsigned lanes,
                                  std::int16_t* out) noexcept;
// fp32 by way of fp16 to int16; nothing of it is counted.
void sdp_float_to_int16(const std::int32_t* values, unsigned count, unsigned lanes,
                        std::int16_t* out) noexcept;
// 17-bit integers, as the output converter gives them, to fp16 patterns.
SdpOutputCounts sdp_int_to_fp16(const std::int32_t* values, unsigned count, unsigned lanes,
                                std::int16_t* out) noexcept;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_FLOAT_HPP
