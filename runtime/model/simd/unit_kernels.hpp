// SPDX-License-Identifier: MIT
//
// The inner loops of the units beside the convolution, and of SDP in fp16; otherwise as
// kernels.hpp says: once per instruction set, and this header stays free of inline functions and of
// the standard library's templates.
#ifndef NVDLA_MODEL_SIMD_UNIT_KERNELS_HPP
#define NVDLA_MODEL_SIMD_UNIT_KERNELS_HPP

#include <stddef.h>
#include <stdint.h>

namespace nvdla::model {

struct SdpElements;
struct SdpX;
struct SdpY;

// What the counters of an output in fp16 see.
struct HalfCounts {
  uint32_t nan;
  uint32_t largest;  // results equal to +-65504, saturated or not
};

// What SDP does to each element of a stream, one after the other; 32 bits hold all of it. Operands
// are of channels, or elements of another stream.
enum class StepKind : uint8_t { kAdd, kMax, kMin, kMultiply, kPrelu, kRelu, kScale };

// (x - offset) * scale >> shift.
struct StepScale {
  int32_t offset, scale;
  uint8_t shift;
};

// Which bits of a product of 16 bits by 16 are its rounded result: the lower ones; those from bit
// 15 on; those of the upper half from bit `right` on, 1 at least, which are of magnitudes. Both
// numbers are shifted left before.
enum class WordBits : uint8_t { kLower, kFrom15, kUpper };

struct WordProduct {
  WordBits bits;
  bool up;  // of kFrom15: halves may be rounded up; else away from zero, as SDP does
  uint8_t left, factor_left, right;
};

struct SdpStep {
  StepKind kind;
  uint8_t shift;            // of a product, rounded
  const int32_t* channels;  // [kBlock], as often as there are so many; null: a stream
  // Of elements: where they are, how many bytes each has, how they are converted.
  const void* elements;
  uint8_t bytes;
  bool converts;
  StepScale scale;  // of kScale, too
  // For sdp_words: the step's product, or that of its scale, and its operand's conversion.
  WordProduct product, conversion;
};

// A stream is of int8, of int16 or of fp16, whose numbers are fp32 on the way: no operand is an
// infinity or a NaN unless it is an element of fp16, and no result but 0 is less than 2^-100.
enum class StreamFormat : uint8_t { kInt8, kInt16, kHalf };

struct SdpStream {
  static constexpr unsigned kMostSteps = 10;

