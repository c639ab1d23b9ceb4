// SPDX-License-Identifier: MIT
#include "support/field_values.hpp"

#include <drm/nvdla_layer.h>
#include <fmt/format.h>

#include <iterator>

#include "nvdla/types/error.hpp"

namespace nvdla::detail {
namespace {

constexpr std::string_view kPrecisionNames[] = {"int8", "int16", "fp16"};
constexpr std::string_view kMemoryNames[] = {"dram", "sram"};
constexpr std::string_view kAccessNames[] = {"read", "write", "control"};
constexpr std::string_view kConvModeNames[] = {"direct", "image", "winograd"};
constexpr std::string_view kConvFlagNames[] = {"compressed", "reuse_data",    "reuse_weights",
                                               "keep_data",  "keep_weights",  "convert",
                                               "mean",       "signed_pixels", "nan_to_zero"};
constexpr std::string_view kAluNames[] = {"none", "max", "min", "sum", "equal"};
constexpr std::string_view kMulNames[] = {"none", "mul", "prelu"};
constexpr std::string_view kOperandNames[] = {"layer", "channel", "element"};
constexpr std::string_view kOperatorFlagNames[] = {"enable", "relu", "lut", "convert_alu",
                                                   "convert_mul"};
constexpr std::string_view kNanFlagNames[] = {"nan_to_zero"};
constexpr std::string_view kPoolNames[] = {"average", "max", "min"};
constexpr std::string_view kCdpFlagNames[] = {"bypass_square_sum", "bypass_mul", "nan_to_zero"};
constexpr std::string_view kRubikNames[] = {"contract", "split", "merge"};
constexpr std::string_view kLutUnitNames[] = {"sdp", "cdp"};
constexpr std::string_view kLutFlagNames[] = {"le_linear", "underflow_lo", "overflow_lo",
                                              "hybrid_lo"};

static_assert(std::size(kPrecisionNames) == NVDLA_PRECISION_FP16 + 1);
static_assert(std::size(kMemoryNames) == NVDLA_MEMORY_SRAM + 1);
static_assert(1U << (std::size(kAccessNames) - 1) == NVDLA_SLOT_CONTROL);
static_assert(std::size(kConvModeNames) == NVDLA_CONV_WINOGRAD + 1);
static_assert(1U << (std::size(kConvFlagNames) - 1) == NVDLA_CONV_NAN_TO_ZERO);
static_assert(std::size(kAluNames) == NVDLA_ALU_EQUAL + 1);
static_assert(std::size(kMulNames) == NVDLA_MUL_PRELU + 1);
static_assert(std::size(kOperandNames) == NVDLA_OPERAND_ELEMENT + 1);
static_assert(1U << (std::size(kOperatorFlagNames) - 1) == NVDLA_SDP_CONVERT_MUL);
static_assert(std::size(kPoolNames) == NVDLA_POOL_MIN + 1);
static_assert(1U << (std::size(kCdpFlagNames) - 1) == NVDLA_CDP_NAN_TO_ZERO);
static_assert(std::size(kRubikNames) == NVDLA_RUBIK_MERGE + 1);
static_assert(std::size(kLutUnitNames) == NVDLA_LUT_CDP + 1);
static_assert(1U << (std::size(kLutFlagNames) - 1) == NVDLA_LUT_HYBRID_LO);

template <const auto& kNames>
std::string_view name_in(std::uint32_t value) noexcept {
  return value < std::size(kNames) ? kNames[value] : std::string_view();
}

template <const auto& kNames>
constexpr ValueNames kValues = {name_in<kNames>, std::size(kNames), false};
template <const auto& kNames>
constexpr ValueNames kFlags = {name_in<kNames>, std::size(kNames), true};

struct Row {
  std::uint32_t object;
  std::string_view field;
  ValueNames values;
};

constexpr Row kRows[] = {
    {NVDLA_OBJECT_LAYER, "kind", {layer_kind_name, NVDLA_LAYER_BDMA + 1, false}},
    {NVDLA_OBJECT_LAYER, "conv.mode", kValues<kConvModeNames>},
    {NVDLA_OBJECT_LAYER, "conv.flags", kFlags<kConvFlagNames>},
    {NVDLA_OBJECT_LAYER, "conv.in_precision", kValues<kPrecisionNames>},
    {NVDLA_OBJECT_LAYER, "conv.proc_precision", kValues<kPrecisionNames>},
    {NVDLA_OBJECT_LAYER,
     "conv.pixel_format",
     {pixel_format_name, NVDLA_PIXEL_Y16_V16U16_N444 + 1, false}},
    {NVDLA_OBJECT_LAYER, "sdp.flags", kFlags<kNanFlagNames>},
    {NVDLA_OBJECT_LAYER, "sdp.in_precision", kValues<kPrecisionNames>},
    {NVDLA_OBJECT_LAYER, "sdp.proc_precision", kValues<kPrecisionNames>},
    {NVDLA_OBJECT_LAYER, "sdp.out_precision", kValues<kPrecisionNames>},
    {NVDLA_OBJECT_LAYER, "sdp.x1.flags", kFlags<kOperatorFlagNames>},
    {NVDLA_OBJECT_LAYER, "sdp.x1.alu", kValues<kAluNames>},
    {NVDLA_OBJECT_LAYER, "sdp.x1.mul", kValues<kMulNames>},
    {NVDLA_OBJECT_LAYER, "sdp.x1.mode", kValues<kOperandNames>},
    {NVDLA_OBJECT_LAYER, "sdp.x2.flags", kFlags<kOperatorFlagNames>},
    {NVDLA_OBJECT_LAYER, "sdp.x2.alu", kValues<kAluNames>},
    {NVDLA_OBJECT_LAYER, "sdp.x2.mul", kValues<kMulNames>},
    {NVDLA_OBJECT_LAYER, "sdp.x2.mode", kValues<kOperandNames>},
    {NVDLA_OBJECT_LAYER, "sdp.y.flags", kFlags<kOperatorFlagNames>},
    {NVDLA_OBJECT_LAYER, "sdp.y.alu", kValues<kAluNames>},
    {NVDLA_OBJECT_LAYER, "sdp.y.mul", kValues<kMulNames>},
    {NVDLA_OBJECT_LAYER, "sdp.y.mode", kValues<kOperandNames>},
    {NVDLA_OBJECT_LAYER, "pdp.flags", kFlags<kNanFlagNames>},
    {NVDLA_OBJECT_LAYER, "pdp.method", kValues<kPoolNames>},
    {NVDLA_OBJECT_LAYER, "pdp.precision", kValues<kPrecisionNames>},
    {NVDLA_OBJECT_LAYER, "cdp.flags", kFlags<kCdpFlagNames>},
    {NVDLA_OBJECT_LAYER, "cdp.precision", kValues<kPrecisionNames>},
    {NVDLA_OBJECT_LAYER, "rubik.mode", kValues<kRubikNames>},
    {NVDLA_OBJECT_LAYER, "rubik.precision", kValues<kPrecisionNames>},
    {NVDLA_OBJECT_SLOT, "memory", kValues<kMemoryNames>},
    {NVDLA_OBJECT_SLOT, "access", kFlags<kAccessNames>},
    {NVDLA_OBJECT_LUT, "unit", kValues<kLutUnitNames>},
    {NVDLA_OBJECT_LUT, "flags", kFlags<kLutFlagNames>},
};

}  // namespace

std::string ValueNames::text(std::uint64_t value) const {
  if (!flags) {
    const std::string_view name = value < count ? name_of(static_cast<std::uint32_t>(value)) : "";
    return name.empty() ? fmt::format("{}", value) : std::string(name);
  }
  std::string out;
  for (std::uint32_t bit = 0; bit < count; ++bit) {
    if ((value >> bit & 1) == 0) continue;
    out += fmt::format("{}{}", out.empty() ? "" : "|", name_of(bit));
    value &= ~(std::uint64_t{1} << bit);
  }
  if (value != 0 || out.empty()) out += fmt::format("{}{:#x}", out.empty() ? "" : "|", value);
  return out;
}

std::string ValueNames::list() const {
  std::string out;
  for (std::uint32_t value = 0; value < count; ++value)
    if (!name_of(value).empty()) out += (out.empty() ? "" : ", ") + std::string(name_of(value));
  return out;
}

ValueNames value_names(std::uint32_t object, std::string_view field) noexcept {
  for (const Row& row : kRows)
    if (row.object == object && row.field == field) return row.values;
  return {};
}

}  // namespace nvdla::detail
