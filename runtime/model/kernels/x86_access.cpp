// SPDX-License-Identifier: MIT
//
// Compiled without special flags.
#include "model/kernels/x86_access.hpp"

#include <cpuid.h>

namespace nvdla::model {

// Not all compilers can be asked for it by name, and not all know its bit.
bool has_avx_vnni() noexcept {
  constexpr unsigned kAvxVnni = 1u << 4;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAvxVnni) != 0;
}

}  // namespace nvdla::model
