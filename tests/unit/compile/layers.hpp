// SPDX-License-Identifier: MIT
//
// Valid layers that use most of what there is, with slots that are exactly as
// large as the layers need: what the tests of rules start from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "firmware/compile/nvdla_compile.h"

namespace nvdla::test {

// Offset of a field, as errors name it.
#define LAYER_FIELD(member) static_cast<std::uint32_t>(offsetof(nvdla_layer, member))

inline constexpr std::uint32_t kInt8 = NVDLA_PRECISION_INT8, kInt16 = NVDLA_PRECISION_INT16,
                               kHalf = NVDLA_PRECISION_FP16;

// Slots of the base layers.
enum BaseSlot : std::uint32_t {
  kInput = 0,
  kWeights = 1,
  kOutput = 2,
  kX1 = 3,
  kX2 = 4,
};

struct Base {
  const nvdla_hw* hw;
  nvdla_layer layer{};
  std::vector<nvdla_slot> slots;
  std::vector<nvdla_lut> luts{};
  std::vector<nvdla_transfer> transfers{};
  std::vector<std::uint8_t> control{};
};

inline std::uint32_t div_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

inline nvdla_slot slot(std::uint64_t size, std::uint32_t access, std::uint32_t alignment) {
  nvdla_slot s{};
  s.size = size;
  s.access = access;
  s.alignment = alignment;
  s.memory = NVDLA_MEMORY_DRAM;
  return s;
}

// A cube without gaps.
inline nvdla_surface cube(std::uint32_t slot_index, std::uint32_t width, std::uint32_t height,
                          std::uint32_t atom) {
  nvdla_surface s{};
  s.slot = slot_index;
  s.line_stride = width * atom;
  s.surface_stride = width * height * atom;
  return s;
}

// X1 adds 16-bit operands per channel, X2 multiplies with 8-bit operands per
// element and clips below zero. Output of 10 x 8 x 20.
inline void add_operators(Base& base) {
  const std::uint32_t atom = base.hw->atom;
  const std::uint32_t columns = div_up(20, atom);
  nvdla_sdp& sdp = base.layer.sdp;
  sdp.x1.flags = NVDLA_SDP_ENABLE;
  sdp.x1.alu = NVDLA_ALU_SUM;
  sdp.x1.mode = NVDLA_OPERAND_CHANNEL;
  sdp.x1.operand_bytes = 2;
  sdp.x1.alu_shift = 3;
  sdp.x1.mul_shift = 1;
  sdp.x1.operand.slot = kX1;
  sdp.x2.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_RELU;
  sdp.x2.mul = NVDLA_MUL_MUL;
  sdp.x2.mode = NVDLA_OPERAND_ELEMENT;
  sdp.x2.operand_bytes = 1;
  sdp.x2.mul_shift = 7;
  sdp.x2.operand = cube(kX2, 10, 8, atom);
  sdp.out_cvt.offset = -3;
  sdp.out_cvt.scale = 5;
  sdp.out_cvt.truncate = 4;
  sdp.output = cube(kOutput, 10, 8, atom);
  base.slots.push_back(slot(columns * 10 * 8 * atom, NVDLA_SLOT_WRITE, 64));
  base.slots.push_back(slot(columns * atom * 2, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(columns * 10 * 8 * atom, NVDLA_SLOT_READ, 64));
}

// 10 x 8 x 20 from memory.
inline Base base_sdp(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  const std::uint32_t atom = base.hw->atom;
  base.layer.kind = NVDLA_LAYER_SDP;
  base.layer.sdp.width = 10;
  base.layer.sdp.height = 8;
  base.layer.sdp.channels = 20;
  base.layer.sdp.input = cube(kInput, 10, 8, atom);
  base.slots.push_back(slot(div_up(20, atom) * 10 * 8 * atom, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(64, NVDLA_SLOT_READ, 64));
  add_operators(base);
  return base;
}

// 19 x 8 x 40, 20 kernels of 3 x 3, stride 2 x 1, padding 1.
inline Base base_conv(const char* configuration) {
  Base base{nvdla_hw_find(configuration), {}, {}};
  const std::uint32_t atom = base.hw->atom;
  nvdla_conv& conv = base.layer.conv;
  base.layer.kind = NVDLA_LAYER_CONV_SDP;
  conv.width = 19;
  conv.height = 8;
  conv.channels = 40;
  conv.batch = 1;
  conv.kernels = 20;
  conv.kernel_width = 3;
  conv.kernel_height = 3;
  conv.stride_width = 2;
  conv.stride_height = 1;
  conv.dilation_width = 1;
  conv.dilation_height = 1;
  conv.pad_left = 1;
  conv.pad_right = 1;
  conv.pad_top = 1;
  conv.pad_bottom = 1;
  conv.pad_value = -5;
  conv.data_banks = 4;
  conv.weight_banks = 4;
  conv.post_extension = 1;
  conv.clip_truncate = 2;
  conv.input = cube(kInput, 19, 8, atom);
  conv.weights.slot = kWeights;
  base.slots.push_back(slot(div_up(40, atom) * 19 * 8 * atom, NVDLA_SLOT_READ, 64));
  base.slots.push_back(slot(div_up(20 * 360, 128) * 128, NVDLA_SLOT_READ, 64));
  add_operators(base);
  return base;
}

// Three cubes of base_conv, one behind the other.
inline Base base_batch(const char* configuration) {
  Base base = base_conv(configuration);
  base.layer.conv.batch = 3;
  base.layer.conv.input.batch_stride = static_cast<std::uint32_t>(base.slots[kInput].size);
  base.layer.sdp.output.batch_stride = static_cast<std::uint32_t>(base.slots[kOutput].size);
  base.slots[kInput].size *= 3;
  base.slots[kOutput].size *= 3;
  return base;
}

}  // namespace nvdla::test
