// SPDX-License-Identifier: MIT
//
// Identifies an NVDLA. Its registers reveal the generation and the memory interfaces. All builds of
// the second generation otherwise read alike, so a layer copies one element: the device writes an
// atom, whose size distinguishes them.
#include "backend/registers/identify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "selftest/device_runner.hpp"
#include "selftest/explain.hpp"
#include "selftest/golden.hpp"
#include "selftest/steps.hpp"

namespace nvdla::selftest {
namespace {

using detail::BareDevice;
using model::RegisterMap;

const char* map_text(RegisterMap map) {
  return map == NVDLA_REGMAP_NV_FULL ? "the first generation (nv_full)"
                                     : "the second generation (nv_small and others)";
}

std::uint32_t version_address(RegisterMap map) {
  return *model::register_address(map, *model::find_register("GLB.S_NVDLA_HW_VERSION"));
}

std::uint32_t version(RegisterMap map) {
  return model::find_register("GLB.S_NVDLA_HW_VERSION")->reset[map];
}

// Returns likely causes for a version register that is not where it should be.
std::vector<std::string> causes_of_version(BareDevice& device, RegisterMap map) {
  std::vector<Word> words;
  for (const model::RegisterInfo& info : model::registers()) {
    // Only these units have registers that are not 0 after reset in every build.
    if (info.unit != NVDLA_UNIT_GLB && info.unit != NVDLA_UNIT_MCIF &&
        info.unit != NVDLA_UNIT_CFGROM)
      continue;
    const auto address = model::register_address(map, info);
    const std::uint32_t wanted = info.reset[map] & info.read[map];
    if (address && wanted != 0) words.push_back({wanted, device.read(*address)});
  }
  const bool gone =
      std::all_of(words.begin(), words.end(), [](const Word& word) { return word.saw == ~0u; });
  for (std::uint32_t at = 0; at < NVDLA_REG_SPACE && !gone; at += 4) {
    if (device.read(at) != version(map)) continue;
    const auto wanted = static_cast<std::int64_t>(version_address(map));
    return {
        fmt::format("the window is shifted: the version is at {:#x}, so the address of the "
                    "register window is {:#x} too {}",
                    at, std::abs(wanted - at), at > wanted ? "low" : "high")};
  }
  if (auto text = explain(words)) return {std::move(*text)};
  return {cause::kNoAnswer, "what is at this address is no NVDLA, or one of another version"};
}

// Returns the number of bytes that the device writes for one element; nothing if that cannot be
// measured.
std::optional<unsigned> measure_atom(Runner& runner, const nvdla_hw& hw) {
  constexpr std::uint8_t kElement = 0x33;
  Work work;
  work.what = "a copy of one element";
  work.layers.push_back(copy_layer(hw, 1, 1, 1));
  work.regions.push_back({Bytes(4096, kElement)});
  work.regions.push_back({Bytes(4096, kPoison), true});
  const auto load = runner.load(work);
  if (load->run().end != End::kDone) return std::nullopt;
  const auto written = load->bytes(1);
  const std::uint8_t first = written[0];
  if (first == kPoison) return std::nullopt;
  const auto end = std::find_if(written.begin(), written.end(),
                                [&](std::uint8_t byte) { return byte != first; });
  const auto atom = static_cast<unsigned>(end - written.begin());
  return atom == 8 || atom == 16 || atom == 32 ? std::optional(atom) : std::nullopt;
}

bool has_second_memory(BareDevice& device, const nvdla_hw& hw) {
  const model::UnitInfo& cvif = model::unit_info(NVDLA_UNIT_CVIF);
  const auto map = static_cast<RegisterMap>(hw.regmap);
  return std::any_of(cvif.registers.begin(), cvif.registers.end(), [&](const auto& info) {
    return device.read(*model::register_address(map, info)) != 0;
  });
}

bool is_like(const nvdla_hw& hw, RegisterMap map, std::optional<unsigned> atom, bool second) {
  return hw.regmap == static_cast<u32>(map) && (!atom || hw.atom == *atom) &&
         ((hw.features & NVDLA_HW_SRAM) != 0) == second;
}

std::string names_of(const std::vector<const nvdla_hw*>& all) {
  std::string text;
  for (const nvdla_hw* hw : all) text += fmt::format("{}{}", text.empty() ? "" : " or ", hw->name);
  return text.empty() ? "no configuration that is known" : text;
}

Identified unknown(BareDevice& device, const nvdla_hw* named) {
  const RegisterMap map = named ? static_cast<RegisterMap>(named->regmap) : NVDLA_REGMAP_NV_SMALL;
  const std::uint32_t address = version_address(map);
  return {Result::failed(
      {fmt::format("GLB.S_NVDLA_HW_VERSION at {:#x} is {:#010x}", address, device.read(address)),
       fmt::format("{:#010x}", version(map)), causes_of_version(device, map)})};
}

}  // namespace

Identified identify(BareDevice& device, const nvdla_hw* named, std::chrono::nanoseconds limit) {
  // Nothing is written before the version is right: it could be anything else.
  const auto map = detail::find_register_map(device);
  if (!map) return unknown(device, named);
  if (named && named->regmap != static_cast<u32>(*map)) {
    return {
        Result::failed({fmt::format("the version register is where {} has it", map_text(*map)),
                        fmt::format("where {} has it: {} was named",
                                    map_text(static_cast<RegisterMap>(named->regmap)), named->name),
                        {cause::kConfiguration}})};
  }

  // Any configuration of the generation can copy an element.
  const nvdla_hw* probe = named;
  for (u32 i = 0; probe == nullptr || probe->regmap != static_cast<u32>(*map); ++i)
    probe = nvdla_hw_get(i);
  BareRunner runner(device, *probe, limit);
  const std::optional<unsigned> atom = measure_atom(runner, *probe);
  const bool second = has_second_memory(device, *probe);
  device.reset();
  std::vector<const nvdla_hw*> like;
  for (u32 i = 0; i < nvdla_hw_count(); ++i)
    if (is_like(*nvdla_hw_get(i), *map, atom, second)) like.push_back(nvdla_hw_get(i));

  const std::string seen = fmt::format(
      "{}, {}, {} memory interface{}", map_text(*map),
      atom ? fmt::format("atoms of {} bytes", *atom) : "an atom that could not be measured",
      second ? "two" : "one", second ? "s" : "");
  if (named && is_like(*named, *map, atom, second)) {
    return {Result::passed(fmt::format("{}: can be {}", seen, names_of(like))), named};
  }
  if (named || like.empty()) {
    return {Result::failed({fmt::format("{}: {}", seen, names_of(like)),
                            named ? named->name : "a configuration that is known",
                            {cause::kConfiguration}})};
  }
  // Layers of one configuration may hang or compute wrong on another with the same registers.
  if (like.size() > 1) {
    return {Result::failed({fmt::format("{}: can be {}, and nobody named it", seen, names_of(like)),
                            fmt::format("',config=<configuration>' behind the device's name, with "
                                        "{}",
                                        names_of(like)),
                            {"registers do not tell these configurations apart"}})};
  }
  return {Result::passed(fmt::format("{}: it is {}", seen, like.front()->name)), like.front()};
}

Identified identify(const Device& device, std::chrono::nanoseconds limit) {
  const nvdla_hw* hw = nvdla_hw_find(std::string(device.info().configuration).c_str());
  if (hw == nullptr) {
    return {Result::failed({fmt::format("the driver calls it {}", device.info().configuration),
                            "a configuration that this program knows",
                            {"a driver that is newer than this program"}})};
  }
  DeviceRunner runner(device, limit);
  const std::optional<unsigned> atom = measure_atom(runner, *hw);
  if (atom && *atom != hw->atom) {
    return {Result::failed({fmt::format("atoms of {} bytes", *atom),
                            fmt::format("{} bytes, as of {}", hw->atom, hw->name),
                            {cause::kConfiguration}})};
  }
  return {
      Result::passed(fmt::format("the driver calls it {}; atoms of {} bytes", hw->name, hw->atom)),
      hw};
}

}  // namespace nvdla::selftest
