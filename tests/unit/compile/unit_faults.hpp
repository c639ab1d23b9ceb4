// SPDX-License-Identifier: MIT
//
// Faults of the layers of unit_layers.hpp, by the name of the unit.
#pragma once

#include "faults.hpp"
#include "unit_layers.hpp"

#define CONV(...) FAULT(base_conv, "nv_small", __VA_ARGS__)
#define CONV_FULL(...) FAULT(base_conv, "nv_full", __VA_ARGS__)
#define SDP(...) FAULT(base_sdp, "nv_small", __VA_ARGS__)
#define SDP_FULL(...) FAULT(base_sdp, "nv_full", __VA_ARGS__)
#define IMAGE(...) FAULT(base_image, "nv_small", __VA_ARGS__)
#define IMAGE_FULL(...) FAULT(base_image, "nv_full", __VA_ARGS__)
#define PLANES(...) FAULT(base_planes, "nv_full", __VA_ARGS__)
#define Y(...) FAULT(base_y, "nv_full", __VA_ARGS__)
#define EQUAL(...) FAULT(base_equal, "nv_full", __VA_ARGS__)
#define PDP(...) FAULT(base_pdp, "nv_small", __VA_ARGS__)
#define PDP_FULL(...) FAULT(base_pdp, "nv_full", __VA_ARGS__)
#define SDP_PDP(...) FAULT(base_sdp_pdp, "nv_full", __VA_ARGS__)
#define BANDS(...) FAULT(base_bands, "nv_small", __VA_ARGS__)
#define CDP(...) FAULT(base_cdp, "nv_small", __VA_ARGS__)
#define CDP_FULL(...) FAULT(base_cdp, "nv_full", __VA_ARGS__)
#define HALF(...) FAULT(base_cdp_half, "nv_full", __VA_ARGS__)
#define CONTRACT(...) FAULT(base_contract, "nv_full", __VA_ARGS__)
#define SPLIT(...) FAULT(base_split, "nv_full", __VA_ARGS__)
#define MERGE(...) FAULT(base_merge, "nv_full", __VA_ARGS__)
#define BDMA(...) FAULT(base_bdma, "nv_full", __VA_ARGS__)

// A change of a layer of convolution, of SDP, to another precision.
#define CONV_IN(type) (c.in_precision = c.proc_precision = NVDLA_PRECISION_##type)
#define SDP_IN(type) (s.in_precision = s.proc_precision = s.out_precision = NVDLA_PRECISION_##type)
