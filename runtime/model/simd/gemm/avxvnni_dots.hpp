// SPDX-License-Identifier: MIT
//
// The dot products of AVX-VNNI. Compiled without it, the same of AVX-512, which differ in their
// encoding alone: those of the set of AVX-512, and what processors run that have only those, to
// test what is built on them.
#ifndef NVDLA_MODEL_SIMD_GEMM_AVXVNNI_DOTS_HPP
#define NVDLA_MODEL_SIMD_GEMM_AVXVNNI_DOTS_HPP

#include <immintrin.h>

#ifdef __AVXVNNI__
#define NVDLA_DPBUSD _mm256_dpbusd_avx_epi32
#define NVDLA_DPWSSD _mm256_dpwssd_avx_epi32
#else
#define NVDLA_DPBUSD _mm256_dpbusd_epi32
#define NVDLA_DPWSSD _mm256_dpwssd_epi32
#endif

#endif  // NVDLA_MODEL_SIMD_GEMM_AVXVNNI_DOTS_HPP
