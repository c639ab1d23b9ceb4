// SPDX-License-Identifier: MIT
//
// The first thing in which two runs of the same jobs differ.
#ifndef NVDLA_TOOLS_DIFF_DIFFERENCE_HPP
#define NVDLA_TOOLS_DIFF_DIFFERENCE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/replay/dump.hpp"

namespace nvdla::compare {

struct Difference {
  std::size_t job = 0;                 // from 0
  std::optional<std::uint32_t> layer;  // from 0
  std::string name;                    // of the layer, as its user calls it; may be empty
  std::string kind;                    // of the layer, such as "conv+sdp"
  std::string what;                    // what differs: a register, an element, a number of layers
  std::string a, b;                    // its values
  std::string note;                    // how much of it differs; may be empty
  bool output = false;                 // it is what the layer wrote
};

// In the order of the layers: their registers and tables, then what they read that the job had not
// written before, then what they wrote; last the registers of the device, where dumps have them.
// Addresses may differ: what is bound to a slot is compared with what is bound to the same slot.
// The jobs are at least one, as read_jobs() returns them.
std::optional<Difference> first_difference(const std::vector<replay::Dump>& a,
                                           const std::vector<replay::Dump>& b);

// "job 1, layer 3 'conv1' (SDP): ... 0x01 (1) in A, 0x02 (2) in B; ..."
std::string text(const Difference& difference);

}  // namespace nvdla::compare

#endif  // NVDLA_TOOLS_DIFF_DIFFERENCE_HPP
