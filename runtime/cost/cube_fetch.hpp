// SPDX-License-Identifier: MIT
//
// `CubeFetch` describes how CDMA fetches the input of a convolution.
#ifndef NVDLA_COST_CUBE_FETCH_HPP
#define NVDLA_COST_CUBE_FETCH_HPP

#include "cost/geometry.hpp"
#include "cost/machine.hpp"
#include "cost/memory_timing.hpp"

namespace nvdla::cost {

struct CubeFetch {
  Reads reads;
  double begin = 0;  // from the enable to the first beat of a memory that answers at once
  double own = 0;    // cycles that CDMA takes for all of it, however fast the memory is
  // A request takes so many times its share of the interface while kernels are fetched, and so many
  // cycles beside.
  double shared = 2, shared_own = 0;
};

CubeFetch fetch_cube(const Machine& machine, const ConvGeometry& layer);

}  // namespace nvdla::cost

#endif  // NVDLA_COST_CUBE_FETCH_HPP
