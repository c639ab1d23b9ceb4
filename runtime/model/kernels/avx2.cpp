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
    .name = "avx2",
    .form = {.biased = false, .sign = true},
    .mac = avx2_mac,
    .depthwise = avx2_depthwise,
    .wide = avx2_wide,
    .wide_clip = loop_wide_clip,
    .half = avx2_half,
    .half_tile = avx2_half_tile,
    .float_tile = avx2_float_tile,
    .clip = loop_clip,
    .sdp_widen = loop_sdp_widen,
    .sdp_shift = loop_sdp_shift,
    .sdp_operand = loop_sdp_operand,
    .sdp_x = loop_sdp_x,
    .sdp_y = loop_sdp_y,
    .sdp_convert = loop_sdp_convert,
    .convert_to_int8 = loop_convert_to_int8,
    .to_int8 = loop_to_int8,
    .to_int16 = loop_to_int16,
    .finish = avx2_finish,
    .units = &kAvx2Units,
};

}  // namespace nvdla::model
