// SPDX-License-Identifier: MIT
#include <cmath>

#include "common/layers/cdp_case.hpp"
#include "common/layers/table_reference.hpp"

namespace nvdla::test {
namespace {

struct Answer {
  Side side;
  int value;
};

int miss(const CdpTable& table, std::int64_t x, bool over) {
  Wide distance = Wide{x} - (over ? table.end : table.start);
  if (!over && table.exponential && table.offset >= 0) distance -= Wide{1} << table.offset;
  const Wide step = saturate(round_shift(distance * (over ? table.over_scale : table.under_scale),
                                         over ? table.over_shift : table.under_shift),
                             56);
  return static_cast<int>(
      saturate((over ? table.entries.back() : table.entries.front()) + step, 16));
}

Answer look_up(const CdpTable& table, std::int64_t x) {
  if (x <= table.start) return {kUnder, miss(table, x, false)};
  const Wide distance = Wide{x} - table.start;
  Wide index, fraction;
  if (table.exponential) {
    int log = 0;
    while (distance >> (log + 1) != 0) ++log;
    index = log - table.offset;
    if (index < 0) return {kUnder, miss(table, x, false)};
    fraction = (distance - (Wide{1} << log)) * 65536 / (Wide{1} << log);
  } else if (table.select > 0) {
    const Wide step = Wide{1} << table.select;
    index = distance / step;
    fraction = distance % step * 65536 / step;
  } else {
    index = distance * (Wide{1} << -table.select);
    fraction = 0;
  }
  if (index >= static_cast<int>(table.entries.size()) - 1) return {kOver, miss(table, x, true)};
  const int low = table.entries[static_cast<std::size_t>(index)];
  const int high = table.entries[static_cast<std::size_t>(index) + 1];
  return {kHit, static_cast<int>(saturate(low + round_shift((high - low) * fraction, 16), 16))};
}

std::uint32_t fp32_of(int half) {
  return float_convert(kHalf, kSingle, static_cast<std::uint16_t>(half));
}

// The result is fp17.
Answer look_up_half(const CdpTable& table, std::uint32_t x) {
  const RealPlace place = place_real(table, x);
  if (place.side != kHit)
    return {place.side, static_cast<int>(miss_real(table, x, place.side == kOver))};
  const int low = table.entries[place.index], high = table.entries[place.index + 1];
  // 16 bits of the fraction take part.
  const double fraction = std::ldexp(std::floor(std::ldexp(place.fraction, 16)), -16);
  const std::uint32_t rise = float_convert(kSingle, kFp17, fp32_minus(fp32_of(high), fp32_of(low)));
  const std::uint32_t part = float_mul(kFp17, rise, float_bits(kFp17, false, fraction));
  return {kHit, static_cast<int>(float_add(kFp17, part, fp17_of(low)))};
}

// Which table answers.
unsigned choose(const CdpCase& layer, Side le, Side lo, CdpOutcome& outcome) {
  if (le == kUnder && lo == kUnder) {
    ++outcome.under;
    return layer.priority[0];
  }
  if (le == kOver && lo == kOver) {
    ++outcome.over;
    return layer.priority[1];
  }
  if (le == kHit && lo != kHit) {
    ++outcome.le;
    return 0;
  }
  if (lo == kHit && le != kHit) {
    ++outcome.lo;
    return 1;
  }
  ++outcome.hybrid;
  return layer.priority[2];
}

// Lane `c` of one column; `read(c)` gives the bits of a channel.
template <typename Read>
std::uint16_t normalised_int(const CdpCase& layer, int c, Read read, CdpOutcome& outcome) {
  const unsigned in_bits = layer.precision == 0 ? 9 : 17;
  const unsigned out_bits = layer.precision == 0 ? 8 : 16;
  const auto converted = [&](int channel) -> std::int64_t {
    if (channel < 0 || channel >= static_cast<int>(layer.channels)) return 0;
    const std::uint16_t bits = read(channel);
    const std::int64_t value =
        layer.precision == 0 ? static_cast<std::int8_t>(bits) : static_cast<std::int16_t>(bits);
    return static_cast<std::int64_t>(
        saturate(round_shift(Wide{value - layer.in_offset} * layer.in_scale,
                             static_cast<int>(layer.in_shift)),
                 in_bits));
  };
  std::int64_t index = converted(c);
  if (!layer.bypass_sum) {
    index = 0;
    for (int i = -static_cast<int>(layer.reach); i <= static_cast<int>(layer.reach); ++i)
      index += converted(c + i) * converted(c + i);
  }
  const Answer le = look_up(layer.le, index), lo = look_up(layer.lo, index);
  Wide result = choose(layer, le.side, lo.side, outcome) == 0 ? le.value : lo.value;
  if (!layer.bypass_mul) result *= converted(c);
  const Wide product = (result - layer.out_offset) * layer.out_scale;
  const Wide out = saturate(round_shift(product, static_cast<int>(layer.out_shift)), out_bits);
  Wide floor = product / (Wide{1} << layer.out_shift);
  if (floor * (Wide{1} << layer.out_shift) > product) --floor;
  // The logic of the second generation has no such counter.
  const bool counts = layer.hw->regmap == NVDLA_REGMAP_NV_FULL || layer.reference_model;
  outcome.saturated += counts && (floor - out > 1 || out - floor > 1);
  return static_cast<std::uint16_t>(out);
}

template <typename Read>
std::uint16_t normalised_half(const CdpCase& layer, int c, Read read, CdpOutcome& outcome) {
  const auto converted = [&](int channel) -> std::uint32_t {
    if (channel < 0 || channel >= static_cast<int>(layer.channels)) return 0;
    const std::uint16_t bits = read(channel);
    return layer.flush && kHalf.nan(bits) ? 0 : float_convert(kHalf, kFp17, bits);
  };
  const auto single = [&](int channel) {
    return float_convert(kFp17, kSingle, converted(channel));
  };
  const auto square = [&](int channel) {
    return float_mul(kSingle, single(channel), single(channel));
  };
  std::uint32_t index = single(c);
  if (!layer.bypass_sum) {
    index = float_add(kSingle, float_add(kSingle, square(c - 1), square(c + 1)), square(c));
    for (int i = 2; i <= static_cast<int>(layer.reach); ++i)
      index = float_add(kSingle, index, float_add(kSingle, square(c - i), square(c + i)));
  }
  const Answer le = look_up_half(layer.le, index), lo = look_up_half(layer.lo, index);
  auto result = static_cast<std::uint32_t>(
      choose(layer, le.side, lo.side, outcome) == 0 ? le.value : lo.value);
  const std::uint32_t x = converted(c);
  if (!layer.bypass_mul) {
    // A NaN of x comes before one of the table.
    result = float_mul(kFp17, x, result);
  } else if (kFp17.nan(x)) {
    result = x;
  }
  const auto out = static_cast<std::uint16_t>(float_convert(kFp17, kHalf, result));
  outcome.nan_out += kHalf.nan(out);
  return out;
}

}  // namespace

CdpOutcome cdp_reference(const CdpCase& layer, UnitRig& rig) {
  CdpOutcome outcome;
  for (unsigned y = 0; y < layer.height; ++y)
    for (unsigned x = 0; x < layer.width; ++x) {
      const auto read = [&](int c) -> std::uint16_t {
        const std::uint64_t at = layer.at(layer.source, x, y, static_cast<unsigned>(c));
        return layer.bytes() == 1 ? rig.byte(at) : rig.half(at);
      };
      for (unsigned lane = 0; lane < layer.surfaces() * layer.lanes(); ++lane) {
        const int c = static_cast<int>(lane);
        outcome.nan_in += layer.real() && kHalf.nan(read(c));
        outcome.infinite_in += layer.real() && (read(c) & 0x7fff) == kHalf.infinity();
        const std::uint16_t out = layer.real() ? normalised_half(layer, c, read, outcome)
                                               : normalised_int(layer, c, read, outcome);
        const std::uint64_t at = layer.at(layer.destination, x, y, lane);
        outcome.bytes[at] = static_cast<std::uint8_t>(out);
        if (layer.bytes() == 2) outcome.bytes[at + 1] = static_cast<std::uint8_t>(out >> 8);
      }
    }
  return outcome;
}

}  // namespace nvdla::test
