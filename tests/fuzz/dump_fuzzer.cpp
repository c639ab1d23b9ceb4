// SPDX-License-Identifier: MIT
//
// The reader of device core dumps, what it makes of them, and the player behind it, against any
// bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay_check.hpp"
#include "tools/replay/dump.hpp"
#include "tools/replay/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvdla::replay;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Any input may be refused, by an error of the tool and in no other way.
  try {
    nvdla::fuzz::check_script(dump_script(parse_dump(bytes, "fuzz"), "fuzz"));
  } catch (const Error&) {
  }
  return 0;
}
