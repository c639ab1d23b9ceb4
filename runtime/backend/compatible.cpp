// SPDX-License-Identifier: MIT
#include "backend/compatible.hpp"

#include <algorithm>

#include "backend/info.hpp"

namespace nvdla::detail {
namespace {

constexpr std::string_view kVendor = "nvidia,";
constexpr std::string_view kGeneric = "nvidia,nvdla-";

// Device trees have hyphens where names of configurations have underscores.
bool names(std::string_view hyphened, std::string_view configuration) noexcept {
  return std::equal(hyphened.begin(), hyphened.end(), configuration.begin(), configuration.end(),
                    [](char a, char b) { return a == (b == '_' ? '-' : b); });
}

}  // namespace

std::string compatible_of(const nvdla_hw& hw) {
  std::string name = std::string(kGeneric) + hw.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

const nvdla_hw* find_compatible(std::string_view compatible) noexcept {
  if (compatible == kPublishedCompatible) return find_configuration("nv_full");
  if (!compatible.starts_with(kVendor)) return nullptr;
  if (!compatible.starts_with(kGeneric))
    return find_configuration(compatible.substr(kVendor.size()));
  for (u32 i = 0; i < nvdla_hw_count(); ++i) {
    if (names(compatible.substr(kGeneric.size()), nvdla_hw_get(i)->name)) return nvdla_hw_get(i);
  }
  return nullptr;
}

}  // namespace nvdla::detail
