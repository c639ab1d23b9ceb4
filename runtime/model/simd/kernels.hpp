// SPDX-License-Identifier: MIT
//
// The inner loops of the model, once per instruction set, chosen at run time. Each set lives in a
// translation unit of its own that is compiled with its own flags, so this header must stay free of
// inline functions and of the standard library's templates: the linker could pick a copy that was
// compiled for a processor that is not there.
#ifndef NVDLA_MODEL_SIMD_KERNELS_HPP
#define NVDLA_MODEL_SIMD_KERNELS_HPP

#include <stddef.h>
#include <stdint.h>

namespace nvdla::model {

// Output channels that are computed together; a multiple of every atom and kernel group.
constexpr unsigned kBlock = 32;
// Output positions of a register tile.
constexpr unsigned kMr = 14;
// Those of a tile that goes from convolution to SDP, at most.
constexpr unsigned kMostPositions = 128;
// Activation bytes of one multiply-accumulate step.
constexpr unsigned kKr = 4;

// How a set wants MacTile's activations.
struct MacForm {
  bool biased;  // 128 more than they stand for: the unsigned operand of a product
  bool sign;    // whether none is negative is worth finding out
  // Bytes: a run is as many of these as it takes, and what is too much of it weighs nothing.
  unsigned step = kKr;
  // Products of a nanosecond, roughly: what decides whether threads are worth their while.
  unsigned rate = 150;
  // Takes the places of positions from TileLines, and of `bases` the first alone.
  bool lines = false;
  // Products of the time that it takes to copy a run of a position; 0: runs stay where they are.
  // Short runs may take fewer steps when they are copied to be one.
  unsigned copied_run = 0;
};
// The longest step.
constexpr unsigned kMostStep = 64;

// The positions of a tile in raster order: neighbours lie `step` apart, lines of `width` positions
// `line`; the first one is number `x` of its line. In bytes or elements, as the tile counts.
struct TileLines {
  unsigned x, width;
  size_t step, line;
};

// One tile of int8 convolution: any number of positions times kBlock kernels. A position's
// activations are `run_count` runs of `steps * kKr` bytes at base[position] + runs[run]: implicit
// GEMM. What lies between two positions may be read like them.
struct MacTile {
  const uint8_t* const* bases;
  unsigned count;
  const int32_t* runs;
  unsigned run_count;
  unsigned steps;
  // [run][step][kBlock][kKr]
  const int8_t* weights;
  // For each kernel what its sums begin with, such as -128 * sum of its weights: what biased
  // activations add too much.
  const int32_t* starts;
  // [count][kBlock], exact modulo 2^32.
  int32_t* sums;
  // No activation is negative, as is known where MacForm wants to know.
  bool nonnegative;
  TileLines lines = {};  // where MacForm wants them
};

// The same where each kernel sees one channel, kernel k of the block channel k: depthwise. Of a
// position that are kBlock bytes at base[position] + taps[tap], all of which are read.
struct DepthwiseTile {
  const uint8_t* const* bases;
  unsigned count;
  const int32_t* taps;    // [quads][4]
  unsigned quads;         // taps in fours; those beyond the last weigh nothing
  const int8_t* weights;  // [quad][kBlock][4]
  const int32_t* starts;  // as in MacTile
  int32_t* sums;          // [count][kBlock], exact modulo 2^32
  // If not 0: the first three taps of each quad are neighbours, so many bytes apart, and the fourth
  // weighs nothing.
  unsigned row_step = 0;
};

// A line of int8 with so few channels that a word of each atom holds them, to bytes without gaps.
struct FewChannels {
  const uint8_t* from;
  size_t atom;  // bytes, of which 4 may be read
  unsigned count;
  unsigned used;  // 1 to 4
  uint8_t* to;
  uint8_t flip;  // by which bytes change on the way
};

// CDMA's converter of 8-bit components to int8 where 16 bits hold what it does: (x - offset) *
// scale >> truncate, rounded half away from zero, is the sign of the difference and |x - offset| *
// lift * factor >> 15, rounded half up.
struct ByteConverter {
  bool sign_extend;    // of what comes in
  uint8_t order[4];    // which byte of four each of the four that come out is
  int16_t offsets[4];  // of these
  int16_t lift;        // a power of 2 that leaves a product with a difference in 15 bits
  int16_t factor;      // positive
  uint8_t flip;        // by which results change
};

// One tile of exact convolution for everything that a 32-bit sum may not hold: activations and
// weights of 16 bits, 64-bit sums. Runs are as in MacTile, in elements.
//
// 32-bit sums of products are exact modulo 2^32, and over `chunk` steps that is enough: either the
// weights are so small that 32 bits hold the sum, or so small that the sum of products of upper
// bytes comes close enough to it to know the other bits. With an activation 256 * (a - 128) + 128 +
// r, |r| <= 128, and a weight 256 * u + s that sum is, in units of 2^15, 2 * sum of a * u less a
// nudge of 255 * sum of u, and less than 2^31 away.
struct WideTile {
  const int16_t* data;
  const uint8_t* upper;  // for each element its upper byte and 128; where `upper_weights` are
  const size_t* bases;   // of positions, in elements
  unsigned count;
  const int32_t* runs;
  unsigned run_count;
  unsigned steps;
  const int16_t* weights;       // [run][step][2][kBlock][2]
  const int8_t* upper_weights;  // [run][step][kBlock][kKr], or null where 32 bits hold sums
  const int32_t* correction;    // [chunk][kBlock]; the same
  unsigned chunk;               // steps
  int64_t* sums;                // [count][kBlock]
};

// The same by the bytes of both operands, each of which is 256 times its upper one, with sign, and
// its lower one, without; runs and steps as in MacTile.
struct PieceTile {
  const int8_t* upper;  // of the first position
  const uint8_t* lower;
  TileLines lines;
  unsigned count;  // any number
  const int32_t* runs;
  unsigned run_count;
  unsigned steps;
  // [run][step][kBlock][kKr]
  const int8_t* upper_weights;
  const uint8_t* lower_weights;
  int64_t* sums;  // [count][kBlock]
};

// CACC's delivery of 64-bit sums.
struct WideClip {
  int64_t limit;     // greatest sum; the least is -limit - 1
  unsigned dropped;  // bits cut off, before `rounded` more are rounded half away from zero
  unsigned rounded;
};

// One step of the fp16 multiply-accumulate for one kernel: the products of up to kLanes lanes.
constexpr unsigned kLanes = 64;
struct HalfStep {
  const uint16_t* data;
  const uint16_t* weights;
  unsigned lanes;
  bool each;  // whether the products of the lanes are wanted, too, and not their sum alone
};

// The products, aligned to the lane with the greatest exponent: product * 2^(exponent - 50).
struct HalfProducts {
  int32_t products[kLanes];  // where they are asked for
  int64_t sum;
  // Of both operands' exponents, a multiple of 4.
  uint32_t exponent;
  // The NaN that the step gives instead, or 0: the first of the weights, else of the data.
  uint16_t nan;
};

// Accumulators of a row of kernels: mantissa * 2^(exponent - 38 - 63).
struct HalfSums {
  static constexpr int64_t kZero = -1024;  // exponent of zero: less than any
  int64_t mantissas[kBlock];
  int64_t exponents[kBlock];
};

// One tile of fp16 convolution in plain fp32, for those who do not need what the logic rounds: runs
// as in MacTile, in elements.
struct FloatTile {
  const float* data;
  const size_t* bases;  // of positions, in elements
  unsigned count;       // at most kMr
  const int32_t* runs;
  unsigned run_count;
  unsigned elements;     // of a run
  const float* weights;  // [run][element][kBlock]
  float* sums;           // [count][kBlock]
};

// The greatest of a row of distances, in groups of 4 bits, of those that leave something.
enum class HalfReach : uint8_t { kNone, kTwo, kFour, kAny };

// The same step for `count` positions, at most kMr, times kBlock kernels, without NaNs. Operands
// are split: the mantissa with its sign as the multiplier takes it, and the exponent's upper bits,
// which are kNoGroup for zeros, since these take no part.
constexpr int16_t kNoGroup = -64;
struct HalfTile {
  const int16_t* data;         // [count][kLanes]
  const int16_t* data_groups;  // the same
  unsigned count;
  unsigned lanes;
  const int16_t* weights;        // [lane][kBlock]
  const int16_t* weight_groups;  // the same
  HalfSums* sums;                // [count]; what the step comes to is added
};

enum class Alu : uint8_t { kMax = 0, kMin = 1, kSum = 2, kNone = 3 };

// Elements of SDP's streams as they lie in memory: `count` positions of `lanes` channels with
// `parts` elements each, of which `part` is wanted.
struct SdpElements {
  const void* data;
  unsigned count;
  unsigned lanes;  // 8, 16 or 32
  unsigned parts;  // 1 or 2
  unsigned part;
  bool two_bytes;
};

// EW's converter of memory operands.
struct SdpOperandConverter {
  int32_t offset;
  int16_t scale;
  uint8_t truncate;  // 0..63, rounding half away from zero
  int32_t largest;   // magnitude of what comes in
};

// Operands of SDP for a tile: value of (position, lane) is values[position * stride + lane].
struct SdpOperand {
  const int32_t* values;
  unsigned stride;  // 0: the same for all positions
};

// BS or BN.
struct SdpX {
  bool active;
  Alu alu;
  bool mul;
  bool prelu;
  bool relu;
  uint8_t shift;           // right, after the multiplier, even when that is bypassed
  SdpOperand alu_operand;  // already shifted left
  SdpOperand mul_operand;
  // Whatever comes in, 32 bits hold the ALU's result and what is left of the product by a shift of
  // 32 at most.
  bool fits;
};

// EW without its table.
struct SdpY {
  bool active;
  bool mul;
  bool prelu;
  uint16_t truncate;
  Alu alu;
  SdpOperand alu_operand;
  SdpOperand mul_operand;
  bool fits;  // as in X, of the multiplier
};

struct SdpConverter {
  int32_t offset;
  int16_t scale;
  uint8_t shift;
  // Saturated results are counted only where software asked for the counter.
  bool count;
  // What the first generation counts: results that differ by more than 1 from the truncated value,
  // so not those that rounding has carried just past a limit. The second counts these, and what lay
  // below the minimum until it was rounded up to it.
  bool lenient_count;
};

// From integers to int8: a sum of each kernel and its factor, elements added, ReLU and the
// converter. Whoever asks has proved that fp32 is enough.
struct SdpFinish {
  const int32_t* addends;  // [kBlock]
  const float* factors;    // [kBlock], or null: none
  const int32_t* halves;   // patterns of 1/2 with the factors' signs
  SdpOperand elements;     // or null
  bool relu;
  float scale;  // of the converter; 0: it changes nothing
};

// The first step of an epilogue gets from a sum to what the second one takes in these ways.
enum class EpilogueStep : uint8_t {
  kPlain,    // sum * factor + addend; 32 bits hold it
  kShifted,  // the same, shifted with rounding, + between
  kWide,     // (sum + addend) * factor in 64 bits, shifted with rounding, + between
  // Both steps at once: sum * factor + addend in 64 bits, of which the upper 32 are shifted to the
  // right. Pairs of numbers are the halves of addends: those of even kernels, in `between` those of
  // odd ones. There are no limits and no converter.
  kMerged,
};

// `EpilogueBlock` brings integers to int8 in two steps of each kernel and the output converter, as
// quantised layers of trained networks do. SdpEpilogue proves for each layer that 32 bits hold what
// is between the steps. All shifts round halves away from zero.
struct EpilogueBlock {
  // Each has [kBlock] numbers. A sum beyond its limits comes to the same as one at the limit.
  const int32_t* low;
  const int32_t* high;
  const int32_t* factors;
  const int32_t* addends;
  const int32_t* between;
  const int32_t* second_factors;  // not negative; null: there is no second step
  // Beyond these the converter counts a saturation; they are looked at where `guards` is set.
  const int32_t* least;
  const int32_t* greatest;
  EpilogueStep first;
  uint8_t shift;  // of the first step, 1 to 31; 0 to 62 where it is wide; 0 to 31 where merged
  bool relu;      // behind the second step
  bool guards;
  uint8_t second_shift;      // 32 bits and so many more: 1 to 31
  int32_t offset;            // added behind the second step and ReLU
  int32_t converter_factor;  // 0: the converter does nothing more
  uint8_t converter_shift;   // as in the second step
  // Added behind the first step, from where on nothing is less than `floor`; or null. Then there is
  // neither ReLU nor converter, and nothing is guarded.
  SdpOperand elements;
  int32_t floor;
};

struct UnitKernels;

// All passes work in place on [count][kBlock] values, on the first `lanes` of each position.
struct Kernels {
  const char* name;
  MacForm form;
  void (*mac)(const MacTile& tile);
  void (*depthwise)(const DepthwiseTile& tile);
  void (*wide)(const WideTile& tile);
  // To 32 bits; returns how many were saturated there.
  uint32_t (*wide_clip)(const int64_t* sums, unsigned count, const WideClip& clip, int32_t* values);
  void (*half)(const HalfStep& step, HalfProducts& result);
  void (*half_tile)(const HalfTile& tile);
  void (*float_tile)(const FloatTile& tile);
  // CACC's right shift of exact 32-bit sums.
  void (*clip)(int32_t* values, unsigned count, unsigned shift);
  // To [count][kBlock], sign extended.
  void (*sdp_widen)(const SdpElements& from, int32_t* to);
  // To the left, of `count` values; saturates.
  void (*sdp_shift)(int32_t* values, unsigned count, unsigned shift);
  void (*sdp_operand)(int32_t* values, unsigned count, const SdpOperandConverter& converter);
  void (*sdp_x)(int32_t* values, unsigned count, unsigned lanes, const SdpX& unit);
  void (*sdp_y)(int32_t* values, unsigned count, unsigned lanes, const SdpY& unit);
  // To 17 bits; returns how many were saturated, if they are counted.
  uint32_t (*sdp_convert)(int32_t* values, unsigned count, unsigned lanes,
                          const SdpConverter& converter);
  // Both where nothing is counted, the converter with its narrowing; whole blocks, what is in lanes
  // beyond the last is nobody's.
  void (*convert_to_int8)(const int32_t* values, unsigned count, const SdpConverter& converter,
                          int8_t* out);
  // Narrow with saturation, [count][kBlock].
  void (*to_int8)(const int32_t* values, unsigned count, int8_t* out);
  void (*to_int16)(const int32_t* values, unsigned count, int16_t* out);
  // All that SDP does to a tile, to [count][kBlock]; null where operator by operator is as good.
  void (*finish)(const int32_t* values, unsigned count, const SdpFinish& finish,
                 int8_t* out) = nullptr;
  // The same for what is an epilogue. Returns false, and leaves no results, where a sum is beyond
  // what is guarded.
  bool (*epilogue)(const int32_t* values, unsigned count, const EpilogueBlock& block,
                   int8_t* out) = nullptr;
  // mac() and finish() with sums that never go to memory; null where that is no gain.
  void (*mac_finish)(const MacTile& tile, const SdpFinish& finish, int8_t* out) = nullptr;
  // The same with epilogue() for merged steps that guard nothing.
  void (*mac_epilogue)(const MacTile& tile, const EpilogueBlock& block, int8_t* out) = nullptr;
  const UnitKernels* units;
  // How many positions of so many a tile of `mac` or `pieces` has at best, kMostPositions at most;
  // null where that makes no difference.
  unsigned (*tile_positions)(const TileLines& lines, unsigned count) = nullptr;
  // In place of `wide` for int16, where that is slower.
  void (*pieces)(const PieceTile& tile) = nullptr;
  // Null where it is not worth a loop of its own.
  void (*pack_atoms)(const FewChannels& line) = nullptr;
  // `size` bytes, maybe in place; null where a table is as good.
  void (*convert_bytes)(const ByteConverter& converter, const uint8_t* from, size_t size,
                        uint8_t* to) = nullptr;
  // Before a thread computes with `mac` and `pieces` and when it has done so, where these need it.
  void (*enter)() = nullptr;
  void (*leave)() = nullptr;
};

extern const Kernels kPortableKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512VnniKernels;
extern const Kernels kNeonKernels;
extern const Kernels kNeonDotKernels;

// All sets, best last, with whether this processor runs them.
struct KernelChoice {
  const Kernels* kernels;
  bool usable;
  const char* needs;  // of the processor
  // Null, or why the system does not let it run.
  const char* refused = nullptr;
};
extern const unsigned kKernelChoices;
KernelChoice kernel_choice(unsigned index) noexcept;

// The one that is called `wanted`, or the best usable one if that is null or empty. Throws
// std::invalid_argument where there is no such set, or this processor does not run it.
const Kernels& choose_kernels(const KernelChoice* choices, unsigned count, const char* wanted);

// What NVDLA_KERNELS in the environment wants, in the same way.
const Kernels& chosen_kernels();

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SIMD_KERNELS_HPP
