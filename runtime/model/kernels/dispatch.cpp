// SPDX-License-Identifier: MIT
//
// Chooses the kernels that this processor runs. Compiled without special flags.
#include "model/kernels/kernels.hpp"

namespace nvdla::model {
namespace {

#if defined(__x86_64__) || defined(__i386__)
bool has_avx2() noexcept { return __builtin_cpu_supports("avx2") != 0; }
bool has_avx512_vnni() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vnni") != 0;
}
#endif

}  // namespace

KernelChoice kernel_choice(unsigned index) noexcept {
  switch (index) {
    case 0:
      return {&kPortableKernels, true, "nothing"};
#if defined(__x86_64__) || defined(__i386__)
    case 1:
      return {&kAvx2Kernels, has_avx2(), "AVX2"};
    case 2:
      return {&kAvx512VnniKernels, has_avx512_vnni(), "AVX-512 F, BW, VL, DQ and VNNI"};
#endif
    default:
      return {nullptr, false, ""};
  }
}

#if defined(__x86_64__) || defined(__i386__)
const unsigned kKernelChoices = 3;
#else
const unsigned kKernelChoices = 1;
#endif

const Kernels& best_kernels() noexcept {
  const Kernels* best = &kPortableKernels;
  for (unsigned i = 0; i < kKernelChoices; ++i)
    if (const KernelChoice choice = kernel_choice(i); choice.usable) best = choice.kernels;
  return *best;
}

}  // namespace nvdla::model
