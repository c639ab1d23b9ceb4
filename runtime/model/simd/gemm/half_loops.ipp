// SPDX-License-Identifier: MIT
//
// Loops of the convolution in fp16 that the compiler vectorises, included by each instruction set's
// translation unit into an unnamed namespace. Numbers as in the description of the datapath.

// The multiplier of fp16 mantissas: radix-4 Booth digits of the weight in ten rows, a fixed tree of
// 3:2 adders, and a shift of both words that are left before they are added. Digit by digit, since
// what the shift cuts off depends on how the tree splits a product into two words.
struct Words {
  uint32_t a, b;
};

static inline Words add3(uint32_t x, uint32_t y, uint32_t z) {
  return {x ^ y ^ z, ((x & y) | (x & z) | (y & z)) << 1};
}

static inline Words add5(uint32_t v, uint32_t w, uint32_t x, uint32_t y, uint32_t z) {
  const Words first = add3(v, w, x);
  const Words second = add3(first.a, first.b, y);
  return add3(second.a, second.b, z);
}

struct Digit {
  uint32_t product;   // 17 bits, a bias of 2^16 in it
  uint32_t negative;  // 0 or 1: what ones' complement lacks
};

template <unsigned kIndex>
static inline Digit booth_digit(uint32_t data, uint32_t weight, uint32_t invert) {
  const uint32_t code = ((weight << 1) >> (2 * kIndex) & 7) ^ invert;
  const uint32_t once = (code ^ (code >> 1)) & 1;
  const uint32_t twice = ((code >> 1) ^ (code >> 2)) & 1 & ~once;
  const uint32_t magnitude = (data & (0 - once)) | ((data << 1) & (0 - twice));
  const uint32_t negative = (code >> 2) & (once | twice);
  return {(magnitude ^ (0xffff & (0 - negative))) | ((negative ^ 1) << 16), negative};
}

// `shift` 0..31.
[[gnu::always_inline]] static inline int32_t half_product(uint32_t data, uint32_t weight,
                                                          uint32_t negative, uint32_t shift) {
  const uint32_t invert = (0 - negative) & 7;
  const Digit d0 = booth_digit<0>(data, weight, invert);
  const Digit d1 = booth_digit<1>(data, weight, invert);
  const Digit d2 = booth_digit<2>(data, weight, invert);
  const Digit d3 = booth_digit<3>(data, weight, invert);
  const Digit d4 = booth_digit<4>(data, weight, invert);
  const Digit d5 = booth_digit<5>(data, weight, invert);
  const Digit d6 = booth_digit<6>(data, weight, invert);
  const Digit d7 = booth_digit<7>(data, weight, invert);
  const Words low =
      add5(d0.product, d1.product << 2 | d0.negative, d2.product << 4 | d1.negative << 2,
           d3.product << 6 | d2.negative << 4, d3.negative << 6);
  const Words high = add5(d4.product << 8, d5.product << 10 | d4.negative << 8,
                          d6.product << 12 | d5.negative << 10,
                          d7.product << 14 | d6.negative << 12, d7.negative << 14);
  const Words three = add3(low.a, low.b, high.a);
  const Words two = add3(three.a, three.b, high.b);
  const uint32_t bias = shift > 28 ? 0 : 0x55550000u >> shift;
  return static_cast<int32_t>((two.a >> shift) + (two.b >> shift) - bias);
}

// An infinity is nothing special: exponent 31 with mantissa 0.
static inline uint32_t half_mantissa(uint32_t value) {
  const uint32_t exponent = value >> 10 & 31;
  const uint32_t shift = exponent == 0 ? 1 : exponent & 3;
  return ((value & 0x3ff) | (exponent == 0 ? 0 : 0x400)) << shift;
}