  StreamFormat format;
  bool flush_nan;
  unsigned steps;
  SdpStep step[kMostSteps];
};

// Among elements of fp16.
struct HalfSpecials {
  uint32_t nan;
  uint32_t infinite;
};

// Entries of both tables and of both sides beyond each.
constexpr unsigned kTablePlaces = 64 + 2 + 256 + 2;
// Numbers that are looked up at once.
constexpr unsigned kTableRun = 256;

enum TableSide : int32_t { kTableUnder = 0, kTableHit = 1, kTableOver = 2 };

// How one of the two tables of SDP or CDP is searched. Its places are numbered from `first` on:
// `last` pairs of neighbouring entries, below the table, above it.
struct TableSearch {
  int32_t first, last;
  bool exponential;
  int32_t offset;  // exponential: logarithm of the first step
};

// Of integers: min(x - start, most) << left >> right is the index.
struct IntTableSearch {
  TableSearch places;
  int64_t start;
  uint64_t most;
  unsigned left, right;
};

// Of patterns of fp32.
struct FloatTableSearch {
  TableSearch places;
  int32_t minus_start;
  int32_t select;  // linear: logarithm of a step
};

// Which table answers where both miss alike, or both hit or miss on different sides: 1 for LO.
struct TableChoice {
  int32_t under, over, hybrid;
};

// What answers beyond a table: the entry, and (x - anchor) * slope >> shift.
struct IntBeyond {
  int32_t place;
  int64_t entry, anchor, slope;
  int shift;  // left if negative
};

// Patterns of fp17 as fp32.
struct FloatBeyond {
  int32_t place, entry, minus_anchor, slope;
};

struct IntTables {
  IntTableSearch le, lo;
  TableChoice choice;
  IntBeyond beyond[4];
  unsigned sloped;  // of these, at the beginning
  // The entry below in the low half, the one above in the other; the same twice beyond a table.
  uint32_t pairs[kTablePlaces];
};

struct FloatTables {
  FloatTableSearch le, lo;
  TableChoice choice;
  FloatBeyond beyond[4];
  // Of CDP: neighbouring entries differ in sign nowhere and are 0 or from 2^-14 on, so that no
  // result is too small for a number of fp17; all registers are moderate. Then the entries are in
  // pairs, too, and `sloped` places are those of which a slope makes another number.
  bool plain;
  unsigned sloped;
  int32_t sloped_place[4];
  uint32_t pairs[kTablePlaces];
  // SDP: the entry below and the one above; CDP: the rise and the entry below.
  int32_t first[kTablePlaces], second[kTablePlaces];
  // Of CDP: both, side by side.
  int32_t both[kTablePlaces][2];
};

// Numbers and where they lie, kTableRun at most: the place that answers, which part of the way to
// the next entry, the sides of both tables and of the one that answers.
struct TableRun {
  unsigned count;
  int32_t place[kTableRun];
  int32_t fraction[kTableRun];  // times 2^31, or a pattern of fp32
  int32_t sides[kTableRun];     // LE + 4 * LO + 16 * answer
};

// Of a run: where its answers come from, which tables have one, and what both say alike.
struct TableCounts {
  uint32_t answer_under, answer_over;
  uint32_t le_hit, lo_hit;
  uint32_t both_under, both_hit, both_over;
};

// The same of both tables only.
struct SideCounts {
  uint32_t le_hit, lo_hit;
  uint32_t both_under, both_hit, both_over;
};

// Channels on either side of the middle of a window, at most.
constexpr unsigned kCdpReach = 4;

// (x - offset) * scale >> shift, rounded and saturated.
struct CdpConverter {
  int64_t offset, scale;
  unsigned shift;
};

// Of int8, where the tables' answers are known, and what the input's converter does is to take an
// offset of 8 bits away. The output's has an offset of 25 bits, a scale of 15 and a shift in these
// limits, which make of its products what 32 bits hold.
constexpr unsigned kCdpLeastShift = 15, kCdpMostShift = 40;
struct CdpBytes {
  int32_t offset;
  CdpConverter out;
  unsigned reach;
  unsigned channels, lanes;  // of a column; lanes of whole atoms
  const int16_t* answers;    // to a sum at [sum]
};

// Of fp16, with plain tables of which nothing is counted.
struct CdpHalves {
  const FloatTables* tables;
  unsigned reach;
  unsigned channels, lanes;
};

// Bytes of an atom, and atoms of columns, the next column's and the next surface's.
constexpr unsigned kCdpAtom = 32;
struct CdpSource {
  const void* first;
  size_t column, surface;  // bytes
};
struct CdpTarget {
  void* first;
  size_t column, surface;
};

// For a batch of columns: words of each have kCdpReach zeros on either side.
struct CdpRoom {
  int16_t* words;
  int32_t* sums;
  int16_t* answers;
};
// The same for fp16, without zeros.
struct CdpFloatRoom {
  int32_t *values, *sums, *results;
};

enum class PoolKind : uint8_t {
  kAverageInt8,
  kMaxInt8,
  kMinInt8,
  kAverageInt16,
  kMaxInt16,
  kMinInt16,
  kAverageHalf,
  kMaxHalf,
  kMinHalf,
};

// What is known of a reduced line of fp16, from the least on. kPlain: all that had a part in it
// were plain, as UnitKernels says; kUnsigned: nor had any of it a sign.
enum class PoolElements : uint8_t { kAny, kPlain, kUnsigned };

// Of averages: the reciprocals times 2^16, or fp17 as patterns of fp32. Values of int8 have 16
// bits, others 32; those of the greatest and the least are the elements themselves.
struct PoolRule {
  PoolKind kind;
  bool narrow;     // 30 bits hold the sum, with padding, times either reciprocal
  bool saturates;  // what is too large, else wraps
  int32_t reciprocal_width, reciprocal_height;
};

struct PoolLine {
  unsigned lanes;  // of an atom
  unsigned width, out_width;
  unsigned left, kernel, stride;
  const int32_t* missing;  // what so many missing columns add, or null
};

struct PoolRows {
  const void* values[8];
  unsigned rows;
  size_t count;            // of values in each
  const int32_t* missing;  // what missing rows add, or null
};

// Flags of a pattern of a byte: what is counted of it.
constexpr unsigned kPatternFlags = 5;

struct UnitKernels {
  // Elements of fp16 to patterns of fp32, [count][kBlock].
  void (*sdp_load_half)(const SdpElements& from, int32_t* to, bool flush_nan);
  // SDP in fp16 processing, in place on patterns of fp32, [count][kBlock] with all lanes of a
  // block: what is in those that do not exist is nobody's. No pattern that comes in, as a value or
  // as an operand, is one that fp::is_regular() does not know.
  void (*sdp_float_flush)(int32_t* values, unsigned count);  // NAN_TO_ZERO
  void (*sdp_float_x)(int32_t* values, unsigned count, const SdpX& unit);
  void (*sdp_float_y)(int32_t* values, unsigned count, const SdpY& unit);
  // To patterns of fp16, the first `lanes` of each position.
  HalfCounts (*sdp_float_to_half)(const int32_t* values, unsigned count, unsigned lanes,
                                  int16_t* out);
  // By way of fp16; nothing of it is counted.
  void (*sdp_float_to_int16)(const int32_t* values, unsigned count, int16_t* out);
  // Of integers of 17 bits.
  HalfCounts (*sdp_int_to_half)(const int32_t* values, unsigned count, unsigned lanes,
                                int16_t* out);

