// SPDX-License-Identifier: MIT
//
// What a processor has that emulated sets of kernels run on.
#include "model/kernels/x86_access.hpp"

namespace nvdla::model {

bool has_avx_vnni() noexcept {
  return __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512vnni") != 0;
}

}  // namespace nvdla::model
