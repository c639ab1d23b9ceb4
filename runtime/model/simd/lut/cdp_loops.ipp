// SPDX-License-Identifier: MIT
//
// Loops of CDP beside its tables: the input converter, sums of squares over neighbouring channels,
// the multiplier and the output converter.

// Of int8, whose products 32 bits hold, with half of the last place.
static void cdp_take_bytes(const int8_t* __restrict elements, unsigned count,
                           const CdpConverter& of, int32_t* __restrict values) {
  const auto offset = static_cast<int32_t>(of.offset), scale = static_cast<int32_t>(of.scale);
  const unsigned shift = of.shift;
  const int32_t half = shift == 0 ? 0 : int32_t{1} << (shift - 1);
  const int32_t tie = shift == 0 ? 0 : -1;
  for (unsigned i = 0; i < count; ++i) {
    const int32_t product = (elements[i] - offset) * scale;
    const int32_t value = (product + half + ((product >> 31) & tie)) >> shift;
    values[i] = value < -256 ? -256 : value > 255 ? 255 : value;
  }
}

template <typename Element>
static void cdp_take(const Element* __restrict elements, unsigned count, const CdpConverter& of,
                     int64_t limit, int32_t* __restrict values) {
  const CdpConverter converter = of;
  for (unsigned i = 0; i < count; ++i) {
    const int64_t product = (elements[i] - converter.offset) * converter.scale;
    values[i] =
        static_cast<int32_t>(limit64(round_right(product, converter.shift), -limit, limit - 1));
  }
}

static void loop_cdp_in(const void* elements, bool bytes, unsigned count,
                        const CdpConverter& converter, int32_t* values) {
  bytes ? cdp_take_bytes(static_cast<const int8_t*>(elements), count, converter, values)
        : cdp_take(static_cast<const int16_t*>(elements), count, converter, 1 << 16, values);
}

template <unsigned kReach, typename Sum>
static void cdp_window_sums(unsigned count, const Sum* __restrict squares, Sum* __restrict sums) {
  for (unsigned i = 0; i < count; ++i) {
    Sum sum = squares[i];
    for (int away = 1; away <= static_cast<int>(kReach); ++away) {
      const Sum* at = squares + i;
      sum += at[-away] + at[away];
    }
    sums[i] = sum;
  }
}

// sum(column of squares, column of sums) for each column.
template <typename Sum, typename Square, typename SumUp>
static inline void cdp_columns(const int32_t* __restrict values, unsigned columns, unsigned count,
                               Sum* __restrict squares, Sum* __restrict sums, Square square,
                               SumUp sum_up) {
  const size_t stride = count + 2 * kCdpReach;
  for (unsigned column = 0; column < columns; ++column) {
    const int32_t* __restrict from = values + size_t{column} * count;
    Sum* __restrict to = squares + kCdpReach + column * stride;
    for (unsigned i = 0; i < count; ++i) to[i] = square(from[i]);
  }
  for (unsigned column = 0; column < columns; ++column)
    sum_up(squares + kCdpReach + column * stride, sums + size_t{column} * count);
}

template <typename Sum>
static void cdp_square_sums(const int32_t* values, unsigned columns, unsigned count, unsigned reach,
                            Sum* squares, Sum* sums) {
  cdp_columns(
      values, columns, count, squares, sums, [](int32_t value) { return Sum{value} * value; },
      [=](const Sum* from, Sum* to) {
        switch (reach) {
          case 1:
            return cdp_window_sums<1>(count, from, to);
          case 2:
            return cdp_window_sums<2>(count, from, to);
          case 3:
            return cdp_window_sums<3>(count, from, to);
          default:
            return cdp_window_sums<4>(count, from, to);
        }
      });
}

static void loop_cdp_sums(const int32_t* values, unsigned columns, unsigned count, unsigned reach,
                          int32_t* squares, int32_t* sums) {
  cdp_square_sums(values, columns, count, reach, squares, sums);
}

