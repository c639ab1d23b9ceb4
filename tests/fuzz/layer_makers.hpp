// SPDX-License-Identifier: MIT
//
// Layers of each kind that compile, mostly: sizes are small, and what has to fit together does.
#ifndef NVDLA_TESTS_FUZZ_LAYER_MAKERS_HPP
#define NVDLA_TESTS_FUZZ_LAYER_MAKERS_HPP

#include <cstdint>

#include "program_maker.hpp"

namespace nvdla::fuzz {

// Slots of a program: every surface of a layer has its own, so that overlaps come from mutations
// and from work in place only.
enum Slot : std::uint32_t {
  kInput,
  kInputUv,
  kWeights,
  kX1,
  kX2,
  kY,
  kOutput,
  kSlots,
  kControl = kSlots  // tables of compressed weights, in programs that have any
};

// What a layer is made of and for.
struct Workshop {
  Input& input;
  Made& made;

  const nvdla_hw& hw() const { return *made.hw; }
  bool has(std::uint32_t feature) const { return (made.hw->features & feature) != 0; }
  // One that the configuration has.
  std::uint32_t precision();
  // Input and output are both read and written.
  bool in_place() const { return made.slots[kInput].access == made.slots[kOutput].access; }
  // A cube, mostly with gaps. One position alone lies packed.
  nvdla_surface cube(std::uint32_t slot, std::uint32_t width, std::uint32_t height,
                     std::uint32_t column_bytes);
};

// A cube on its way from unit to unit.
struct Shape {
  std::uint32_t width = 1, height = 1, channels = 1;
  std::uint32_t precision = NVDLA_PRECISION_INT8;
  std::uint32_t batch = 1;
  bool tiles = false;  // of Winograd

  // Neither leaves in another precision, or is compared.
  bool plain() const { return batch == 1 && !tiles; }
};

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
constexpr std::uint32_t element_bytes(std::uint32_t precision) {
  return precision == NVDLA_PRECISION_INT8 ? 1 : 2;
}

// The output size that an input of `in` gives. Chooses a padding, mostly one that leaves nothing
// over, and a stride of 1 where there is none such.
std::uint32_t fit(Input& input, std::uint32_t in, std::uint32_t kernel, std::uint32_t& stride,
                  std::uint32_t dilation, std::uint32_t& before, std::uint32_t& after);

// Each makes the sections of its units. `conv` returns what reaches SDP, `sdp` what leaves it.
Shape make_conv(Workshop& shop, nvdla_layer& layer, bool pooled);
// A cube in memory.
Shape make_sdp_input(Workshop& shop, nvdla_layer& layer);
Shape make_sdp(Workshop& shop, nvdla_layer& layer, const Shape& in, bool flying, bool pooled);
// From memory with a nullptr.
void make_pdp(Workshop& shop, nvdla_layer& layer, const Shape* in);
void make_cdp(Workshop& shop, nvdla_layer& layer);
void make_rubik(Workshop& shop, nvdla_layer& layer);
void make_bdma(Workshop& shop, nvdla_layer& layer);
// Adds tables to the program and names them in the layer.
void make_lut(Workshop& shop, nvdla_layer& layer, std::uint32_t unit, std::uint32_t precision);

}  // namespace nvdla::fuzz

#endif  // NVDLA_TESTS_FUZZ_LAYER_MAKERS_HPP
