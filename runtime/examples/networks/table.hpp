// SPDX-License-Identifier: MIT
//
// What CDP's look-up table answers in integers: a witness beside the device.
#ifndef NVDLA_EXAMPLES_NETWORKS_TABLE_HPP
#define NVDLA_EXAMPLES_NETWORKS_TABLE_HPP

#include <cstdint>
#include <nvdla/nvdla.hpp>

namespace networks {

std::int64_t looked_up(const nvdla_lut& lut, std::int64_t x);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_TABLE_HPP
