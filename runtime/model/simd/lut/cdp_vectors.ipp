// SPDX-License-Identifier: MIT
//
// CDP but for its tables: sums of squares of numbers of fp32 in registers, and all of it in int8.

template <unsigned kAway, unsigned kReach>
static inline Floats cdp_add_pairs(Floats previous, Floats squares, Floats next, Floats sum) {
  const Floats pair =
      Vector::add(Vector::earlier<kAway>(previous, squares), Vector::later<kAway>(squares, next));
  sum = Vector::add(kAway == 1 ? pair : sum, kAway == 1 ? squares : pair);
  if constexpr (kAway == kReach) {
    return sum;
  } else {
    return cdp_add_pairs<kAway + 1, kReach>(previous, squares, next, sum);
  }
}

template <unsigned kReach>
static void cdp_finite_sums(const int32_t* values, unsigned columns, unsigned count,
                            int32_t* sums) {
  const auto squares_at = [&](unsigned i) {
    return Vector::multiply(Vector::load(values + i), Vector::load(values + i));
  };
  for (unsigned column = 0; column < columns; ++column, values += count, sums += count) {
    Floats previous = Vector::fill(0), squares = squares_at(0);
    for (unsigned i = 0; i < count; i += Vector::kLanes) {
      const bool last = i + Vector::kLanes == count;
      const Floats next = last ? Vector::fill(0) : squares_at(i + Vector::kLanes);
      Vector::store(cdp_add_pairs<1, kReach>(previous, squares, next, squares), sums + i);
      previous = squares;
      squares = next;
    }
  }
}

static void cdp_sums_float(const int32_t* values, unsigned columns, unsigned count, unsigned reach,
                           bool plain, int32_t* squares, int32_t* sums) {
  if (!plain || count % Vector::kLanes != 0)
    return loop_cdp_sums_float(values, columns, count, reach, plain, squares, sums);
  switch (reach) {
    case 1:
      return cdp_finite_sums<1>(values, columns, count, sums);
    case 2:
      return cdp_finite_sums<2>(values, columns, count, sums);
    case 3:
      return cdp_finite_sums<3>(values, columns, count, sums);
    default:
      return cdp_finite_sums<4>(values, columns, count, sums);
  }
}

// CDP in int8 where the tables' answers are known, from atoms to atoms: numbers have 16 bits on the
// way and only sums and products 32. A batch goes through one step after the other, so that what a
// step loads was stored long before.

// Atoms to words, with what lies beyond the last channel.
static void cdp_take_words(const CdpBytes& of, const CdpSource& from, unsigned columns,
                           int16_t* words) {
  const Ints offset = Words::same(static_cast<int16_t>(of.offset));
  const size_t stride = of.lanes + 2 * kCdpReach;
  int16_t* to = words + kCdpReach;
  for (unsigned column = 0; column < columns; ++column, to += stride) {
    const char* atom = static_cast<const char*>(from.first) + column * from.column;
    for (unsigned lane = 0; lane < of.lanes; lane += kCdpAtom, atom += from.surface)
      for (unsigned i = 0; i < kCdpAtom; i += Words::kLanes)
        Words::store(Words::subtract(Words::from_int8(atom + i), offset), to + lane + i);
    for (unsigned lane = of.channels; lane < of.lanes; ++lane) to[lane] = 0;
  }
}

// Of each vector of words the sums of the even ones, then those of the odd ones. Pairs of squares
// have a part in both; the first pair and the last in one of them with one word alone.
template <unsigned kReach>
static void cdp_word_sums(const int16_t* words, unsigned columns, unsigned lanes, int32_t* sums) {
  const Ints even = Vector::same(0xffff);
  const size_t stride = lanes + 2 * kCdpReach;
  for (unsigned column = 0; column < columns; ++column) {
    const int16_t* from = words + kCdpReach - kReach + column * stride;
    for (unsigned lane = 0; lane < lanes; lane += Words::kLanes, sums += Words::kLanes) {
      const Ints first = Words::load(from + lane), last = Words::load(from + lane + 2 * kReach);
      const Ints first_pairs = Words::multiply_pairs(first, first);
      const Ints last_pairs = Words::multiply_pairs(last, last);
      const Ints first_even = Words::multiply_pairs(first, Vector::both(first, even));
      const Ints last_even = Words::multiply_pairs(last, Vector::both(last, even));
      Ints of_even = Vector::add(first_pairs, last_even);
      Ints of_odd = Vector::add(Vector::subtract(first_pairs, first_even), last_pairs);
      for (unsigned i = 2; i < 2 * kReach; i += 2) {
        const Ints both = Words::load(from + lane + i);
        const Ints pairs = Words::multiply_pairs(both, both);
        of_even = Vector::add(of_even, pairs);
        of_odd = Vector::add(of_odd, pairs);
      }
      Vector::store_ints(of_even, sums);
      Vector::store_ints(of_odd, sums + Vector::kLanes);
    }
  }
}

