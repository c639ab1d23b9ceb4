// SPDX-License-Identifier: MIT
#include "compiler/lower/user_fields.hpp"

#include <drm/nvdla_layer.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace nvdla::detail {
namespace {

struct UserField {
  std::size_t offset;
  std::string_view name;
};

constexpr UserField kUserFields[] = {
    {offsetof(nvdla_layer, conv.clip_truncate), "arithmetic.accumulator_shift"},
    {offsetof(nvdla_layer, conv.pra_truncate), "arithmetic.winograd_truncate"},
    {offsetof(nvdla_layer, conv.cvt_offset), "input.offset"},
    {offsetof(nvdla_layer, conv.cvt_scale), "input.scale"},
    {offsetof(nvdla_layer, conv.cvt_truncate), "input.shift"},
    {offsetof(nvdla_layer, sdp.out_cvt.offset), "output.offset"},
    {offsetof(nvdla_layer, sdp.out_cvt.scale), "output.scale"},
    {offsetof(nvdla_layer, sdp.out_cvt.truncate), "output.shift"},
    {offsetof(nvdla_layer, sdp.y.mul_truncate), "y.mul_shift"},
    {offsetof(nvdla_layer, sdp.y.alu_cvt.offset), "y.alu_converter.offset"},
    {offsetof(nvdla_layer, sdp.y.alu_cvt.scale), "y.alu_converter.scale"},
    {offsetof(nvdla_layer, sdp.y.alu_cvt.truncate), "y.alu_converter.shift"},
    {offsetof(nvdla_layer, sdp.y.mul_cvt.offset), "y.mul_converter.offset"},
    {offsetof(nvdla_layer, sdp.y.mul_cvt.scale), "y.mul_converter.scale"},
    {offsetof(nvdla_layer, sdp.y.mul_cvt.truncate), "y.mul_converter.shift"},
    {offsetof(nvdla_layer, cdp.in_cvt.offset), "input.offset"},
    {offsetof(nvdla_layer, cdp.in_cvt.scale), "input.scale"},
    {offsetof(nvdla_layer, cdp.in_cvt.truncate), "input.shift"},
    {offsetof(nvdla_layer, cdp.out_cvt.offset), "output.offset"},
    {offsetof(nvdla_layer, cdp.out_cvt.scale), "output.scale"},
    {offsetof(nvdla_layer, cdp.out_cvt.truncate), "output.shift"},
};

}  // namespace

std::string_view user_field(std::uint32_t offset) noexcept {
  const auto* found = std::find_if(std::begin(kUserFields), std::end(kUserFields),
                                   [offset](const UserField& f) { return f.offset == offset; });
  return found == std::end(kUserFields) ? std::string_view() : found->name;
}

}  // namespace nvdla::detail
