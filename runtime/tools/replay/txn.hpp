// SPDX-License-Identifier: MIT
//
// Traces of the nv_full family: input.txn, with plusargs.txt beside it.
#ifndef NVDLA_TOOLS_REPLAY_TXN_HPP
#define NVDLA_TOOLS_REPLAY_TXN_HPP

#include <cstdint>
#include <string_view>

#include "tools/replay/script.hpp"

namespace nvdla::replay {

// The options of the simulator that matter to a player; it passes over others.
struct PlusArgs {
  std::uint64_t read_retries = 0;
  bool continue_on_fail = false;
};

PlusArgs parse_plusargs(std::string_view text, std::string_view file);

// `ram` is the memory that load_mem and dump_mem mean.
Script parse_txn(std::string_view text, std::string_view file, RegisterMap map,
                 const PlusArgs& plusargs = {}, Ram ram = Ram::kPrimary);

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_TXN_HPP
