// SPDX-License-Identifier: MIT
#include "program_maker.hpp"

#include <algorithm>

namespace nvdla::fuzz {

namespace {

// Slots of a layer: every surface has its own, so that overlaps come from mutations only.
enum Slot : std::uint32_t { kInput, kWeights, kX1, kX2, kOutput, kSlots };

constexpr std::uint64_t kSlotSize = 1ull << 28;

std::uint32_t round_up(std::uint32_t value, std::uint32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

nvdla_surface surface(Input& input, const nvdla_hw& hw, std::uint32_t slot, std::uint32_t width,
                      std::uint32_t height, std::uint32_t column_bytes) {
  nvdla_surface s{};
  s.slot = slot;
  s.offset = std::uint64_t{input.below(4)} * hw.atom;
  s.line_stride = width * column_bytes + input.below(3) * hw.atom;
  s.surface_stride = height * s.line_stride + input.below(3) * hw.atom;
  return s;
}

nvdla_sdp_x make_x(Input& input, const nvdla_hw& hw, std::uint32_t slot, std::uint32_t width,
                   std::uint32_t height) {
  nvdla_sdp_x x{};
  if (!input.flag()) return x;
  x.flags = NVDLA_SDP_ENABLE | (input.flag() ? NVDLA_SDP_RELU : 0u);
  x.alu = input.below(4);
  x.mul = input.below(3);
  if (x.mul == NVDLA_MUL_PRELU) x.alu = NVDLA_ALU_NONE;
  x.mul_shift = input.below(20);
  const std::uint32_t parts = (x.alu != NVDLA_ALU_NONE) + (x.mul != NVDLA_MUL_NONE);
  if (parts == 0) return x;
  if (x.alu != NVDLA_ALU_NONE) x.alu_shift = input.below(8);
  x.mode = input.below(3);
  if (x.mode == NVDLA_OPERAND_ELEMENT && width * height == 1) x.mode = NVDLA_OPERAND_CHANNEL;
  if (x.mode == NVDLA_OPERAND_LAYER) {
    if (x.alu != NVDLA_ALU_NONE) x.alu_value = input.take<std::int16_t>();
    if (x.mul != NVDLA_MUL_NONE) x.mul_value = input.take<std::int16_t>();
    return x;
  }
  x.operand_bytes = input.within(1, 2);
  x.operand = surface(input, hw, slot, width, height, hw.atom * parts * x.operand_bytes);
  if (x.mode == NVDLA_OPERAND_CHANNEL) x.operand.line_stride = x.operand.surface_stride = 0;
  return x;
}

void make_sdp(Input& input, const nvdla_hw& hw, nvdla_sdp& sdp, std::uint32_t width,
              std::uint32_t height) {
  sdp.x1 = make_x(input, hw, kX1, width, height);
  sdp.x2 = make_x(input, hw, kX2, width, height);
  sdp.out_cvt.offset = input.take<std::int8_t>();
  sdp.out_cvt.scale = input.take<std::int16_t>();
  sdp.out_cvt.truncate = input.below(32);
  sdp.output = surface(input, hw, kOutput, width, height, hw.atom);
}

// The output size that an input of `in` gives, by choosing the padding that makes it exact.
std::uint32_t fit(Input& input, std::uint32_t in, std::uint32_t kernel, std::uint32_t stride,
                  std::uint32_t dilation, std::uint32_t& before, std::uint32_t& after) {
  const std::uint32_t dilated = (kernel - 1) * dilation + 1;
  before = input.below(dilated);
  after = 0;
  while (before + in + after < dilated || (before + in + after - dilated) % stride != 0) ++after;
  return (before + in + after - dilated) / stride + 1;
}

void make_conv(Input& input, const nvdla_hw& hw, nvdla_layer& layer) {
  nvdla_conv& conv = layer.conv;
  layer.kind = NVDLA_LAYER_CONV_SDP;
  conv.width = input.within(1, 12);
  conv.height = input.within(1, 12);
  conv.channels = input.within(1, 3 * hw.atomic_c / 2);
  conv.batch = 1;
  conv.kernels = input.within(1, 3 * hw.atomic_k);
  conv.kernel_width = input.within(1, 4);
  conv.kernel_height = input.within(1, 4);
  conv.stride_x = input.within(1, 3);
  conv.stride_y = input.within(1, 3);
  conv.dilation_x = input.within(1, 2);
  conv.dilation_y = input.within(1, 2);
  conv.post_extension = 1;
  conv.pad_value = input.take<std::int8_t>();
  conv.clip_truncate = input.below(4);
  conv.data_banks = input.within(1, hw.cbuf_banks / 2);
  conv.weight_banks = input.within(1, hw.cbuf_banks / 2);
  const std::uint32_t width = fit(input, conv.width, conv.kernel_width, conv.stride_x,
                                  conv.dilation_x, conv.pad_left, conv.pad_right);
  const std::uint32_t height = fit(input, conv.height, conv.kernel_height, conv.stride_y,
                                   conv.dilation_y, conv.pad_top, conv.pad_bottom);
  if (input.flag()) conv.flags |= 1u << input.within(1, 4);  // reuse or keep, data or weights
  conv.input = surface(input, hw, kInput, conv.width, conv.height, hw.atom);
  conv.weights.slot = kWeights;
  conv.weights.offset = std::uint64_t{input.below(4)} * round_up(128, hw.atom);
  make_sdp(input, hw, layer.sdp, width, height);
}

void make_copy(Input& input, const nvdla_hw& hw, nvdla_layer& layer) {
  nvdla_sdp& sdp = layer.sdp;
  layer.kind = NVDLA_LAYER_SDP;
  sdp.width = input.within(1, 12);
  sdp.height = input.within(1, 12);
  sdp.channels = input.within(1, 80);
  sdp.input = surface(input, hw, kInput, sdp.width, sdp.height, hw.atom);
  make_sdp(input, hw, sdp, sdp.width, sdp.height);
}

void make_pooling(Input& input, const nvdla_hw& hw, nvdla_layer& layer) {
  nvdla_pdp& pdp = layer.pdp;
  layer.kind = NVDLA_LAYER_PDP;
  pdp.method = input.below(3);
  pdp.width = input.within(1, 200);
  pdp.height = input.within(1, 12);
  pdp.channels = input.within(1, 80);
  pdp.kernel_width = input.within(1, 8);
  pdp.kernel_height = input.within(1, 8);
  pdp.stride_x = input.within(1, 10);
  pdp.stride_y = input.within(1, 10);
  const std::uint32_t width =
      fit(input, pdp.width, pdp.kernel_width, pdp.stride_x, 1, pdp.pad_left, pdp.pad_right);
  const std::uint32_t height =
      fit(input, pdp.height, pdp.kernel_height, pdp.stride_y, 1, pdp.pad_top, pdp.pad_bottom);
  if (pdp.method == NVDLA_POOL_AVERAGE) {
    pdp.recip_width = 0x10000 / pdp.kernel_width;
    pdp.recip_height = 0x10000 / pdp.kernel_height;
  }
  pdp.bands = input.below(3) == 0 ? input.within(2, 6) : 1;
  if (pdp.bands > 1) pdp.first_out = input.within(1, std::max(width / pdp.bands, 1u));
  if (pdp.bands > 2) pdp.mid_out = pdp.first_out + input.below(16);
  pdp.input = surface(input, hw, kInput, pdp.width, pdp.height, hw.atom);
  pdp.output = surface(input, hw, kOutput, width, height, hw.atom);
}

void make_reshaping(Input& input, const nvdla_hw& hw, nvdla_layer& layer) {
  nvdla_rubik& rubik = layer.rubik;
  layer.kind = NVDLA_LAYER_RUBIK;
  rubik.mode = input.below(3);
  rubik.width = input.within(1, 12);
  rubik.height = input.within(1, 12);
  rubik.channels = input.within(1, 80);
  const bool contract = rubik.mode == NVDLA_RUBIK_CONTRACT;
  if (contract) {
    rubik.stride_x = input.within(1, 4);
    rubik.stride_y = input.within(1, 4);
    rubik.channels = rubik.stride_x * rubik.stride_y * hw.atom * input.within(1, 3);
  }
  rubik.input = surface(input, hw, kInput, rubik.width, rubik.height, hw.atom);
  rubik.output = surface(input, hw, kOutput, rubik.width * (contract ? rubik.stride_x : 1),
                         rubik.height * (contract ? rubik.stride_y : 1), hw.atom);
  if (contract) return;
  nvdla_surface& planes = rubik.mode == NVDLA_RUBIK_SPLIT ? rubik.output : rubik.input;
  planes.offset = round_up(static_cast<std::uint32_t>(planes.offset), 64);
  planes.line_stride = 64 * input.within(1, 2);
  planes.surface_stride = planes.line_stride * (rubik.height + input.below(3));
}

// Overwrites one word of the layer.
void mutate(Input& input, nvdla_layer& layer) {
  const std::uint32_t word = input.below(sizeof(layer) / sizeof(std::uint32_t));
  auto* at = reinterpret_cast<std::uint8_t*>(&layer) + word * sizeof(std::uint32_t);
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  switch (input.below(5)) {
    case 0:
      value += 1;
      break;
    case 1:
      value -= 1;
      break;
    case 2:
      value = input.take<std::uint8_t>();
      break;
    case 3:
      value ^= 1u << input.below(32);
      break;
    default:
      value = input.take<std::uint32_t>();
      break;
  }
  std::memcpy(at, &value, sizeof(value));
}

}  // namespace

Made make_program(Input& input) {
  Made made;
  made.hw = nvdla_hw_get(input.below(nvdla_hw_count()));
  made.flags = input.flag() ? NVDLA_PROGRAM_STATS : 0u;
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    const std::uint32_t access = slot == kOutput ? NVDLA_SLOT_WRITE : NVDLA_SLOT_READ;
    made.slots.push_back({kSlotSize, std::max(made.hw->atom, 64u), NVDLA_MEMORY_DRAM, access, 0});
  }
  // Now and then the output may be read and the input be written, for work in place.
  if (input.below(4) == 0) {
    made.slots[kInput].access = made.slots[kOutput].access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE;
  }
  const std::uint32_t layers = input.within(1, 3);
  for (std::uint32_t i = 0; i < layers; ++i) {
    nvdla_layer layer{};
    std::uint8_t choice = 0;
    // The same again lets a layer reuse what the one before kept.
    if (i > 0 && input.flag())
      layer = made.layers.back();
    else if (choice = input.take<std::uint8_t>(); choice >= 0xc0)
      make_pooling(input, *made.hw, layer);
    else if (choice >= 0xa0)
      make_reshaping(input, *made.hw, layer);
    else if ((choice & 1) != 0)
      make_conv(input, *made.hw, layer);
    else
      make_copy(input, *made.hw, layer);
    for (std::uint32_t n = input.below(4); n > 0; --n) mutate(input, layer);
    if (i > 0 && layer.num_waits == 0) {
      layer.num_waits = 1;
      layer.waits[0] = i - 1;
    }
    made.layers.push_back(layer);
  }
  return made;
}

}  // namespace nvdla::fuzz
