// SPDX-License-Identifier: MIT
//
// The bits of GLB's interrupt registers, by unit and group.
#ifndef NVDLA_TOOLS_REPLAY_INTERRUPTS_HPP
#define NVDLA_TOOLS_REPLAY_INTERRUPTS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nvdla::replay {

// "SDP_0", "cdma_wt_1", ...: the name of an interrupt as traces write it, any case.
std::optional<std::uint32_t> interrupt_bit(std::string_view name);

// "SDP_0, CACC_1" for every set bit; unknown bits as "bit N".
std::string interrupt_names(std::uint32_t bits);

// All names, for messages.
std::string all_interrupt_names();

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_INTERRUPTS_HPP
