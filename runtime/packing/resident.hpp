// SPDX-License-Identifier: MIT
//
// Convolutions whose weights all have to stay in the buffer until the next one starts.
#ifndef NVDLA_PACKING_RESIDENT_HPP
#define NVDLA_PACKING_RESIDENT_HPP

#include <drm/nvdla_layer.h>

#include <vector>

#include "packing/bands.hpp"

namespace nvdla::detail {

// As split_conv(), where each band has whole kernel groups, all of whose weights fit the banks;
// those that fetch least. None if not even one group fits beside a band.
std::vector<Band> split_resident(const DeviceInfo& info, const nvdla_conv& conv, bool keep_data);

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_RESIDENT_HPP
