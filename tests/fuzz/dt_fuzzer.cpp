// SPDX-License-Identifier: MIT
//
// The reader of device trees, and the check of what it lets pass, against any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/dt/check.hpp"
#include "tools/files/status.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvdla;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Any input may be refused, by an error of the tool and in no other way.
  try {
    const dt::CheckReport report = dt::check(dt::read_blob(bytes, "fuzz"));
    // Findings say where, and no terminal is harmed by what they say.
    for (const dt::Finding& finding : report.findings) {
      const std::string text = finding.node + finding.property + finding.text;
      if (!finding.node.starts_with('/') || dt::printable(text) != text) std::abort();
    }
  } catch (const program::UsageError&) {
  }
  return 0;
}
