// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <utility>

#include "layer_makers.hpp"

namespace nvdla::fuzz {
namespace {

// Exponents and inputs that a unit takes in a precision, by the description of the tables.
struct Limits {
  int offset[2], le_select[2], lo_select[2];
  unsigned bits;
};

Limits limits(std::uint32_t unit, std::uint32_t precision) {
  if (precision == NVDLA_PRECISION_FP16) return {{-126, 127}, {-128, 121}, {-128, 119}, 32};
  if (unit == NVDLA_LUT_SDP) return {{-64, 31}, {-6, 25}, {-8, 23}, 32};
  if (precision == NVDLA_PRECISION_INT8) return {{-64, 20}, {-6, 15}, {-8, 13}, 22};
  return {{-64, 36}, {-6, 31}, {-8, 29}, 38};
}

int in(Input& input, const int (&range)[2]) {
  return range[0] +
         static_cast<int>(input.below(static_cast<std::uint32_t>(range[1] - range[0]) + 1));
}

// Where a table begins and ends; an fp16 one begins below 2^@below.
void make_range(Input& input, std::uint32_t precision, unsigned bits, int below, __s64& start,
                __s64& end) {
  if (precision == NVDLA_PRECISION_FP16) {
    // Exponents of normal numbers.
    const auto number = [&](int most) {
      return static_cast<std::uint32_t>(input.flag()) << 31 |
             input.within(1, static_cast<std::uint32_t>(most)) << 23 | input.take<std::uint16_t>();
    };
    std::uint32_t first = number(std::min(below + 126, 254));
    std::uint32_t last = number(254);
    if (std::bit_cast<float>(last) < std::bit_cast<float>(first)) std::swap(first, last);
    start = first;
    end = last;
    return;
  }
  const unsigned size = input.within(2, bits - 1);
  const auto number = [&] {
    return static_cast<std::int64_t>(input.take<std::uint64_t>() >> (65 - size));
  };
  start = number() - (std::int64_t{1} << (size - 1));
  end = start + number();
}

nvdla_lut_slope slope(Input& input, std::uint32_t precision) {
  if (precision == NVDLA_PRECISION_FP16) return {input.take<std::uint16_t>(), 0};
  return {input.take<std::int16_t>(), static_cast<std::int32_t>(input.below(32)) - 16};
}

}  // namespace

void make_lut(Workshop& shop, nvdla_layer& layer, std::uint32_t unit, std::uint32_t precision) {
  Input& input = shop.input;
  const Limits limit = limits(unit, precision);
  nvdla_lut lut{};
  lut.unit = unit;
  lut.flags = input.below(16);
  if ((lut.flags & NVDLA_LUT_LE_LINEAR) != 0) {
    lut.le_index_select = in(input, limit.le_select);
  } else {
    lut.le_index_offset = in(input, limit.offset);
  }
  lut.lo_index_select = in(input, limit.lo_select);
  const int le_below = (lut.flags & NVDLA_LUT_LE_LINEAR) != 0 ? lut.le_index_select + 30 : 128;
  make_range(input, precision, limit.bits, le_below, lut.le_start, lut.le_end);
  make_range(input, precision, limit.bits, lut.lo_index_select + 32, lut.lo_start, lut.lo_end);
  for (nvdla_lut_slope* one :
       {&lut.le_underflow, &lut.le_overflow, &lut.lo_underflow, &lut.lo_overflow})
    *one = slope(input, precision);
  // Entries are no matter of the checks: any will do, from few bytes of input.
  std::uint32_t state = input.take<std::uint32_t>();
  const auto entry = [&] {
    state = state * 1664525 + 1013904223;
    return static_cast<std::uint16_t>(state >> 16);
  };
  for (auto& one : lut.le) one = entry();
  for (auto& one : lut.lo) one = entry();
  shop.made.luts.push_back(lut);
  layer.lut = static_cast<std::uint32_t>(shop.made.luts.size());
}

}  // namespace nvdla::fuzz