[[maybe_unused]] static void loop_half(const HalfStep& step, HalfProducts& result) {
  const unsigned lanes = step.lanes;
  result.nan = 0;
  uint32_t nans = 0;
  uint32_t groups[kLanes];
  uint32_t greatest = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    const uint32_t data = step.data[i] & 0x7fff;
    const uint32_t weight = step.weights[i] & 0x7fff;
    nans |= (data > 0x7c00) | (weight > 0x7c00);
    // Zeros take no part, so that one cannot raise the exponent of the step: 0 if skipped.
    const uint32_t active = (data != 0) & (weight != 0);
    groups[i] = ((data >> 12) + (weight >> 12) + 1) & (0 - active);
    greatest = groups[i] > greatest ? groups[i] : greatest;
  }
  if (nans != 0) {
    const uint16_t* const operands[2] = {step.weights, step.data};
    for (const uint16_t* values : operands)
      for (unsigned i = 0; i < lanes; ++i)
        if ((values[i] & 0x7fff) > 0x7c00) {
          result.nan = values[i];
          return;
        }
  }
  result.exponent = greatest == 0 ? 0 : (greatest - 1) * 4;
  for (unsigned i = 0; i < lanes; ++i) {
    const uint32_t distance = (greatest - groups[i]) * 4;
    const uint32_t present = 0u - static_cast<uint32_t>((groups[i] != 0) & (distance < 32));
    const uint32_t product = static_cast<uint32_t>(
        half_product(half_mantissa(step.data[i]), half_mantissa(step.weights[i]),
                     (step.data[i] ^ step.weights[i]) >> 15 & 1u, distance & 31));
    result.products[i] = static_cast<int32_t>(product & present);
  }
  int64_t sum = 0;
  for (unsigned i = 0; i < lanes; ++i) sum += result.products[i];
  result.sum = sum;
}

// All bits or none: the compiler does not vectorise all that it takes for a branch.
static inline int32_t when(bool condition) { return -static_cast<int32_t>(condition); }

// The tree for a tile. Of a product that is shifted right by s bits, at most 16, as two words, the
// sum is that of the shifted product but for what the words' lower s bits carry: less 1 where they
// do, which is where the lower bits of the sum are less than those of one word. Lower 16 bits are
// all it takes, and the first four rows for the lower 8.
constexpr unsigned kRows = 8;

// Row i of the multiplier is data * factors[i] + lacks[i]: digits in their places, and what ones'
// complement lacks of this row and the one before.
struct HalfRows {
  unsigned known;  // rows that are there
  alignas(64) uint16_t factors[kRows][kBlock];
  alignas(64) uint16_t lacks[kRows][kBlock];
  // What is left of the last row of each half.
  alignas(64) uint16_t ends[2][kBlock];
};

// The file that includes this may have rows and what adds them in vectors of its own.
#ifndef NVDLA_HALF_ROWS
// Four rows, from `first` on; `negative` is the sign of the data.
static void half_rows(const int16_t* mantissas, bool negative, unsigned first, HalfRows& rows) {
  const uint16_t flipped = negative ? 0xffff : 0;
  uint16_t before[kBlock] = {};
  for (unsigned i = first; i < first + 4; ++i) {
    const unsigned place = 2 * i;
    for (unsigned k = 0; k < kBlock; ++k) {
      const auto sign = static_cast<uint16_t>(mantissas[k] >> 15);
      const auto weight = static_cast<uint16_t>((mantissas[k] ^ sign) - sign);
      const auto code = static_cast<uint16_t>((weight << 1) >> place ^ sign ^ flipped);
      const uint16_t once = (code ^ code >> 1) & 1;
      const uint16_t twice = (code >> 1 ^ code >> 2) & 1 & (once ^ 1);
      const uint16_t minus = code >> 2 & (once | twice);
      const auto digit = static_cast<uint16_t>(once + 2 * twice);
      const auto lack = static_cast<uint16_t>(minus << place);
      rows.factors[i][k] =
          static_cast<uint16_t>(static_cast<uint16_t>((digit ^ (0 - minus)) + minus) << place);
      rows.lacks[i][k] = static_cast<uint16_t>(before[k] - lack);
      before[k] = lack;
    }
  }
  for (unsigned k = 0; k < kBlock; ++k) rows.ends[first / 4][k] = before[k];
  rows.known = first + 4;
}

struct Words16 {
  uint16_t a, b;
};

static inline Words16 add3(uint16_t x, uint16_t y, uint16_t z) {
  return {static_cast<uint16_t>(x ^ y ^ z), static_cast<uint16_t>(((x & y) | (z & (x | y))) << 1)};
}

// The four rows of a half and what is left of the last.
static inline Words16 add_rows(const HalfRows& rows, unsigned first, uint16_t data, unsigned k) {
  const auto row = [&](unsigned i) {
    return static_cast<uint16_t>(data * rows.factors[i][k] + rows.lacks[i][k]);
  };
  const Words16 one = add3(row(first), row(first + 1), row(first + 2));
  const Words16 two = add3(one.a, one.b, row(first + 3));
  return add3(two.a, two.b, rows.ends[first / 4][k]);
}

