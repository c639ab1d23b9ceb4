// SPDX-License-Identifier: MIT
#include "support/float.hpp"

namespace nvdla::fp {

static_assert(widen<Fp32>(0x3c00) == 0x3f800000 && widen<Fp17>(0x3c00) == 0x7c00);
static_assert(narrow<Fp32>(0x3f800000) == 0x3c00 && narrow<Fp17>(0x7c00) == 0x3c00);
static_assert(add<Fp17>(0x7c00, 0x7c00) == 0x8000 && mul<Fp17>(0x7800, 0x8000) == 0x7c00);

Specials count_specials(std::span<const std::uint16_t> values) noexcept {
  Specials specials;
  for (const std::uint16_t value : values) {
    specials.nan += is_nan<Fp16>(value) ? 1 : 0;
    specials.infinite += is_infinite<Fp16>(value) ? 1 : 0;
  }
  return specials;
}

}  // namespace nvdla::fp
