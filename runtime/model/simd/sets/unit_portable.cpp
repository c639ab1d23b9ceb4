// SPDX-License-Identifier: MIT
#include "model/simd/kernels.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sets/unit_loops.ipp"

}  // namespace

const UnitKernels kPortableUnits = unit_loops();

}  // namespace nvdla::model