// sums += products of an activation, each at its distance, of at most kMost groups of 4 bits.
template <unsigned kMost>
static void half_add(const HalfRows& rows, int16_t activation, const int16_t* mantissas,
                     const int16_t* distances, int32_t* sums) {
  const auto data = static_cast<uint16_t>(activation < 0 ? -activation : activation);
  for (unsigned k = 0; k < kBlock; ++k) {
    const int16_t distance = distances[k];
    const int32_t product = activation * mantissas[k];
    Words16 words = add_rows(rows, 0, data, k);
    Words16 high = {0, 0};
    if constexpr (kMost > 2) high = add_rows(rows, 4, data, k);
    words = add3(words.a, words.b, high.a);
    words = add3(words.a, words.b, high.b);
    uint16_t mask = (when(distance > 0) & 0xf) | (when(distance > 1) & 0xf0);
    if constexpr (kMost > 2) mask |= (when(distance > 2) & 0xf00) | (when(distance > 3) & 0xf000);
    const uint16_t low = static_cast<uint16_t>(product) & mask, word = words.a & mask;
    const int32_t shifted = (product >> (distance * 4 & 31)) + when(low < word);
    sums[k] += shifted & when(distance < 8);
  }
}
#endif

// The same at any distance.
static void half_add_far(int16_t activation, const int16_t* mantissas, const int16_t* distances,
                         int32_t* sums) {
  const auto magnitude = [](int16_t value) {
    return static_cast<uint32_t>(value < 0 ? -value : value);
  };
  for (unsigned k = 0; k < kBlock; ++k) {
    const int32_t both = activation ^ mantissas[k];
    const auto negative = static_cast<uint32_t>(both) >> 31;
    const int32_t product = half_product(magnitude(activation), magnitude(mantissas[k]), negative,
                                         static_cast<uint32_t>(distances[k]) * 4 & 31);
    sums[k] += product & when(distances[k] < 8);
  }
}

// How many bits below 2^52 need; vectors of 64 bits have no instruction for it everywhere.
static inline int64_t bit_length(uint64_t value) {
  constexpr double kPlace = 4503599627370496;  // 2^52, whose mantissa the value becomes
  const double exact =
      __builtin_bit_cast(double, value | __builtin_bit_cast(uint64_t, kPlace)) - kPlace;
  const auto length = static_cast<int64_t>(__builtin_bit_cast(uint64_t, exact) >> 52) - 1022;
  return length < 0 ? 0 : length;
}

static inline int64_t select(bool condition, int64_t yes, int64_t no) {
  return (yes & when(condition)) | (no & ~int64_t{when(condition)});
}

// HalfAccumulator::add() for a row of kernels, with the lower number cut off at a distance where it
// can only tell how to round.
static void half_accumulate(const int64_t* addends, const int64_t* groups, HalfSums& sums) {
  constexpr int kKept = 22, kFraction = 38;
  for (unsigned k = 0; k < kBlock; ++k) {
    const int64_t added = addends[k];
    const int64_t unused = 37 - bit_length(static_cast<uint64_t>(added < 0 ? ~added : added));
    const int64_t addend = added << (unused + 2);
    const int64_t addend_exponent = groups[k] * 4 - unused + 49;
    const int64_t old = sums.mantissas[k], old_exponent = sums.exponents[k];
    const bool larger = addend_exponent > old_exponent;
    const int64_t large = larger ? addend : old;
    const int64_t small = larger ? old : addend;
    int64_t exponent = larger ? addend_exponent : old_exponent;
    const int64_t distance =
        larger ? addend_exponent - old_exponent : old_exponent - addend_exponent;

    const auto magnitude = static_cast<uint64_t>(small < 0 ? -small : small);
    const auto left = static_cast<uint64_t>(distance < kKept ? kKept - distance : 0);
    const auto right = static_cast<uint64_t>(distance > kKept ? distance - kKept : 0);
    const uint64_t cut = right > 40 - kKept ? 0 : magnitude >> (right & 63);
    const uint64_t lost = right > 40 - kKept ? 0 : magnitude ^ cut << (right & 63);
    const auto kept = static_cast<int64_t>((cut | (lost != 0 ? 1 : 0)) << left);
    const int64_t sum = (large << kKept) + (small < 0 ? -kept : kept);

    const auto bits = static_cast<uint64_t>(sum < 0 ? ~sum : sum);
    const int64_t upper = bit_length(bits >> kKept);
    const int64_t lower = bit_length(bits & ((uint64_t{1} << kKept) - 1));
    const int64_t length = select(upper != 0, upper + kKept, lower);
    // A carry gives -1, what cancels more than that.
    const int64_t shift = kFraction + kKept + 1 - length;
    exponent -= shift;
    const int64_t below = kKept - shift;
    const auto whole = static_cast<uint64_t>(sum < 0 ? -sum : sum);
    const auto down = static_cast<uint64_t>(below > 0 ? below : 0);
    const auto up = static_cast<uint64_t>(below < 0 ? -below : 0);
    const auto rounded = static_cast<int64_t>((((2 * whole >> down) + 1) >> 1) << up);
    int64_t mantissa = sum < 0 ? -rounded : rounded;
    const bool carried = mantissa == int64_t{1} << (kFraction + 1);
    const bool short_of = mantissa == -(int64_t{1} << kFraction);
    exponent += (carried ? 1 : 0) - (short_of ? 1 : 0);
    mantissa = carried ? mantissa / 2 : short_of ? mantissa * 2 : mantissa;
    exponent = sum == 0 ? HalfSums::kZero : exponent;
    sums.mantissas[k] = select(added == 0, old, mantissa);
    sums.exponents[k] = select(added == 0, old_exponent, exponent);
  }
}

