// SPDX-License-Identifier: MIT
//
// The parser of register cases, and the player behind it, against any bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay_check.hpp"
#include "tools/replay/parsers.hpp"
#include "tools/replay/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvdla::replay;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const RegisterMap map : {NVDLA_REGMAP_NV_FULL, NVDLA_REGMAP_NV_SMALL}) {
    try {
      nvdla::fuzz::check_script(parse_case(text, "fuzz.json", map));
    } catch (const Error&) {
      // Any input may be refused, in no other way.
    }
  }
  return 0;
}
