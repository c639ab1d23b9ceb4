// SPDX-License-Identifier: MIT
//
// The parsers of cases and traces, one for each format, and of the memory contents beside them.
#ifndef NVDLA_TOOLS_REPLAY_PARSERS_HPP
#define NVDLA_TOOLS_REPLAY_PARSERS_HPP

#include <cstdint>
#include <string_view>

#include "tools/replay/script.hpp"

namespace nvdla::replay {

// Parses a golden register case: case.json, with memory blobs beside it.
Script parse_case(std::string_view text, std::string_view file, RegisterMap map);

// Parses a trace of the nv_small family: one command a line, `name(argument, ...);`.
Script parse_cfg(std::string_view text, std::string_view file, RegisterMap map);

// `PlusArgs` are the options of the simulator that matter to a player; it passes over others.
struct PlusArgs {
  std::uint64_t read_retries = 0;
  bool continue_on_fail = false;
};

PlusArgs parse_plusargs(std::string_view text, std::string_view file);

// Parses a trace of the nv_full family: input.txn, with plusargs.txt beside it. `ram` is the memory
// that load_mem and dump_mem mean.
Script parse_txn(std::string_view text, std::string_view file, RegisterMap map,
                 const PlusArgs& plusargs = {}, Ram ram = Ram::kPrimary);

// Parses memory contents "{offset:O, size:N, payload:b b b}, ...", with or without braces around it
// all. Neighbouring packets become one segment.
Blob parse_packets(std::string_view text, std::string_view file);

// Parses lines of hexadecimal bytes. A line that does not start with a byte is header or footer.
Blob parse_hex_lines(std::string_view text, std::string_view file);

// Parses either, which the first character tells apart.
Blob parse_text_blob(std::string_view text, std::string_view file);

// Returns how many bytes from offset 0 on the blob has without a gap, at most `size`.
std::uint64_t covered(const Blob& blob, std::uint64_t size);

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_PARSERS_HPP
