// SPDX-License-Identifier: MIT
#include "tools/replay/interrupts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace nvdla::replay {
namespace {

struct Source {
  std::string_view name;
  unsigned bit;  // of group 0; group 1 is the next
};

constexpr Source kSources[] = {
    {"SDP", 0}, {"CDP", 2},       {"PDP", 4},      {"BDMA", 6},  {"RUBIK", 8},
    {"RBK", 8}, {"CDMA_DAT", 16}, {"CDMA_WT", 18}, {"CACC", 20},
};

}  // namespace

std::optional<std::uint32_t> interrupt_bit(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const Source& source : kSources)
    for (unsigned group = 0; group < 2; ++group)
      if (upper == fmt::format("{}_{}", source.name, group)) return 1u << (source.bit + group);
  return std::nullopt;
}

std::string interrupt_names(std::uint32_t bits) {
  std::string names;
  for (unsigned bit = 0; bit < 32; ++bit) {
    if (!(bits >> bit & 1)) continue;
    std::string name = fmt::format("bit {}", bit);
    for (const Source& source : kSources)
      if (source.bit == (bit & ~1u) && source.name != "RBK")
        name = fmt::format("{}_{}", source.name, bit & 1);
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

std::string all_interrupt_names() {
  std::string names;
  for (const Source& source : kSources)
    names += fmt::format("{}{}_0, {}_1", names.empty() ? "" : ", ", source.name, source.name);
  return names;
}

}  // namespace nvdla::replay
