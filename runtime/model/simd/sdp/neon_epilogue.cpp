// SPDX-License-Identifier: MIT
#include "model/simd/sdp/epilogue.ipp"

namespace nvdla::model {

bool neon_epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block, int8_t* out) {
  return HWY_NAMESPACE::epilogue(values, count, block, out);
}

}  // namespace nvdla::model