// The file that includes this may know a shorter way.
#ifndef NVDLA_HALF_REACH
static HalfReach half_reach(const int16_t* distances) {
  int16_t most = 0;
  for (unsigned k = 0; k < kBlock; ++k) {
    const int16_t near = distances[k] < 8 ? distances[k] : 0;
    most = near > most ? near : most;
  }
  return most == 0   ? HalfReach::kNone
         : most <= 2 ? HalfReach::kTwo
         : most <= 4 ? HalfReach::kFour
                     : HalfReach::kAny;
}
#endif

[[maybe_unused]] static void loop_half_tile(const HalfTile& tile) {
  // Products of 28 bits that a sum of 32 bits holds.
  constexpr unsigned kRoom = 7;
  alignas(64) int16_t greatest[kMr][kBlock];
  alignas(64) int32_t few[kMr][kBlock] = {};
  alignas(64) int64_t sums[kMr][kBlock] = {};
  for (unsigned p = 0; p < tile.count; ++p)
    for (unsigned k = 0; k < kBlock; ++k) greatest[p][k] = -1;
  for (unsigned lane = 0; lane < tile.lanes; ++lane) {
    for (unsigned p = 0; p < tile.count; ++p) {
      const int16_t group = tile.data_groups[p * kLanes + lane];
      if (group < 0) continue;
      const int16_t* groups = tile.weight_groups + lane * kBlock;
      for (unsigned k = 0; k < kBlock; ++k) {
        const auto both = static_cast<int16_t>(group + groups[k]);
        greatest[p][k] = both > greatest[p][k] ? both : greatest[p][k];
      }
    }
  }
  for (unsigned lane = 0, room = kRoom; lane < tile.lanes; ++lane) {
    const int16_t* mantissas = tile.weights + lane * kBlock;
    const int16_t* groups = tile.weight_groups + lane * kBlock;
    HalfRows rows[2];  // for positive and negative data
    rows[0].known = rows[1].known = 0;
    for (unsigned p = 0; p < tile.count; ++p) {
      const int16_t group = tile.data_groups[p * kLanes + lane];
      if (group < 0) continue;
      const int16_t activation = tile.data[p * kLanes + lane];
      alignas(64) int16_t distances[kBlock];
      for (unsigned k = 0; k < kBlock; ++k)
        distances[k] = static_cast<int16_t>(greatest[p][k] - group - groups[k]);
      const HalfReach reach = half_reach(distances);
      if (reach == HalfReach::kNone) {
        for (unsigned k = 0; k < kBlock; ++k)
          few[p][k] += (activation * mantissas[k]) & when(distances[k] == 0);
        continue;
      }
      if (reach == HalfReach::kAny) {
        half_add_far(activation, mantissas, distances, few[p]);
        continue;
      }
      HalfRows& row = rows[activation < 0];
      if (row.known < 4) half_rows(mantissas, activation < 0, 0, row);
      if (reach == HalfReach::kTwo) {
        half_add<2>(row, activation, mantissas, distances, few[p]);
        continue;
      }
      if (row.known < 8) half_rows(mantissas, activation < 0, 4, row);
      half_add<4>(row, activation, mantissas, distances, few[p]);
    }
    if (--room != 0 && lane + 1 != tile.lanes) continue;
    for (unsigned p = 0; p < tile.count; ++p)
      for (unsigned k = 0; k < kBlock; ++k) {
        sums[p][k] += few[p][k];
        few[p][k] = 0;
      }
    room = kRoom;
  }
  for (unsigned p = 0; p < tile.count; ++p) {
    int64_t groups[kBlock];
    for (unsigned k = 0; k < kBlock; ++k) groups[k] = greatest[p][k];
    half_accumulate(sums[p], groups, tile.sums[p]);
  }
}
