// SPDX-License-Identifier: MIT
//
// What the look-up tables of SDP and CDP answer in integers: a witness beside the device.
#ifndef NVDLA_EXAMPLES_NETWORKS_TABLE_HPP
#define NVDLA_EXAMPLES_NETWORKS_TABLE_HPP

#include <cstdint>
#include <nvdla/nvdla.hpp>

namespace networks {

std::int64_t looked_up(const nvdla_lut& lut, std::int64_t x);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_TABLE_HPP
