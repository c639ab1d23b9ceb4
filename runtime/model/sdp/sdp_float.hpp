// SPDX-License-Identifier: MIT
//
// Y in fp16 processing where a register holds an operand that fp32 does not have here, the pattern
// of an infinity or a denormal: number by number, as the definition of the operations takes it.
// All else is the kernels'. Patterns live in the same 32-bit tiles as integers do, [count][kBlock],
// and the first `lanes` of each position are worked on.
#ifndef NVDLA_MODEL_SDP_SDP_FLOAT_HPP
#define NVDLA_MODEL_SDP_SDP_FLOAT_HPP

#include <cstdint>

#include "model/simd/kernels.hpp"

namespace nvdla::model {

void sdp_y_float(std::int32_t* values, unsigned count, unsigned lanes, const SdpY& unit) noexcept;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_SDP_FLOAT_HPP
