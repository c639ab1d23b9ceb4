// SPDX-License-Identifier: MIT
//
// The field table. A structure that occurs inside others has one macro; a test proves that the
// tables cover every byte.
#include "support/fields.hpp"

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <type_traits>

namespace nvdla::detail {
namespace {

template <typename T>
constexpr std::uint32_t element_size() {
  return sizeof(std::remove_all_extents_t<std::remove_reference_t<T>>);
}

template <typename T>
constexpr bool has_sign() {
  return std::is_signed_v<std::remove_all_extents_t<std::remove_reference_t<T>>>;
}

// clang-format off
#define FIELD(T, M)                                              \
  Field { static_cast<std::uint32_t>(offsetof(T, M)),            \
          static_cast<std::uint32_t>(sizeof(std::declval<T &>().M)),              \
          element_size<decltype(std::declval<T &>().M)>(), #M,    \
          has_sign<decltype(std::declval<T &>().M)>() }

#define SURFACE(T, M) \
  FIELD(T, M.offset), FIELD(T, M.slot), FIELD(T, M.line_stride), FIELD(T, M.surface_stride), \
  FIELD(T, M.batch_stride)
#define SPAN(T, M) \
  FIELD(T, M.offset), FIELD(T, M.slot), FIELD(T, M.bytes)
#define CONVERT(T, M) \
  FIELD(T, M.offset), FIELD(T, M.scale), FIELD(T, M.truncate), FIELD(T, M.pad)
#define LUT_SLOPE(T, M) \
  FIELD(T, M.scale), FIELD(T, M.shift)
#define CONV(T, M) \
  FIELD(T, M.mode), FIELD(T, M.flags), FIELD(T, M.in_precision), FIELD(T, M.proc_precision), \
  FIELD(T, M.width), FIELD(T, M.height), FIELD(T, M.channels), FIELD(T, M.batch), \
  FIELD(T, M.kernels), FIELD(T, M.kernel_width), FIELD(T, M.kernel_height), \
  FIELD(T, M.stride_width), FIELD(T, M.stride_height), FIELD(T, M.dilation_width), FIELD(T, M.dilation_height), \
  FIELD(T, M.pad_left), FIELD(T, M.pad_right), FIELD(T, M.pad_top), FIELD(T, M.pad_bottom), \
  FIELD(T, M.pad_value), FIELD(T, M.data_banks), FIELD(T, M.weight_banks), \
  FIELD(T, M.fetch_grain), FIELD(T, M.release), FIELD(T, M.post_extension), \
  FIELD(T, M.pra_truncate), FIELD(T, M.clip_truncate), FIELD(T, M.pixel_format), \
  FIELD(T, M.pixel_offset), FIELD(T, M.cvt_offset), FIELD(T, M.cvt_scale), \
  FIELD(T, M.cvt_truncate), FIELD(T, M.mean), SURFACE(T, M.input), SURFACE(T, M.input_uv), \
  SPAN(T, M.weights), SPAN(T, M.wgs), SPAN(T, M.wmb)
#define SDP_X(T, M) \
  FIELD(T, M.flags), FIELD(T, M.alu), FIELD(T, M.mul), FIELD(T, M.mode), \
  FIELD(T, M.operand_bytes), FIELD(T, M.alu_value), FIELD(T, M.mul_value), \
  FIELD(T, M.alu_shift), FIELD(T, M.mul_shift), FIELD(T, M.pad), SURFACE(T, M.operand)
#define SDP_Y(T, M) \
  FIELD(T, M.flags), FIELD(T, M.alu), FIELD(T, M.mul), FIELD(T, M.mode), \
  FIELD(T, M.operand_bytes), FIELD(T, M.alu_value), FIELD(T, M.mul_value), \
  FIELD(T, M.mul_truncate), CONVERT(T, M.alu_cvt), CONVERT(T, M.mul_cvt), \
  SURFACE(T, M.operand)
#define SDP(T, M) \
  FIELD(T, M.flags), FIELD(T, M.in_precision), FIELD(T, M.proc_precision), \
  FIELD(T, M.out_precision), FIELD(T, M.width), FIELD(T, M.height), FIELD(T, M.channels), \
  FIELD(T, M.pad), SDP_X(T, M.x1), SDP_X(T, M.x2), SDP_Y(T, M.y), CONVERT(T, M.out_cvt), \
  SURFACE(T, M.input), SURFACE(T, M.output)
#define PDP(T, M) \
  FIELD(T, M.flags), FIELD(T, M.method), FIELD(T, M.precision), FIELD(T, M.width), \
  FIELD(T, M.height), FIELD(T, M.channels), FIELD(T, M.kernel_width), \
  FIELD(T, M.kernel_height), FIELD(T, M.stride_width), FIELD(T, M.stride_height), FIELD(T, M.pad_left), \
  FIELD(T, M.pad_right), FIELD(T, M.pad_top), FIELD(T, M.pad_bottom), FIELD(T, M.pad_value), \
  FIELD(T, M.recip_width), FIELD(T, M.recip_height), FIELD(T, M.bands), FIELD(T, M.first_out), \
  FIELD(T, M.mid_out), SURFACE(T, M.input), SURFACE(T, M.output)
#define CDP(T, M) \
  FIELD(T, M.flags), FIELD(T, M.precision), FIELD(T, M.width), FIELD(T, M.height), \
  FIELD(T, M.channels), FIELD(T, M.window), CONVERT(T, M.in_cvt), CONVERT(T, M.out_cvt), \
  SURFACE(T, M.input), SURFACE(T, M.output)
#define RUBIK(T, M) \
  FIELD(T, M.mode), FIELD(T, M.precision), FIELD(T, M.width), FIELD(T, M.height), \
  FIELD(T, M.channels), FIELD(T, M.stride_width), FIELD(T, M.stride_height), FIELD(T, M.pad), \
  SURFACE(T, M.input), SURFACE(T, M.output)
#define BDMA(T, M) \
  FIELD(T, M.first_transfer), FIELD(T, M.num_transfers)
constexpr Field kLayerFields[] = {
    FIELD(nvdla_layer, kind), FIELD(nvdla_layer, flags), FIELD(nvdla_layer, num_waits),
    FIELD(nvdla_layer, lut), FIELD(nvdla_layer, waits), CONV(nvdla_layer, conv),
    SDP(nvdla_layer, sdp), PDP(nvdla_layer, pdp), CDP(nvdla_layer, cdp),
    RUBIK(nvdla_layer, rubik), BDMA(nvdla_layer, bdma)
};

constexpr Field kSlotFields[] = {
    FIELD(nvdla_slot, size), FIELD(nvdla_slot, alignment), FIELD(nvdla_slot, memory),
    FIELD(nvdla_slot, access), FIELD(nvdla_slot, pad)
};

constexpr Field kLutFields[] = {
    FIELD(nvdla_lut, unit), FIELD(nvdla_lut, flags), FIELD(nvdla_lut, le_index_offset),
    FIELD(nvdla_lut, le_index_select), FIELD(nvdla_lut, lo_index_select), FIELD(nvdla_lut, pad),
    FIELD(nvdla_lut, le_start), FIELD(nvdla_lut, le_end), FIELD(nvdla_lut, lo_start),
    FIELD(nvdla_lut, lo_end), LUT_SLOPE(nvdla_lut, le_underflow),
    LUT_SLOPE(nvdla_lut, le_overflow), LUT_SLOPE(nvdla_lut, lo_underflow),
    LUT_SLOPE(nvdla_lut, lo_overflow), FIELD(nvdla_lut, le), FIELD(nvdla_lut, lo),
    FIELD(nvdla_lut, pad2)
};

constexpr Field kTransferFields[] = {
    FIELD(nvdla_transfer, line_bytes), FIELD(nvdla_transfer, lines),
    FIELD(nvdla_transfer, surfaces), FIELD(nvdla_transfer, pad), SURFACE(nvdla_transfer, source),
    SURFACE(nvdla_transfer, destination)
};

// clang-format on

#undef FIELD
#undef SURFACE
#undef SPAN
#undef CONVERT
#undef LUT_SLOPE
#undef CONV
#undef SDP_X
#undef SDP_Y
#undef SDP
#undef PDP
#undef CDP
#undef RUBIK
#undef BDMA

// An error about a program has no offset but a part: enum nvdla_program_part.
constexpr Field kProgramParts[] = {{NVDLA_PART_MEMORY, 1, 1, "memory"},
                                   {NVDLA_PART_LAYERS, 1, 1, "layers"},
                                   {NVDLA_PART_SLOTS, 1, 1, "slots"},
                                   {NVDLA_PART_LUTS, 1, 1, "look-up tables"},
                                   {NVDLA_PART_TRANSFERS, 1, 1, "transfers"},
                                   {NVDLA_PART_FLAGS, 1, 1, "flags"},
                                   {NVDLA_PART_CONTROL, 1, 1, "bytes of control data"}};

}  // namespace

std::span<const Field> object_fields(std::uint32_t object) noexcept {
  switch (object) {
    case NVDLA_OBJECT_PROGRAM:
      return kProgramParts;
    case NVDLA_OBJECT_LAYER:
      return kLayerFields;
    case NVDLA_OBJECT_SLOT:
      return kSlotFields;
    case NVDLA_OBJECT_LUT:
      return kLutFields;
    case NVDLA_OBJECT_TRANSFER:
      return kTransferFields;
    default:
      return {};
  }
}

std::uint32_t object_size(std::uint32_t object) noexcept {
  switch (object) {
    case NVDLA_OBJECT_PROGRAM:
      return NVDLA_PART_CONTROL + 1;
    case NVDLA_OBJECT_LAYER:
      return sizeof(nvdla_layer);
    case NVDLA_OBJECT_SLOT:
      return sizeof(nvdla_slot);
    case NVDLA_OBJECT_LUT:
      return sizeof(nvdla_lut);
    case NVDLA_OBJECT_TRANSFER:
      return sizeof(nvdla_transfer);
    default:
      return 0;
  }
}

const Field* find_field(std::uint32_t object, std::uint32_t offset) noexcept {
  for (const Field& field : object_fields(object)) {
    if (offset >= field.offset && offset - field.offset < field.size) return &field;
  }
  return nullptr;
}

std::string field_text(std::uint32_t object, std::uint32_t offset) {
  const Field* field = find_field(object, offset);
  if (field == nullptr) return {};
  std::string text(field->name);
  if (field->size > field->element) {
    text += '[' + std::to_string((offset - field->offset) / field->element) + ']';
  }
  return text;
}

}  // namespace nvdla::detail