  // A stream of `count` elements, side by side; to itself at most.
  HalfCounts (*sdp_stream)(const SdpStream& stream, const void* in, size_t count, void* out);
  // The same in int8 where 16 bits hold every number and every operand, and operands of elements
  // have one byte. Null where nothing is faster.
  void (*sdp_words)(const SdpStream& stream, const void* in, size_t count, void* out);

  // Elements to the results of their patterns, in their place at most; counts as results of fp16.
  void (*sdp_map_bytes)(const uint8_t* results, const void* in, size_t count, void* out);
  // Adds to counts[i] how many bytes have patterns whose flags have bit i, below kPatternFlags.
  void (*sdp_count_flags)(const uint8_t* flags, const void* in, size_t count, uint64_t* counts);
  HalfCounts (*sdp_map_words)(const uint16_t* results, const void* in, size_t count, void* out);

  // Where a run of numbers lies in the tables.
  void (*table_find)(const IntTables& tables, const int32_t* x, TableRun& run);
  void (*table_find_wide)(const IntTables& tables, const int64_t* x, TableRun& run);
  void (*table_find_float)(const FloatTables& tables, const int32_t* x, TableRun& run);
  TableCounts (*table_count)(const TableRun& run);
  // What SDP's tables answer; `run` is of these numbers.
  void (*sdp_table)(const IntTables& tables, const TableRun& run, int32_t* values);
  void (*sdp_table_float)(const FloatTables& tables, const TableRun& run, int32_t* values);
  // All of it of CDP's: of int8, and of fp32 where the tables are plain and all numbers are 0 or
  // of a magnitude from 2^-48 to 2^40, and if nothing `counts`, what is returned is anything.
  SideCounts (*cdp_look_up)(const IntTables& tables, const int32_t* x, unsigned count,
                            int32_t* out);
  SideCounts (*cdp_look_up_plain)(const FloatTables& tables, const int32_t* x, unsigned count,
                                  bool counts, int32_t* out);
  // Answers that are known already: of x at [x].
  void (*cdp_map)(const int16_t* answers, const int32_t* x, unsigned count, int32_t* out);
  // The same of CDP's, integers of 16 bits and fp17.
  void (*cdp_table)(const IntTables& tables, const TableRun& run, const int32_t* x, int32_t* out);
  void (*cdp_table_wide)(const IntTables& tables, const TableRun& run, const int64_t* x,
                         int32_t* out);
  void (*cdp_table_float)(const FloatTables& tables, const TableRun& run, const int32_t* x,
                          int32_t* out);