static void loop_cdp_sums_wide(const int32_t* values, unsigned columns, unsigned count,
                               unsigned reach, int64_t* squares, int64_t* sums) {
  cdp_square_sums(values, columns, count, reach, squares, sums);
}

// Two answers in one store.
static void loop_cdp_map(const int16_t* answers, const int32_t* x, unsigned count, int32_t* out) {
  unsigned i = 0;
  for (; i + 2 <= count; i += 2) {
    const auto first = static_cast<uint32_t>(answers[x[i]]);
    const auto second = static_cast<uint32_t>(answers[x[i + 1]]);
    const int32_t both[2] = {static_cast<int32_t>(first), static_cast<int32_t>(second)};
    __builtin_memcpy(out + i, both, sizeof(both));
  }
  if (i < count) out[i] = answers[x[i]];
}

// What is counted is compared with what truncation gives; a difference of one passes.
// Of int8, where 32 bits hold it all.
template <bool kMultiply>
static uint32_t cdp_give_bytes(const int32_t* __restrict results, const int32_t* __restrict values,
                               unsigned count, const CdpConverter& of,
                               int8_t* __restrict elements) {
  const auto offset = static_cast<int32_t>(of.offset), scale = static_cast<int32_t>(of.scale);
  const unsigned shift = of.shift;
  const int32_t half = shift == 0 ? 0 : int32_t{1} << (shift - 1);
  const int32_t tie = shift == 0 ? 0 : -1;
  uint32_t saturated = 0;
  for (unsigned i = 0; i < count; ++i) {
    const int32_t result = kMultiply ? results[i] * values[i] : results[i];
    const int32_t product = (result - offset) * scale;
    const int32_t rounded = (product + half + ((product >> 31) & tie)) >> shift;
    const int32_t out = rounded < -128 ? -128 : rounded > 127 ? 127 : rounded;
    const int32_t off = (product >> shift) - out;
    saturated += ((off > 1) | (off < -1)) ? 1 : 0;
    elements[i] = static_cast<int8_t>(out);
  }
  return saturated;
}

static bool cdp_fits(const CdpConverter& converter, bool multiply) {
  const int64_t most = multiply ? int64_t{1} << 23 : int64_t{1} << 15;
  const int64_t offset = converter.offset < 0 ? -converter.offset : converter.offset;
  const int64_t scale = converter.scale < 0 ? -converter.scale : converter.scale;
  return (most + offset) * scale < int64_t{1} << 30 && converter.shift < 31;
}

template <bool kMultiply, typename Number, typename Element>
static uint32_t cdp_give(const Number* __restrict results, const Number* __restrict values,
                         unsigned count, const CdpConverter& of, int64_t limit,
                         Element* __restrict elements) {
  const CdpConverter converter = of;
  uint64_t saturated = 0;
  for (unsigned i = 0; i < count; ++i) {
    const int64_t result = kMultiply ? int64_t{results[i]} * values[i] : int64_t{results[i]};
    const int64_t product = (result - converter.offset) * converter.scale;
    const int64_t out = limit64(round_right(product, converter.shift), -limit, limit - 1);
    const int64_t off = (product >> converter.shift) - out;
    saturated += ((off > 1) | (off < -1)) ? 1 : 0;
    elements[i] = static_cast<Element>(out);
  }
  return static_cast<uint32_t>(saturated);
}

static uint32_t loop_cdp_out(const int32_t* results, const int32_t* values, unsigned count,
                             const CdpConverter& converter, bool bytes, void* elements) {
  if (bytes && cdp_fits(converter, values != nullptr)) {
    auto* to = static_cast<int8_t*>(elements);
    return values == nullptr ? cdp_give_bytes<false>(results, values, count, converter, to)
                             : cdp_give_bytes<true>(results, values, count, converter, to);
  }
  const auto give = [&]<typename Element>(Element* to, int64_t limit) {
    return values == nullptr ? cdp_give<false>(results, values, count, converter, limit, to)
                             : cdp_give<true>(results, values, count, converter, limit, to);
  };
  return bytes ? give(static_cast<int8_t*>(elements), 1 << 7)
               : give(static_cast<int16_t*>(elements), 1 << 15);
}

