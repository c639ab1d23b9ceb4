// SPDX-License-Identifier: MIT
//
// The reader of records, what it makes of them, the player and the comparison behind
// it, against any bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay_check.hpp"
#include "tools/diff/difference.hpp"
#include "tools/replay/dump.hpp"
#include "tools/replay/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvdla;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Any input may be refused, by an error of the tool and in no other way.
  try {
    const auto jobs = replay::parse_record(bytes, "fuzz");
    fuzz::check_script(replay::record_script(jobs, "fuzz"));
    // Against itself with another byte, so that there is something to name.
    auto others = jobs;
    for (replay::Dump& job : others)
      for (replay::DumpBuffer& written : job.written)
        if (!written.bytes.empty()) written.bytes[size % written.bytes.size()] ^= std::byte{1};
    compare::first_difference(jobs, others);
  } catch (const replay::Error&) {
  }
  return 0;
}