  // CDP, `count` channels side by side; `bytes` for int8, else int16. To 9 or 17 bits.
  void (*cdp_in)(const void* elements, bool bytes, unsigned count, const CdpConverter& converter,
                 int32_t* values);
  // Sums of squares of the channels up to `reach` away, of columns of `count` channels. `squares`
  // is room for as many with kCdpReach zeros on either side of each column: all are stored before
  // the first sum is, which loads what lies across two stores.
  void (*cdp_sums)(const int32_t* values, unsigned columns, unsigned count, unsigned reach,
                   int32_t* squares, int32_t* sums);
  void (*cdp_sums_wide)(const int32_t* values, unsigned columns, unsigned count, unsigned reach,
                        int64_t* squares, int64_t* sums);
  // Times the values, unless they are null; returns how many were saturated.
  uint32_t (*cdp_out)(const int32_t* results, const int32_t* values, unsigned count,
                      const CdpConverter& converter, bool bytes, void* elements);
  // All of it of int8; returns how many were saturated. Null where the steps are as good.
  uint32_t (*cdp_bytes)(const CdpBytes& layer, const CdpSource& from, unsigned columns,
                        const CdpTarget& to, const CdpRoom& room);
  // The same in fp16; values and results are fp17, sums fp32. Returns how many are NaN. `plain`:
  // all numbers are finite, which is what the first returns.
  bool (*cdp_in_half)(const uint16_t* elements, unsigned count, bool flush_nan, int32_t* values);
  void (*cdp_sums_float)(const int32_t* values, unsigned columns, unsigned count, unsigned reach,
                         bool plain, int32_t* squares, int32_t* sums);
  uint32_t (*cdp_out_half)(const int32_t* results, const int32_t* values, unsigned count,
                           bool multiply, bool plain, uint16_t* elements);
  // All of it; false, and nothing done, where a number is not finite. Null where the steps are as
  // good.
  bool (*cdp_halves)(const CdpHalves& layer, const CdpSource& from, unsigned columns,
                     const CdpTarget& to, const CdpFloatRoom& room);

  // PDP: a line of the input to a reduced line, of which it returns what is known, and reduced
  // lines, the uppermost first, with what missing rows add, if they do, to a line of the output;
  // `elements` is the least that is known of them all. `at_most` is what the elements may be taken
  // for: kPlain in fp16 if all that have a part in it are finite, what is missing adds multiples of
  // 2^-24 up to 2^20, and reciprocals are from 2^-3 to 1; kUnsigned if it is worth a look whether
  // they are, too.
  PoolElements (*pool_along)(const PoolRule& rule, const PoolLine& line, PoolElements at_most,
                             const void* in, void* values);
  void (*pool_down)(const PoolRule& rule, const PoolRows& rows, PoolElements elements, void* out);

  // RUBIK: the first `lanes` elements, of so many bytes, of `width` atoms of 32 bytes to lines that
  // are `stride` bytes apart, and back, with zeros in the other lanes.
  void (*split_atoms)(const void* atoms, unsigned width, unsigned bytes, unsigned lanes,
                      void* lines, size_t stride);
  void (*merge_atoms)(const void* lines, size_t stride, unsigned width, unsigned bytes,
                      unsigned lanes, void* atoms);

  HalfSpecials (*count_specials)(const uint16_t* halves, size_t count);
};

extern const UnitKernels kPortableUnits;
extern const UnitKernels kAvx2Units;
extern const UnitKernels kAvx512Units;
extern const UnitKernels kNeonUnits;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_UNIT_KERNELS_HPP