static bool loop_cdp_in_half(const uint16_t* __restrict elements, unsigned count, bool flush_nan,
                             int32_t* __restrict values) {
  const int32_t most = most_of_half(flush_nan);
  int32_t special = 0;
  for (unsigned i = 0; i < count; ++i) {
    values[i] = widen_half<Lane17>(elements[i], most);
    special |= (elements[i] & 0x7c00) == 0x7c00 ? 1 : 0;
  }
  return special == 0;
}

// The neighbours next to the middle first, then the middle, then pairs further away. Squares have
// no sign, so sums need no more than the processor's.
static inline int32_t add_squares(int32_t a, int32_t b) {
  return lane_nan(a, b, lane_bits(lane_float(a) + lane_float(b)));
}

template <unsigned kReach>
static void cdp_plain_sums(unsigned count, const int32_t* __restrict squares,
                           int32_t* __restrict sums) {
  for (unsigned i = 0; i < count; ++i) {
    const int32_t* at = squares + i;
    float sum = lane_float(at[-1]) + lane_float(at[1]) + lane_float(at[0]);
    for (int away = 2; away <= static_cast<int>(kReach); ++away)
      sum += lane_float(at[-away]) + lane_float(at[away]);
    sums[i] = lane_bits(sum);
  }
}

static void cdp_plain_square_sums(const int32_t* values, unsigned columns, unsigned count,
                                  unsigned reach, int32_t* squares, int32_t* sums) {
  cdp_columns(
      values, columns, count, squares, sums,
      [](int32_t value) { return lane_bits(lane_float(value) * lane_float(value)); },
      [=](const int32_t* from, int32_t* to) {
        switch (reach) {
          case 1:
            return cdp_plain_sums<1>(count, from, to);
          case 2:
            return cdp_plain_sums<2>(count, from, to);
          case 3:
            return cdp_plain_sums<3>(count, from, to);
          default:
            return cdp_plain_sums<4>(count, from, to);
        }
      });
}

static void loop_cdp_sums_float(const int32_t* values, unsigned columns, unsigned count,
                                unsigned reach, bool plain, int32_t* squares, int32_t* sums) {
  if (plain) return cdp_plain_square_sums(values, columns, count, reach, squares, sums);
  cdp_columns(
      values, columns, count, squares, sums,
      [](int32_t value) { return lane_mul<Lane32>(value, value); },
      [=](const int32_t* from, int32_t* __restrict to) {
        for (unsigned away = 1; away <= reach; ++away) {
          const int32_t* __restrict below = from - away;
          const int32_t* __restrict above = from + away;
          for (unsigned i = 0; i < count; ++i) {
            const int32_t pair = add_squares(below[i], above[i]);
            to[i] = away == 1 ? add_squares(pair, from[i]) : add_squares(to[i], pair);
          }
        }
      });
}

// Of two NaNs that of the input stays.
template <bool kMultiply>
static uint32_t cdp_give_half(const int32_t* __restrict results, const int32_t* __restrict values,
                              unsigned count, uint16_t* __restrict elements) {
  uint32_t nan = 0;
  for (unsigned i = 0; i < count; ++i) {
    const int32_t value = values[i];
    const int32_t result =
        kMultiply ? lane_mul<Lane17>(value, results[i]) : lane_nan(value, value, results[i]);
    const int32_t half = lane_narrow(result);
    nan += (half & 0x7fff) > 0x7c00 ? 1 : 0;
    elements[i] = static_cast<uint16_t>(half);
  }
  return nan;
}

static uint32_t loop_cdp_out_half(const int32_t* results, const int32_t* values, unsigned count,
                                  bool multiply, bool /*plain*/, uint16_t* elements) {
  return multiply ? cdp_give_half<true>(results, values, count, elements)
                  : cdp_give_half<false>(results, values, count, elements);
}
