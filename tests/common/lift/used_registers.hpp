// SPDX-License-Identifier: MIT
//
// Which bits of its registers a layer uses, and whether a compiled image has
// them as the registers of a launch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/lift/lift.hpp"

namespace nvdla::test {

// A line for every register of the launch that the layer uses and that the
// image has otherwise or not at all, and for units that only one of them
// enables. @image: byte address to value; @units: bit per enum nvdla_unit;
// @moved: Lifted::moved. Differences from published software are meant: what is
// fetched of plain weights is not rounded up to 128, and where @hw loses what is
// freed early all weights stay, for which they may take more banks.
std::vector<std::string> differing_registers(const nvdla_hw& hw, const LaunchRegisters& launch,
                                             const nvdla_layer& layer,
                                             const std::map<std::uint32_t, std::uint32_t>& image,
                                             std::uint32_t units,
                                             const std::map<std::uint64_t, std::uint64_t>& moved);

}  // namespace nvdla::test
