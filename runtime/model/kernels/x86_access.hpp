// SPDX-License-Identifier: MIT
//
// Whether this processor and its system let a program use the younger sets of x86-64.
#ifndef NVDLA_MODEL_KERNELS_X86_ACCESS_HPP
#define NVDLA_MODEL_KERNELS_X86_ACCESS_HPP

namespace nvdla::model {

// AVX-VNNI alone; what its set needs beside that is AVX2's.
bool has_avx_vnni() noexcept;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_KERNELS_X86_ACCESS_HPP
