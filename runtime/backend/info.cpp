// SPDX-License-Identifier: MIT
#include "backend/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "firmware/registers/nvdla_regs.h"
#include "support/check.hpp"

namespace nvdla {

const nvdla_hw* detail::find_configuration(std::string_view name) noexcept {
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    if (name == nvdla_hw_get(i)->name) return nvdla_hw_get(i);
  }
  return nullptr;
}

namespace {

// The configuration of that name with these properties of its logic. It lives for ever.
const nvdla_hw& variant(std::string_view name, bool gating, std::uint32_t revision) {
  const nvdla_hw& plain = *detail::find_configuration(name);
  const bool gated = (plain.features & NVDLA_HW_WEIGHT_GATING) != 0;
  if (revision == 0 && gating == gated) return plain;
  // All that can be, so that each has one address.
  static const std::vector<nvdla_hw> all = [] {
    std::vector<nvdla_hw> list;
    for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
      for (const std::uint32_t year : {0u, detail::kRevisions[0], detail::kRevisions[1]}) {
        list.push_back(*nvdla_hw_get(i));
        list.back().revision = year;
        list.push_back(list.back());
        list.back().features &= ~static_cast<std::uint32_t>(NVDLA_HW_WEIGHT_GATING);
      }
    }
    return list;
  }();
  return *std::find_if(all.begin(), all.end(), [&](const nvdla_hw& one) {
    return one.name == name && one.revision == revision &&
           ((one.features & NVDLA_HW_WEIGHT_GATING) != 0) == (gating && gated);
  });
}

}  // namespace

const nvdla_hw& detail::without_weight_gating(const nvdla_hw& hw) {
  return variant(hw.name, false, hw.revision);
}

const nvdla_hw& detail::with_revision(const nvdla_hw& hw, std::uint32_t revision) {
  return variant(hw.name, (hw.features & NVDLA_HW_WEIGHT_GATING) != 0, revision);
}

const nvdla_hw* detail::find_configuration(const DeviceInfo& info) {
  if (find_configuration(info.configuration) == nullptr) return nullptr;
  return &variant(info.configuration, info.has_weight_gating, info.revision);
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
  info.revision = hw.revision;
  return info;
}

DeviceInfo configuration_info(std::string_view name) {
  const nvdla_hw* hw = detail::find_configuration(name);
  if (hw == nullptr) {
    detail::throw_error(ErrorCode::kNoDevice, "no configuration is called '{}'", name);
  }
  return detail::make_info(*hw, "");
}

CounterWorth counter_worth(const DeviceInfo& info, std::uint32_t counter) {
  const nvdla_hw* const hw = detail::find_configuration(info);
  if (hw == nullptr || counter >= NVDLA_COUNTER_COUNT) {
    throw Error(ErrorCode::kInvalidArgument,
                hw == nullptr ? fmt::format("no configuration is called '{}'", info.configuration)
                              : fmt::format("no counter has the number {}; expected 0 to {}",
                                            counter, NVDLA_COUNTER_COUNT - 1));
  }
  switch (nvdla_hw_counts(hw, counter)) {
    case NVDLA_COUNTS_EXACT:
      return CounterWorth::kExact;
    case NVDLA_COUNTS_INDICATIVE:
      return CounterWorth::kIndicative;
    default:
      return CounterWorth::kNotValid;
  }
}

std::string_view counter_worth_name(CounterWorth worth) noexcept {
  switch (worth) {
    case CounterWorth::kExact:
      return "exact";
    case CounterWorth::kIndicative:
      return "indicative";
    case CounterWorth::kNotValid:
      return "not valid";
  }
  return {};
}

std::size_t configuration_count() noexcept { return nvdla_hw_count(); }

std::string_view configuration_name(std::size_t index) noexcept {
  const nvdla_hw* hw =
      index < nvdla_hw_count() ? nvdla_hw_get(static_cast<std::uint32_t>(index)) : nullptr;
  return hw == nullptr ? std::string_view() : std::string_view(hw->name);
}

}  // namespace nvdla
