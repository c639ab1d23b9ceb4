// SPDX-License-Identifier: MIT
//
// Whether this processor and its system let a program use the younger sets of x86-64.
#ifndef NVDLA_MODEL_SIMD_SETS_X86_ACCESS_HPP
#define NVDLA_MODEL_SIMD_SETS_X86_ACCESS_HPP

namespace nvdla::model {

// AVX-VNNI alone; what its set needs beside that is AVX2's.
bool has_avx_vnni() noexcept;

struct SetAccess {
  bool usable;
  // What the system says where the processor has it; null where that lacks it.
  const char* refused;
};

// AMX's tiles for bytes. The system hands their registers out only to who asks for them, which is
// done once for the process.
SetAccess amx_access() noexcept;

// What that comes from.
struct AmxFacts {
  bool instructions;  // the processor has AMX-TILE and AMX-INT8
  bool registers;     // the system keeps tiles when it switches threads
  // Asks for leave to use them; 0, or errno.
  int (*ask)();
};
SetAccess amx_access(const AmxFacts& facts) noexcept;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_SETS_X86_ACCESS_HPP
