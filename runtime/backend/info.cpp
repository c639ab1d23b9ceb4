// SPDX-License-Identifier: MIT
#include "backend/info.hpp"

#include <vector>

#include "base/check.hpp"

namespace nvdla {

const nvdla_hw* detail::find_configuration(std::string_view name) noexcept {
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    if (name == nvdla_hw_get(i)->name) return nvdla_hw_get(i);
  }
  return nullptr;
}

const nvdla_hw& detail::without_weight_gating(const nvdla_hw& hw) {
  static const std::vector<nvdla_hw> mended = [] {
    std::vector<nvdla_hw> list(nvdla_hw_get(0), nvdla_hw_get(0) + nvdla_hw_count());
    for (nvdla_hw& one : list) one.features &= ~NVDLA_HW_WEIGHT_GATING;
    return list;
  }();
  return mended[static_cast<std::size_t>(&hw - nvdla_hw_get(0))];
}

const nvdla_hw* detail::find_configuration(const DeviceInfo& info) {
  const nvdla_hw* hw = find_configuration(info.configuration);
  return hw == nullptr || info.has_weight_gating ? hw : &without_weight_gating(*hw);
}

DeviceInfo detail::make_info(const nvdla_hw& hw, std::string_view backend) {
  const auto has = [&](std::uint32_t feature) { return (hw.features & feature) != 0; };
  DeviceInfo info;
  info.configuration = hw.name;
  info.backend = backend;
  info.atom = hw.atom;
  info.atomic_c = hw.atomic_c;
  info.atomic_k = hw.atomic_k;
  info.cbuf_banks = hw.cbuf_banks;
  info.cbuf_entries = hw.cbuf_entries;
  info.cbuf_entry_bytes = hw.cbuf_entry_bytes;
  info.weight_align = hw.weight_align;
  info.address_bits = hw.address_bits;
  info.has_int16 = has(NVDLA_HW_INT16);
  info.has_fp16 = has(NVDLA_HW_FP16);
  info.has_winograd = has(NVDLA_HW_WINOGRAD);
  info.has_batch = has(NVDLA_HW_BATCH);
  info.has_compression = has(NVDLA_HW_COMPRESSION);
  info.has_sram = has(NVDLA_HW_SRAM);
  info.has_bdma = has(NVDLA_HW_BDMA);
  info.has_rubik = has(NVDLA_HW_RUBIK);
  info.has_sdp_y = has(NVDLA_HW_SDP_Y);
  info.has_lut = has(NVDLA_HW_LUT);
  info.has_pixel_16 = has(NVDLA_HW_PIXEL_16);
  info.has_weight_gating = has(NVDLA_HW_WEIGHT_GATING);
  return info;
}

DeviceInfo configuration_info(std::string_view name) {
  const nvdla_hw* hw = detail::find_configuration(name);
  if (hw == nullptr) {
    detail::refuse(ErrorCode::kNoDevice, "no configuration is called '{}'", name);
  }
  return detail::make_info(*hw, "");
}

std::size_t configuration_count() noexcept { return nvdla_hw_count(); }

std::string_view configuration_name(std::size_t index) noexcept {
  const nvdla_hw* hw =
      index < nvdla_hw_count() ? nvdla_hw_get(static_cast<std::uint32_t>(index)) : nullptr;
  return hw == nullptr ? std::string_view() : std::string_view(hw->name);
}

}  // namespace nvdla
