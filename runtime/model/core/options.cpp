// SPDX-License-Identifier: MIT
#include "model/core/options.hpp"

namespace nvdla::model {

std::optional<Quirks> find_quirks(std::string_view name) noexcept {
  if (name == "rtl") return Quirks::kRtl;
  if (name == "cmodel") return Quirks::kCmodel;
  if (name == "gated") return Quirks::kGated;
  return std::nullopt;
}

Quirks silicon_quirks(const nvdla_hw& hw) noexcept {
  return (hw.features & NVDLA_HW_WEIGHT_GATING) != 0 ? Quirks::kGated : Quirks::kRtl;
}

}  // namespace nvdla::model
