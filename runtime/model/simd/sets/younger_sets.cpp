// SPDX-License-Identifier: MIT
//
// Sets that have a better multiplier than the one that they are built on, and are like it else.
// Compiled without special flags: these are asked for their names on any processor.
#include "model/simd/set_loops.hpp"

namespace nvdla::model {

const Kernels& avxvnni_kernels() {
  static const Kernels set = [] {
    Kernels kernels = kAvx2Kernels;
    kernels.name = "avxvnni";
    kernels.form = {.biased = true, .sign = false};
    kernels.mac = avxvnni_mac;
    kernels.depthwise = avxvnni_depthwise;
    kernels.wide = avxvnni_wide;
    return kernels;
  }();
  return set;
}

#ifdef __x86_64__
const Kernels& amx_kernels() {
  static const Kernels set = [] {
    Kernels kernels = kAvx512VnniKernels;
    kernels.name = "amx";
    kernels.mac = amx_mac;
    kernels.pieces = amx_pieces;
    kernels.mac_finish = amx_mac_finish;
    kernels.mac_epilogue = nullptr;
    kernels.tile_positions = amx_tile_positions;
    kernels.form = {.biased = true, .sign = false, .step = kMostStep, .rate = 600, .lines = true};
    kernels.enter = amx_enter;
    kernels.leave = amx_leave;
    return kernels;
  }();
  return set;
}
#endif

}  // namespace nvdla::model
