// SPDX-License-Identifier: MIT
//
// What a processor has that emulated sets of kernels run on.
#include <cstdlib>

#include "model/simd/sets/x86_access.hpp"

namespace nvdla::model {

bool has_avx_vnni() noexcept {
  return __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512vnni") != 0;
}

// NVDLA_EMULATED_AMX in the environment, if there is one, is why not.
SetAccess amx_access() noexcept {
  const char* const refused = std::getenv("NVDLA_EMULATED_AMX");
  return {refused == nullptr, refused};
}

}  // namespace nvdla::model
