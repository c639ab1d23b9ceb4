// SPDX-License-Identifier: MIT
#include "backend/registers/identify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "backend/name/device_name.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "model/core/register_info.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// "100" and '1', in both generations.
constexpr std::uint32_t kVersion = 0x00303031;

constexpr std::uint32_t version_offset(bool first_generation) {
  return (first_generation ? NVDLA_NV_FULL_GLB_BASE : NVDLA_NV_SMALL_GLB_BASE) +
         NVDLA_GLB_S_NVDLA_HW_VERSION;
}

const char* generation(bool first) { return first ? "first" : "second"; }

// Returns whether registers of the second memory interface are there; windows of units that are not
// built read 0.
bool has_sram(BareDevice& device, nvdla_regmap map) {
  const model::UnitInfo& cvif = model::unit_info(NVDLA_UNIT_CVIF);
  return std::any_of(cvif.registers.begin(), cvif.registers.end(), [&](const auto& info) {
    return device.read(*model::register_address(map, info)) != 0;
  });
}

// Lists the configurations that a device of the second generation can be by its registers.
std::string fitting_names(BareDevice& device) {
  const bool sram = has_sram(device, NVDLA_REGMAP_NV_SMALL);
  std::string names;
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    const nvdla_hw& hw = *nvdla_hw_get(i);
    if (hw.regmap != NVDLA_REGMAP_NV_SMALL || ((hw.features & NVDLA_HW_SRAM) != 0) != sram)
      continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", hw.name);
  }
  return names;
}

// Suggests a cause for a wrong version word, for error messages.
const char* cause(std::uint32_t word) {
  if (word == UINT32_MAX) return "nothing answers: is the address right, and is the device on?";
  if (word == 0) return "is the address right, and does the device have power and its clock?";
  if (word == __builtin_bswap32(kVersion)) return "the bytes of a word are in the wrong order";
  return "is the address right?";
}

}  // namespace

std::optional<nvdla_regmap> find_register_map(BareDevice& device) {
  // At the first generation's offset, the second one has a ROM with the same word, so only the
  // other offset distinguishes them.
  if (device.read(version_offset(false)) == kVersion) return NVDLA_REGMAP_NV_SMALL;
  if (device.read(version_offset(true)) == kVersion) return NVDLA_REGMAP_NV_FULL;
  return std::nullopt;
}

std::uint32_t find_glb(BareDevice& device) {
  if (const auto map = find_register_map(device))
    return *map == NVDLA_REGMAP_NV_FULL ? NVDLA_NV_FULL_GLB_BASE : NVDLA_NV_SMALL_GLB_BASE;
  const std::uint32_t word = device.read(version_offset(false));
  const std::uint32_t other = device.read(version_offset(true));
  throw_error(ErrorCode::kNoDevice,
              "{}: no NVDLA: offsets {:#x} and {:#x} read as {:#010x} and {:#010x}, one should be "
              "{:#010x}; {}",
              device.describe(), version_offset(true), version_offset(false), other, word, kVersion,
              cause(other));
}

const nvdla_hw& identify(BareDevice& device, const nvdla_hw* named) {
  const std::string name = device.describe();
  const nvdla_hw* const said = device.configuration();
  if (named != nullptr && said != nullptr && std::string_view(named->name) != said->name) {
    throw_error(ErrorCode::kNoDevice, "{}: is {}, not {}", name, said->name, named->name);
  }
  const nvdla_hw* const hw = named != nullptr ? named : said;
  const bool first = find_glb(device) == NVDLA_NV_FULL_GLB_BASE;
  if (hw == nullptr) {
    if (first) return default_configuration();
    throw_error(ErrorCode::kNoDevice,
                "{}: an NVDLA of the second generation, whose configurations registers do not tell "
                "apart: add ',config=<configuration>' with one of {}",
                name, fitting_names(device));
  }
  if (first != (hw->regmap == NVDLA_REGMAP_NV_FULL)) {
    throw_error(ErrorCode::kNoDevice, "{}: an NVDLA of the {} generation, which {} is not", name,
                generation(first), hw->name);
  }
  return *hw;
}

}  // namespace nvdla::detail
