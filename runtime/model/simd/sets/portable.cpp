// SPDX-License-Identifier: MIT
//
// The plain form of all loops: what the others are compared with.
#include "model/simd/kernels.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/half_loops.ipp"
#include "model/simd/sets/kernel_loops.ipp"

void mac(const MacTile& tile) {
  for (unsigned position = 0; position < tile.count; ++position) {
    uint32_t sums[kBlock];
    for (unsigned k = 0; k < kBlock; ++k) sums[k] = static_cast<uint32_t>(tile.starts[k]);
    const int8_t* weights = tile.weights;
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const auto* data = reinterpret_cast<const int8_t*>(tile.bases[position] + tile.runs[run]);
      for (unsigned step = 0; step < tile.steps; ++step, data += kKr, weights += kBlock * kKr)
        for (unsigned k = 0; k < kBlock; ++k)
          for (unsigned i = 0; i < kKr; ++i)
            sums[k] += static_cast<uint32_t>(data[i] * weights[k * kKr + i]);
    }
    for (unsigned k = 0; k < kBlock; ++k)
      tile.sums[position * kBlock + k] = static_cast<int32_t>(sums[k]);
  }
}

void loop_float_tile(const FloatTile& tile) {
  for (unsigned position = 0; position < tile.count; ++position) {
    float sums[kBlock] = {};
    const float* weights = tile.weights;
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const float* data = tile.data + tile.bases[position] + tile.runs[run];
      for (unsigned i = 0; i < tile.elements; ++i, weights += kBlock)
        for (unsigned k = 0; k < kBlock; ++k) sums[k] += data[i] * weights[k];
    }
    for (unsigned k = 0; k < kBlock; ++k) tile.sums[position * kBlock + k] = sums[k];
  }
}

constexpr Kernels kernels() {
  Kernels set = loop_kernels("portable");
  set.form = {.biased = false, .sign = false};
  set.mac = mac;
  set.depthwise = loop_depthwise;
  set.wide = loop_wide;
  set.half = loop_half;
  set.half_tile = loop_half_tile;
  set.float_tile = loop_float_tile;
  set.units = &kPortableUnits;
  return set;
}

}  // namespace

const Kernels kPortableKernels = kernels();

}  // namespace nvdla::model
