// SPDX-License-Identifier: MIT
//
// CDP in fp16 in vectors: what is before and behind its tables, and all of it of finite numbers,
// from atoms to atoms.

static bool cdp_in_half(const uint16_t* elements, unsigned count, bool flush_nan, int32_t* values) {
  unsigned at = 0;
  bool finite = true;
  for (; at + Vector::kLanes <= count; at += Vector::kLanes) {
    if (Vector::widen_halves(elements + at, values + at)) continue;
    finite = false;
    loop_cdp_in_half(elements + at, Vector::kLanes, flush_nan, values + at);
  }
  return loop_cdp_in_half(elements + at, count - at, flush_nan, values + at) && finite;
}

// kNumber vectors of elements times results, of finite numbers; false where one is too large.
template <unsigned kNumber>
static inline bool cdp_out_halves(const int32_t* results, const int32_t* values, bool multiply,
                                  uint16_t* elements) {
  Doubt doubt;
  for (unsigned i = 0; i < kNumber * Vector::kLanes; i += Vector::kLanes) {
    Floats result = Vector::load(results + i);
    if (multiply) result = Vector::round_to_17(Vector::multiply(result, Vector::load(values + i)));
    doubt.where_above(result, kAlmostLargest - 1);
    Vector::to_halves(result, elements + i);
  }
  return !doubt.any();
}

static uint32_t cdp_out_half(const int32_t* results, const int32_t* values, unsigned count,
                             bool multiply, bool plain, uint16_t* elements) {
  unsigned at = 0;
  uint32_t nan = 0;
  constexpr unsigned kMany = 4;
  for (unsigned count_of = 0; plain && count - at >= Vector::kLanes; at += count_of) {
    const bool many = count - at >= kMany * Vector::kLanes;
    count_of = many ? kMany * Vector::kLanes : Vector::kLanes;
    if (many ? cdp_out_halves<kMany>(results + at, values + at, multiply, elements + at)
             : cdp_out_halves<1>(results + at, values + at, multiply, elements + at))
      continue;
    nan += loop_cdp_out_half(results + at, values + at, count_of, multiply, plain, elements + at);
  }
  return nan +
         loop_cdp_out_half(results + at, values + at, count - at, multiply, plain, elements + at);
}

// A batch goes through one step after the other, as in int8.
static bool cdp_halves(const CdpHalves& of, const CdpSource& from, unsigned columns,
                       const CdpTarget& to, const CdpFloatRoom& room) {
  constexpr unsigned kAtom = kCdpAtom / sizeof(uint16_t);
  int32_t* values = room.values;
  for (unsigned column = 0; column < columns; ++column, values += of.lanes) {
    const char* atom = static_cast<const char*>(from.first) + column * from.column;
    for (unsigned lane = 0; lane < of.lanes; lane += kAtom, atom += from.surface)
      for (unsigned i = 0; i < kAtom; i += Vector::kLanes)
        if (!Vector::widen_halves(atom + i * sizeof(uint16_t), values + lane + i)) return false;
    for (unsigned lane = of.channels; lane < of.lanes; ++lane) values[lane] = 0;
  }
  const unsigned count = columns * of.lanes;
  cdp_sums_float(room.values, columns, of.lanes, of.reach, true, nullptr, room.sums);
  cdp_look_up_plain(*of.tables, room.sums, count, false, room.results);
  for (unsigned column = 0, at = 0; column < columns; ++column) {
    char* atom = static_cast<char*>(to.first) + column * to.column;
    for (unsigned lane = 0; lane < of.lanes; lane += kAtom, at += kAtom, atom += to.surface) {
      auto* elements = reinterpret_cast<uint16_t*>(atom);
      if (!cdp_out_halves<kAtom / Vector::kLanes>(room.results + at, room.values + at, true,
                                                  elements))
        loop_cdp_out_half(room.results + at, room.values + at, kAtom, true, true, elements);
    }
  }
  return true;
}
