// SPDX-License-Identifier: MIT
//
// Loops that take SDP's streams from memory, included by each instruction set's translation units
// into an unnamed namespace.

// An element in memory, wherever it begins and whatever else is read there. Types, since templates
// know nothing of the attributes of other names.
struct [[gnu::packed, gnu::may_alias]] LooseInt8 {
  int8_t value;
};
struct [[gnu::packed, gnu::may_alias]] LooseInt16 {
  int16_t value;
};

// `kAtomLanes` positions' elements of type Element, every kParts-th one.
template <typename Element, unsigned kParts, unsigned kAtomLanes>
static void widen_lanes(const Element* __restrict from, unsigned count, int32_t* __restrict to) {
  for (unsigned i = 0; i < count; ++i, from += kAtomLanes * kParts, to += kBlock)
    for (unsigned lane = 0; lane < kAtomLanes; ++lane) to[lane] = from[lane * kParts].value;
}

template <typename Element, unsigned kParts>
static void widen(const SdpElements& from, int32_t* to) {
  const Element* data = static_cast<const Element*>(from.data) + from.part;
  if (from.lanes == kBlock) return widen_lanes<Element, kParts, kBlock>(data, from.count, to);
  if (from.lanes == kBlock / 2)
    return widen_lanes<Element, kParts, kBlock / 2>(data, from.count, to);
  for (unsigned i = 0; i < from.count; ++i, data += from.lanes * kParts, to += kBlock)
    for (unsigned lane = 0; lane < from.lanes; ++lane) to[lane] = data[lane * kParts].value;
}

[[maybe_unused]] static void loop_sdp_widen(const SdpElements& from, int32_t* to) {
  if (from.two_bytes) {
    from.parts == 1 ? widen<LooseInt16, 1>(from, to) : widen<LooseInt16, 2>(from, to);
  } else {
    from.parts == 1 ? widen<LooseInt8, 1>(from, to) : widen<LooseInt8, 2>(from, to);
  }
}
