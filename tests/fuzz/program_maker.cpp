// SPDX-License-Identifier: MIT
#include "program_maker.hpp"

#include <algorithm>
#include <span>

#include "layer_makers.hpp"

namespace nvdla::fuzz {

std::uint32_t Workshop::precision() {
  return has(NVDLA_HW_FP16) ? input.below(3) : std::uint32_t{NVDLA_PRECISION_INT8};
}

nvdla_surface Workshop::cube(std::uint32_t slot, std::uint32_t width, std::uint32_t height,
                             std::uint32_t column_bytes) {
  nvdla_surface s{};
  s.slot = slot;
  s.offset = std::uint64_t{input.below(4)} * hw().atom;
  s.line_stride = width * column_bytes;
  s.surface_stride = height * s.line_stride;
  if (width * height == 1 || input.once_in(3)) return s;
  s.line_stride += input.below(3) * hw().atom;
  s.surface_stride = height * s.line_stride + input.below(3) * hw().atom;
  return s;
}

std::uint32_t fit(Input& input, std::uint32_t in, std::uint32_t kernel, std::uint32_t& stride,
                  std::uint32_t dilation, std::uint32_t& before, std::uint32_t& after) {
  const std::uint32_t dilated = (kernel - 1) * dilation + 1;
  before = input.below(dilated);
  after = before + in < dilated ? dilated - before - in : 0;
  while ((before + in + after - dilated) % stride != 0) ++after;
  // Less than the kernel may be padded; a stride of 1 always fits.
  if (after >= dilated) {
    stride = 1;
    after = dilated - 1;
  }
  // More leaves something over, or gives another position.
  if (input.once_in(4)) after += input.below(dilated - after);
  return (before + in + after - dilated) / stride + 1;
}

namespace {

void make_slots(Input& input, Made& made) {
  const bool sram = (made.hw->features & NVDLA_HW_SRAM) != 0;
  // Now and then input and output may be both read and written, for work in place.
  const bool both = input.once_in(4);
  std::uint32_t memory = NVDLA_MEMORY_DRAM;
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    nvdla_slot s{};
    s.size = kSlotSize;
    s.alignment = std::max(made.hw->atom, 64u);
    s.access = slot == kOutput ? NVDLA_SLOT_WRITE : NVDLA_SLOT_READ;
    if (both && (slot == kInput || slot == kOutput)) s.access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE;
    // Both planes of an image are in one memory.
    if (slot != kInputUv) memory = sram && input.once_in(4) ? NVDLA_MEMORY_SRAM : NVDLA_MEMORY_DRAM;
    s.memory = memory;
    made.slots.push_back(s);
  }
}

// The tables are in the memory of the weights, and fill their slot.
void make_control_slot(Made& made) {
  nvdla_slot slot = made.slots[kWeights];
  slot.size = made.control.size();
  slot.access = NVDLA_SLOT_CONTROL;
  made.slots.push_back(slot);
}

void make_layer(Workshop& shop, nvdla_layer& layer) {
  Input& input = shop.input;
  const auto one_of = [&](std::uint32_t feature) { return shop.has(feature) && input.once_in(8); };
  if (one_of(NVDLA_HW_RUBIK)) {
    layer.kind = NVDLA_LAYER_RUBIK;
    return make_rubik(shop, layer);
  }
  if (one_of(NVDLA_HW_BDMA)) {
    layer.kind = NVDLA_LAYER_BDMA;
    return make_bdma(shop, layer);
  }
  constexpr std::uint32_t kKinds[] = {
      NVDLA_LAYER_CONV_SDP,     NVDLA_LAYER_CONV_SDP, NVDLA_LAYER_CONV_SDP,
      NVDLA_LAYER_CONV_SDP_PDP, NVDLA_LAYER_SDP,      NVDLA_LAYER_SDP,
      NVDLA_LAYER_SDP_PDP,      NVDLA_LAYER_PDP,      NVDLA_LAYER_CDP};
  layer.kind = kKinds[input.below(std::size(kKinds))];
  switch (layer.kind) {
    case NVDLA_LAYER_PDP:
      return make_pdp(shop, layer, nullptr);
    case NVDLA_LAYER_CDP:
      return make_cdp(shop, layer);
    default:
      break;
  }
  const bool flying = layer.kind == NVDLA_LAYER_CONV_SDP || layer.kind == NVDLA_LAYER_CONV_SDP_PDP;
  const bool pooled = layer.kind == NVDLA_LAYER_SDP_PDP || layer.kind == NVDLA_LAYER_CONV_SDP_PDP;
  const Shape in = flying ? make_conv(shop, layer, pooled) : make_sdp_input(shop, layer);
  const Shape out = make_sdp(shop, layer, in, flying, pooled);
  if (pooled) make_pdp(shop, layer, &out);
}

// The same again takes what the one before kept.
nvdla_layer again(Input& input, const nvdla_layer& before) {
  nvdla_layer layer = before;
  nvdla_conv& conv = layer.conv;
  conv.flags &= ~std::uint32_t{NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS};
  const bool lines = (before.conv.flags & NVDLA_CONV_KEEP_DATA) != 0 ||
                     (before.conv.release != 0 && before.conv.release < before.conv.height);
  if (lines && input.flag()) conv.flags |= NVDLA_CONV_REUSE_DATA;
  if ((before.conv.flags & NVDLA_CONV_KEEP_WEIGHTS) != 0 && input.flag())
    conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
  return layer;
}

// Some of the layers before.
void make_waits(Input& input, nvdla_layer& layer, std::uint32_t index) {
  layer.num_waits = 0;
  for (std::uint32_t& wait : layer.waits) wait = 0;
  for (std::uint32_t i = 0; i < index && layer.num_waits < NVDLA_MAX_WAITS; ++i)
    if (input.flag()) layer.waits[layer.num_waits++] = i;
}

// Overwrites one word of anything. Words that say something are taken more often than others.
template <typename T>
void mutate(Input& input, Made& made, T& object) {
  constexpr std::uint32_t kWords = sizeof(T) / sizeof(std::uint32_t);
  std::uint32_t words[kWords];
  std::memcpy(words, &object, sizeof(words));
  std::uint32_t at = input.below(kWords);
  if (!input.once_in(3))
    for (std::uint32_t i = 0; i < kWords && words[at] == 0; ++i) at = (at + 1) % kWords;
  std::uint32_t& word = words[at];
  constexpr std::uint32_t kEdges[] = {0,       1,       8,          31,         32,        64,
                                      127,     1024,    8192,       8193,       0x10000,   0x40000,
                                      1 << 20, 1 << 28, 0x7fffffff, 0x80000000, 0xffffffff};
  switch (input.below(9)) {
    case 0:
      word += 1;
      break;
    case 1:
      word -= 1;
      break;
    case 2:
      word = input.take<std::uint8_t>();
      break;
    case 3:
      word ^= 1u << input.below(32);
      break;
    case 4:
      word *= 2;
      break;
    case 5:
      word = words[input.below(kWords)];
      break;
    case 6:
      word = kEdges[input.below(std::size(kEdges))];
      break;
    case 7:
      word += made.hw->atom * input.within(1, 8);
      break;
    default:
      word = input.take<std::uint32_t>();
      break;
  }
  std::memcpy(&object, words, sizeof(words));
  ++made.mutations;
}

template <typename T>
void mutate_one(Input& input, Made& made, std::vector<T>& objects) {
  if (!objects.empty())
    mutate(input, made, objects[input.below(static_cast<std::uint32_t>(objects.size()))]);
}

// What a layer does not say.
void mutate_program(Input& input, Made& made) {
  constexpr std::uint32_t kFar = 5000;
  switch (input.below(12)) {
    case 0:
      made.excess_layers = input.flag() ? 1 : -1;
      break;
    case 1:
      made.excess_layers = kFar;
      break;
    case 2:
      made.excess_slots = kFar;
      break;
    case 3:
      made.excess_luts = kFar;
      break;
    case 4:
      made.excess_transfers = kFar;
      break;
    case 5:
      made.missing_bytes = 8;
      break;
    case 6:
      made.flags ^= 1u << input.below(32);
      break;
    case 7:
      made.clock_khz = input.within(1, 1000);
      break;
    case 8:
      mutate_one(input, made, made.luts);
      return;
    case 9:
      mutate_one(input, made, made.transfers);
      return;
    default:
      mutate_one(input, made, made.slots);
      return;
  }
  ++made.mutations;
}

void make_bindings(Input& input, Made& made, bool mutated) {
  for (std::uint32_t slot = 0; slot < made.slots.size(); ++slot)
    made.bindings.push_back({.address = slot_base(slot),
                             .size = kSlotSize,
                             .memory = made.slots[slot].memory,
                             .access = made.slots[slot].access});
  if (!mutated || !input.once_in(8)) return;
  if (input.once_in(8)) {
    made.bindings.resize(input.below(kSlots + 2));
    ++made.mutations;
  } else {
    mutate_one(input, made, made.bindings);
  }
}

}  // namespace

Made make_program(Input& input, const Wish& wish) {
  Made made;
  // The first one has most of what there is.
  made.hw = nvdla_hw_get(input.flag() ? 0 : input.below(nvdla_hw_count()));
  made.flags = input.flag() ? NVDLA_PROGRAM_STATS : 0u;
  make_slots(input, made);
  Workshop shop{input, made};
  const std::uint32_t layers = input.within(1, wish.most_layers);
  for (std::uint32_t i = 0; i < layers; ++i) {
    nvdla_layer layer{};
    if (i > 0 && input.flag()) {
      layer = again(input, made.layers.back());
    } else {
      make_layer(shop, layer);
    }
    make_waits(input, layer, i);
    for (std::uint32_t n = wish.mutated ? input.below(3) : 0; n > 0; --n)
      mutate(input, made, layer);
    made.layers.push_back(layer);
  }
  if (!made.control.empty()) make_control_slot(made);
  if (wish.mutated && input.once_in(8)) mutate_program(input, made);
  make_bindings(input, made, wish.mutated);
  return made;
}

}  // namespace nvdla::fuzz
