// SPDX-License-Identifier: MIT
#include "model/kernels/avx2finish.hpp"
#include "model/kernels/avx2float.hpp"
#include "model/kernels/avx2half.hpp"
#include "model/kernels/avx2mac.hpp"
#include "model/kernels/avx2wide.hpp"
#include "model/kernels/kernels.hpp"
#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/elements.ipp"
#include "model/kernels/loops.ipp"
#include "model/kernels/sdp_loops.ipp"

}  // namespace

const Kernels kAvx2Kernels = {
    "avx2",
    {MacOrder::kPairs, false},
    avx2_mac,
    avx2_depthwise,
    avx2_wide,
    loop_wide_clip,
    avx2_half,
    avx2_half_tile,
    avx2_float_tile,
    loop_clip,
    loop_sdp_widen,
    loop_sdp_shift,
    loop_sdp_operand,
    loop_sdp_x,
    loop_sdp_y,
    loop_sdp_convert,
    loop_convert_to_int8,
    loop_to_int8,
    loop_to_int16,
    avx2_finish,
    &kAvx2Units,
};

}  // namespace nvdla::model
