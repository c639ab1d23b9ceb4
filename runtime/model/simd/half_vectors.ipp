// SPDX-License-Identifier: MIT
//
// What the processor's own conversions between fp16 and fp32 do better than unit_loops.ipp, for any
// width: included behind it, and behind a struct Vector that says how wide, with the instructions.
// They differ from the hardware's where a half is no number and where a result is the largest one:
// seldom, so lane by lane.

static void load_half(const SdpElements& from, int32_t* to, bool flush_nan) {
  constexpr unsigned kLanes = Vector::kLanes;
  if (from.parts != 1 || from.lanes % kLanes != 0) return loop_sdp_load_half(from, to, flush_nan);
  const auto* data = static_cast<const LooseInt16*>(from.data);
  const int32_t most = most_of_half(flush_nan);
  for (unsigned i = 0; i < from.count; ++i, to += kBlock)
    for (unsigned lane = 0; lane < from.lanes; lane += kLanes, data += kLanes) {
      if (Vector::widen_halves(data, to + lane)) continue;
      for (unsigned k = 0; k < kLanes; ++k) to[lane + k] = widen_half<Lane32>(data[k].value, most);
    }
}

// 2^13 - 1 times a number is so much more that fp32 has 11 bits left for the number, which is what
// is missing to 2^13 times: so two instructions round to the 11 bits of fp17, to nearest even. A
// zero loses its sign.
constexpr int32_t kRoundLess = static_cast<int32_t>(0xc5fff800);  // 1 - 2^13
constexpr int32_t kRoundMore = 0x46000000;                        // 2^13

static inline Floats round_17(Floats value) {
  return Vector::multiply_add(Vector::multiply(value, Vector::fill(kRoundLess)), value,
                              Vector::fill(kRoundMore));
}

// From where on a result is the largest number, an infinity or none.
constexpr int32_t kAlmostLargest = 0x477fd000;

static HalfCounts narrow_halves(const int32_t* from, unsigned count, int16_t* to) {
  constexpr unsigned kLanes = Vector::kLanes;
  HalfCounts sum{0, 0};
  unsigned i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    if (Vector::narrow_halves(from + i, kAlmostLargest, to + i)) continue;
    const HalfCounts counts = narrow_row(from + i, kLanes, to + i, lane_narrow);
    sum.nan += counts.nan;
    sum.largest += counts.largest;
  }
  const HalfCounts rest = narrow_row(from + i, count - i, to + i, lane_narrow);
  return {sum.nan + rest.nan, sum.largest + rest.largest};
}

static HalfCounts float_to_half(const int32_t* values, unsigned count, unsigned lanes,
                                int16_t* out) {
  return for_each_lanes(values, count, lanes, out, narrow_halves);
}
