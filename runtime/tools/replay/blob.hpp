// SPDX-License-Identifier: MIT
//
// The text formats of memory contents beside traces.
#ifndef NVDLA_TOOLS_REPLAY_BLOB_HPP
#define NVDLA_TOOLS_REPLAY_BLOB_HPP

#include <string_view>

#include "tools/replay/script.hpp"

namespace nvdla::replay {

// "{offset:O, size:N, payload:b b b}, ...", with or without braces around it all. Neighbouring
// packets become one segment.
Blob parse_packets(std::string_view text, std::string_view file);

// Lines of hexadecimal bytes. A line that does not start with a byte is header or footer.
Blob parse_hex_lines(std::string_view text, std::string_view file);

// Either, told apart by the first character.
Blob parse_text_blob(std::string_view text, std::string_view file);

// How many bytes from offset 0 on the blob has without a gap, at most `size`.
std::uint64_t covered(const Blob& blob, std::uint64_t size);

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_BLOB_HPP
