// SPDX-License-Identifier: MIT
//
// Finds the element of a layer's input or output at an address, from the registers that describe
// the memory of each DMA client.
#ifndef NVDLA_TOOLS_DIFF_ELEMENT_HPP
#define NVDLA_TOOLS_DIFF_ELEMENT_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tools/replay/dump.hpp"

namespace nvdla::compare {

struct Element {
  std::string place;  // "element (x 3, y 0, channel 17)", or the byte where there is no more
  std::uint64_t address = 0;  // of its first byte
  std::uint32_t bytes = 1;    // 1 or 2
  std::uint32_t precision = NVDLA_PRECISION_INT8;
};

// Returns the element that contains `address`; `access` is the layer's access that touches it.
Element element_at(const replay::Dump& dump, std::uint32_t layer, const nvdla_dump_access& access,
                   std::uint64_t address);

// "0xfd (-3)"
std::string value_text(const Element& element, std::span<const std::byte> bytes);

}  // namespace nvdla::compare

#endif  // NVDLA_TOOLS_DIFF_ELEMENT_HPP
