// SPDX-License-Identifier: MIT
//
// Chooses the kernels that this processor runs. Compiled without special flags.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "model/simd/kernels.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#include "model/simd/set_loops.hpp"
#include "model/simd/sets/x86_access.hpp"
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace nvdla::model {
namespace {

constexpr unsigned kMaxKernelChoices = 5;

#if defined(__x86_64__) || defined(__i386__)
// Not all compilers can be asked for it by name.
bool has_f16c() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && has_f16c();
}
bool has_avx512_vnni() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vnni") != 0;
}
#elif defined(__aarch64__)
bool has_dot_product() noexcept { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }
#endif

}  // namespace

KernelChoice kernel_choice(unsigned index) noexcept {
  switch (index) {
    case 0:
      return {&kPortableKernels, true, "nothing"};
#if defined(__x86_64__) || defined(__i386__)
    case 1:
      return {&kAvx2Kernels, has_avx2(), "AVX2, FMA and F16C"};
    case 2:
      return {&avxvnni_kernels(), has_avx2() && has_avx_vnni(), "AVX2, FMA, F16C and AVX-VNNI"};
    case 3:
      return {&kAvx512VnniKernels, has_avx512_vnni(), "AVX-512 F, BW, VL, DQ and VNNI"};
#if defined(__x86_64__)
    case 4: {
      constexpr const char* kNeeds = "AVX-512 F, BW, VL, DQ and VNNI, AMX-TILE and AMX-INT8";
      if (!has_avx512_vnni()) return {&amx_kernels(), false, kNeeds};
      const SetAccess access = amx_access();
      return {&amx_kernels(), access.usable, kNeeds, access.refused};
    }
#endif
#elif defined(__aarch64__)
    case 1:
      return {&kNeonKernels, true, "nothing"};
    case 2:
      return {&kNeonDotKernels, has_dot_product(), "ASIMDDP (dot product)"};
#endif
    default:
      return {nullptr, false, ""};
  }
}

#if defined(__x86_64__)
const unsigned kKernelChoices = kMaxKernelChoices;
#elif defined(__i386__)
const unsigned kKernelChoices = kMaxKernelChoices - 1;
#elif defined(__aarch64__)
const unsigned kKernelChoices = 3;
#else
const unsigned kKernelChoices = 1;
#endif

const Kernels& choose_kernels(const KernelChoice* choices, unsigned count, const char* wanted) {
  const bool any = wanted == nullptr || *wanted == '\0';
  const KernelChoice* chosen = nullptr;
  std::string built, usable;
  for (const KernelChoice* choice = choices; choice != choices + count; ++choice) {
    const std::string name = choice->kernels->name;
    built += (built.empty() ? "" : ", ") + name;
    if (choice->usable) usable += (usable.empty() ? "" : ", ") + name;
    if (any ? choice->usable : name == wanted) chosen = choice;
  }
  if (chosen == nullptr)
    throw std::invalid_argument("no set of kernels is called '" + std::string(wanted) +
                                "'; there are " + built);
  if (!chosen->usable && chosen->refused != nullptr)
    throw std::invalid_argument("kernels '" + std::string(wanted) + "' cannot be used: " +
                                chosen->refused + "; this processor runs " + usable);
  if (!chosen->usable)
    throw std::invalid_argument("kernels '" + std::string(wanted) + "' need " + chosen->needs +
                                ", which this processor lacks; it runs " + usable);
  return *chosen->kernels;
}

const Kernels& chosen_kernels() {
  KernelChoice choices[kMaxKernelChoices];
  for (unsigned i = 0; i < kKernelChoices; ++i) choices[i] = kernel_choice(i);
  try {
    return choose_kernels(choices, kKernelChoices, std::getenv("NVDLA_KERNELS"));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("NVDLA_KERNELS: ") + error.what());
  }
}

}  // namespace nvdla::model
