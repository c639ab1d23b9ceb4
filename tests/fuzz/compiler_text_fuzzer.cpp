// SPDX-License-Identifier: MIT
//
// The parsers of graphs and schedules against any text: one that is taken is printed, and what is
// printed is read as the same graph or schedule.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "compiler/graph/graph_text.hpp"
#include "compiler/lower/schedule_text.hpp"
#include "nvdla/types/error.hpp"

namespace {

constexpr nvdla::detail::text::ParseOptions kOptions = {.fill_omitted = true, .max_bytes = 1 << 20};

// Texts of graphs and of schedules begin with different words.
template <typename Parse, typename Print, typename Difference>
void check(std::string_view text, const Parse& parse, const Print& print,
           const Difference& difference) {
  std::string printed;
  try {
    const auto first = parse(text, kOptions);
    printed = print(first, {.all_values = true});
    try {
      const auto second = parse(printed, kOptions);
      if (!difference(first, second).empty() || print(second, {.all_values = true}) != printed)
        std::abort();
    } catch (const nvdla::Error&) {
      std::abort();
    }
  } catch (const nvdla::Error&) {
    // Any text may be refused; nothing else may happen.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvdla::detail;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, parse_graph, print_graph, graph_difference);
  check(text, parse_schedule, print_schedule, schedule_difference);
  return 0;
}