static inline uint64_t two_words(const int32_t* from) {
  uint64_t words;
  __builtin_memcpy(&words, from, sizeof(words));
  return words;
}

// Two sums in one load.
static void cdp_map_words(const int16_t* answers, const int32_t* sums, unsigned count,
                          int16_t* out) {
  for (unsigned i = 0; i < count; i += Words::kLanes, sums += Words::kLanes, out += Words::kLanes) {
    for (unsigned k = 0; k < Vector::kLanes; k += 2) {
      const uint64_t even = two_words(sums + k), odd = two_words(sums + Vector::kLanes + k);
      out[2 * k] = answers[static_cast<uint32_t>(even)];
      out[2 * k + 1] = answers[static_cast<uint32_t>(odd)];
      out[2 * k + 2] = answers[even >> 32];
      out[2 * k + 3] = answers[odd >> 32];
    }
  }
}

// Products through the output's converter: the upper bits and the lower ones are multiplied each,
// and of the lower product only how many 2^kLow it has, and whether it has more.
class CdpWordsOut {
 public:
  explicit CdpWordsOut(const CdpConverter& of)
      : offset_(Vector::same(static_cast<int32_t>(of.offset))),
        scale_(Vector::same(static_cast<int32_t>(of.scale))),
        half_(Vector::same(1 << (of.shift - kLow - 1))),
        shift_(of.shift - kLow) {}

  // What has more than 16 bits saturates.
  Ints of(Ints answers, Ints values) const {
    const Ints low = Words::multiply_low(answers, values);
    const Ints high = Words::multiply_high(answers, values);
    return Words::narrow(convert(Words::first_pairs(low, high)),
                         convert(Words::second_pairs(low, high)));
  }

 private:
  static constexpr unsigned kLow = kCdpLeastShift - 1;

  // Half away from zero is half up, less the last bit of a negative number.
  Ints convert(Ints product) const {
    const Ints result = Vector::subtract(product, offset_);
    const Ints upper = Vector::multiply(Vector::right_signed(result, kLow), scale_);
    const Ints lower =
        Vector::multiply(Vector::both(result, Vector::same((1 << kLow) - 1)), scale_);
    const Ints away =
        Vector::right_signed(Vector::subtract(lower, Vector::right(result, 31)), kLow);
    return Vector::right_signed(Vector::add(Vector::add(upper, half_), away), shift_);
  }

  Ints offset_, scale_, half_;
  unsigned shift_;
};

// Answers times values to atoms; the loop has those in which something saturates.
static uint32_t cdp_give_words(const CdpBytes& of, const int16_t* answers, const int16_t* words,
                               unsigned columns, const CdpTarget& to) {
  constexpr unsigned kVectors = kCdpAtom / Words::kLanes;
  const CdpWordsOut out(of.out);
  const Ints middle = Words::same(128), beyond = Words::same(static_cast<int16_t>(0xff00));
  const size_t stride = of.lanes + 2 * kCdpReach;
  const int16_t* values = words + kCdpReach;
  uint32_t saturated = 0;
  for (unsigned column = 0; column < columns; ++column, values += stride) {
    char* atom = static_cast<char*>(to.first) + column * to.column;
    for (unsigned lane = 0; lane < of.lanes; lane += kCdpAtom, atom += to.surface) {
      Ints results[kVectors];
      Ints far = Words::same(0);
      for (unsigned i = 0; i < kVectors; ++i) {
        const unsigned at = i * Words::kLanes;
        results[i] = out.of(Words::load(answers + at), Words::load(values + lane + at));
        far = Vector::either(far, Words::add(results[i], middle));
      }
      if (Vector::any_bit(Vector::both(far, beyond))) {
        saturated += cdp_give<true>(answers, values + lane, kCdpAtom, of.out, 1 << 7,
                                    reinterpret_cast<int8_t*>(atom));
      } else {
        Words::to_int8(results, atom);
      }
      answers += kCdpAtom;
    }
  }
  return saturated;
}

static uint32_t cdp_bytes(const CdpBytes& of, const CdpSource& from, unsigned columns,
                          const CdpTarget& to, const CdpRoom& room) {
  cdp_take_words(of, from, columns, room.words);
  switch (of.reach) {
    case 1:
      cdp_word_sums<1>(room.words, columns, of.lanes, room.sums);
      break;
    case 2:
      cdp_word_sums<2>(room.words, columns, of.lanes, room.sums);
      break;
    case 3:
      cdp_word_sums<3>(room.words, columns, of.lanes, room.sums);
      break;
    default:
      cdp_word_sums<4>(room.words, columns, of.lanes, room.sums);
  }
  cdp_map_words(of.answers, room.sums, columns * of.lanes, room.answers);
  return cdp_give_words(of, room.answers, room.words, columns, to);
}
