// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "nvdla/types/error.hpp"
#include "support/check.hpp"
#include "support/printable.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/registers/register_printer.hpp"
#include "tools/cli/registers/regs.hpp"
#include "tools/common/print.hpp"
#include "tools/common/text.hpp"
#include "tools/files/files.hpp"
#include "tools/replay/load.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::cli {
namespace {

// More than debugfs shows of any device.
constexpr std::uint64_t kMaxText = 1 << 20;

bool brings_registers(const std::string& name) {
  const auto kind = replay::kind_of(name);
  return kind == replay::Kind::kDump || kind == replay::Kind::kRecord;
}

// Prints the registers that the driver read from a hung device or, without them, those that were
// written for the layers.
void print_jobs(const std::vector<replay::Dump>& jobs, const std::string& unit,
                RegisterJson* list) {
  RegisterPrinter printer(static_cast<model::RegisterMap>(jobs.front().hw->regmap), unit, list);
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const replay::Dump& dump = jobs[job];
    for (const nvdla_dump_register& reg : dump.registers)
      printer.add(reg.offset, reg.group, reg.value);
    if (!dump.registers.empty()) continue;
    for (std::size_t i = 0; i < dump.layers.size(); ++i) {
      const nvdla_dump_layer& layer = dump.layers[i];
      const std::string name =
          dump.layer_names.empty() ? "" : detail::printable(dump.layer_names[i]);
      printer.begin({{"job", job + 1}, {"layer", i}},
                    fmt::format("job {}, {} ({})", job + 1, detail::layer_text(i, name),
                                layer_kind_name(layer.kind)));
      for (std::uint32_t write = 0; write < layer.num_writes; ++write)
        printer.add(dump.writes[layer.first_write + write].offset, std::nullopt,
                    dump.writes[layer.first_write + write].value);
    }
  }
}

// Lines "0x09044 0x0000001f SDP.D_DATA_CUBE_CHANNEL group 0".
void print_text(std::string_view text, const std::string& path, model::RegisterMap map,
                const std::string& unit, RegisterJson* list) {
  RegisterPrinter printer(map, unit, list);
  replay::Place place{path, 0};
  std::string_view line;
  while (replay::next_line(text, line)) {
    ++place.line;
    if (replay::trim(line).empty()) continue;
    const auto offset = replay::parse_u32(place, replay::next_word(line), "register offset");
    const auto value = replay::parse_u32(place, replay::next_word(line), "register value");
    replay::check_register_offset(place, offset);
    const std::string_view name = replay::next_word(line);
    if (!name.empty() && name != model::register_name(map, offset))
      throw UsageError(fmt::format(
          "{}:{}: {:#07x} is called {} there; expected {}: --device names the configuration", path,
          place.line, offset, replay::quote(name), model::register_name(map, offset)));
    std::optional<std::uint32_t> group;
    if (replay::next_word(line) == "group")
      group = replay::parse_u32(place, replay::next_word(line), "register group");
    printer.add(offset, group, value);
  }
  if (place.line == 0)
    throw UsageError(fmt::format("{}: nothing in it; expected lines of registers", path));
}

}  // namespace

bool is_registers_file(const std::string& name) {
  return brings_registers(name) || name.find('/') != std::string::npos ||
         program::is_standard_input(name);
}

void print_registers_file(const std::string& path, model::RegisterMap map, const std::string& unit,
                          RegisterJson* list) {
  if (brings_registers(path)) return print_jobs(replay::read_jobs(path), unit, list);
  const auto bytes = program::read_file(path, kMaxText);
  print_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, map, unit, list);
}

}  // namespace nvdla::cli
