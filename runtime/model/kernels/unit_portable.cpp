// SPDX-License-Identifier: MIT
#include "model/kernels/kernels.hpp"
#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/unit_loops.ipp"

}  // namespace

const UnitKernels kPortableUnits = unit_loops();

}  // namespace nvdla::model
