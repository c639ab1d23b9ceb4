// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "tools/cli/input/commands.hpp"
#include "tools/cli/registers/regs.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::cli {

std::uint32_t register_address_of(model::RegisterMap map, const std::string& text) {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0]))) {
    const auto offset = replay::parse_u32({"regs"}, text, "register offset");
    replay::check_register_offset({"regs"}, offset);
    return offset;
  }
  std::string_view name = text;
  const model::RegisterInfo* info = model::find_register(name);
  if (!info && name.size() > 8 && name.starts_with("NVDLA_") && name.ends_with("_0"))
    info = model::find_register(name.substr(6, name.size() - 8));
  if (!info)
    throw UsageError(
        fmt::format("unknown register '{}'; expected UNIT.REGISTER such as "
                    "CDMA.D_BANK, or a byte offset such as 0x3010",
                    text));
  const auto address = model::register_address(map, *info);
  if (!address)
    throw UsageError(
        fmt::format("the register map of this device has no {}; expected a register "
                    "that `nvdla regs --device DEVICE` lists",
                    text));
  return *address;
}

}  // namespace nvdla::cli
