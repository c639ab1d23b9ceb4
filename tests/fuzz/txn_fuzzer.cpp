// SPDX-License-Identifier: MIT
//
// The parser of traces of the first generation and of the files beside them, and the player
// behind it, against any bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay_check.hpp"
#include "tools/replay/parsers.hpp"
#include "tools/replay/text.hpp"

namespace {

// Any input may be refused, by an error of the tool and in no other way.
template <typename Parse>
void refusable(Parse parse) {
  try {
    parse();
  } catch (const nvdla::replay::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvdla::replay;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  refusable([&] {
    nvdla::fuzz::check_script(
        parse_txn(text, "fuzz.txn", NVDLA_REGMAP_NV_FULL, {.read_retries = 9}));
  });
  refusable([&] { parse_plusargs(text, "plusargs.txt"); });
  refusable([&] { parse_text_blob(text, "fuzz.dat"); });
  return 0;
}
