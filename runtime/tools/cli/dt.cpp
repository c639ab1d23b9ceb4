// SPDX-License-Identifier: MIT
//
// `nvdla dt`: the device in a device tree.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "backend/name/device_name.hpp"
#include "support/memory_window.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/numbers.hpp"
#include "tools/common/print.hpp"
#include "tools/common/text.hpp"
#include "tools/dt/check.hpp"
#include "tools/dt/node.hpp"
#include "tools/files/files.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::cli {
namespace {

constexpr const char* kRunningTree = "/proc/device-tree";

struct DtNodeOptions {
  std::string configuration = "nv_small";
  std::string address, interrupt, sram, memory_region;
  std::vector<std::string> clocks;
  std::string reset;
  dt::NodeRequest request;
  std::string overlay;
};

struct DtCheckOptions {
  std::string tree = kRunningTree;
  std::string json;
};

std::uint64_t number_of_option(const char* option, std::string_view text) {
  return replay::parse_number({option}, text, "number", ~std::uint64_t{0});
}

// "0 112 4", or with commas.
std::vector<std::uint32_t> cells_of_option(const char* option, std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::vector<std::uint32_t> cells;
  std::string_view rest = text;
  for (std::string_view word; !(word = replay::next_word(rest)).empty();)
    cells.push_back(replay::parse_u32({option}, word, "cell"));
  return cells;
}

// Sizes are written as everywhere: "512K@0x20000000".
dt::Region region_of_option(const char* option, const std::string& text) {
  const auto window = detail::parse_window(text);
  if (!window)
    throw UsageError(
        fmt::format("{} {}: expected SIZE@ADDRESS, such as 512K@0x20000000", option, text));
  return {window->address, window->size};
}

// "crg 3": a label and its numbers.
dt::Reference reference_of_option(const char* option, std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::string_view rest = text;
  std::string label(replay::next_word(rest));
  return {std::move(label), cells_of_option(option, std::string(rest))};
}

int print_node(const DtNodeOptions& options) {
  dt::NodeRequest request = options.request;
  request.hw = nvdla_hw_find(options.configuration.c_str());
  if (request.hw == nullptr) {
    throw UsageError(fmt::format("--config: no configuration is called '{}'; there are {}",
                                 options.configuration, detail::configuration_names()));
  }
  request.registers.address = number_of_option("--address", options.address);
  request.interrupt = cells_of_option("--interrupt", options.interrupt);
  if (!options.sram.empty()) request.sram = region_of_option("--sram", options.sram);
  if (!options.memory_region.empty())
    request.memory_region = region_of_option("--memory-region", options.memory_region);
  for (const std::string& clock : options.clocks)
    request.clocks.push_back(reference_of_option("--clock", clock));
  if (!options.reset.empty())
    request.resets.push_back(reference_of_option("--reset", options.reset));

  if (options.overlay.empty()) {
    program::print("{}", program::Lines{dt::node_source(request)});
  } else {
    const std::string blob = dt::node_overlay(request);
    program::write_file(options.overlay, std::as_bytes(std::span(blob)));
  }
  return kSuccess;
}

std::string line_of(const dt::Finding& finding) {
  const std::string head = fmt::format("{} ", finding.note ? "note " : "wrong");
  return fmt::format(
      "{}{}\n", head,
      program::wrap(fmt::format("{}: {}: {}", finding.node, finding.property, finding.text),
                    head.size()));
}

std::string line_of(const dt::FoundDevice& device) {
  std::string text = fmt::format("{}: {}", device.node, device.configuration);
  if (!device.place.empty()) text += fmt::format(", registers at {}", device.place);
  if (!device.interrupt.empty()) text += fmt::format(", interrupt {}", device.interrupt);
  return fmt::format("found {}\n", program::wrap(text, 6));
}

void print_report(const dt::CheckReport& report, const std::string& name) {
  for (const dt::FoundDevice& device : report.devices)
    program::print("{}", program::Lines{line_of(device)});
  for (const dt::Finding& finding : report.findings)
    program::print("{}", program::Lines{line_of(finding)});
  if (report.devices.empty()) {
    program::print("{}\n", program::Lines{program::wrap(
                               fmt::format("{}: no node is an NVDLA; expected one with the "
                                           "compatible string of its configuration, such as "
                                           "{}",
                                           name, dt::compatible_names().back()),
                               0)});
    return;
  }
  const auto wrong = std::count_if(report.findings.begin(), report.findings.end(),
                                   [](const dt::Finding& finding) { return !finding.note; });
  program::print("{}: {} device{}, {} wrong\n", name, report.devices.size(),
                 report.devices.size() == 1 ? "" : "s", wrong);
}

void print_report_json(const dt::CheckReport& report, const DtCheckOptions& options) {
  using Json = nlohmann::ordered_json;
  Json devices = Json::array(), findings = Json::array();
  for (const dt::FoundDevice& device : report.devices)
    devices.push_back({{"node", device.node},
                       {"configuration", device.configuration},
                       {"address", device.place},
                       {"interrupt", device.interrupt}});
  for (const dt::Finding& finding : report.findings)
    findings.push_back({{"node", finding.node},
                        {"property", finding.property},
                        {"wrong", !finding.note},
                        {"text", finding.text}});
  program::print_json(Json{{"tree", options.tree},
                           {"passed", report.passed()},
                           {"devices", std::move(devices)},
                           {"findings", std::move(findings)}},
                      options.json);
}

int check_tree(const DtCheckOptions& options) {
  if (options.tree == kRunningTree && !std::filesystem::exists(kRunningTree)) {
    throw UsageError(fmt::format(
        "{}: this system was not started with a device tree; expected a blob or a folder to check",
        kRunningTree));
  }
  const dt::Tree tree = dt::read_tree(options.tree);
  const dt::CheckReport report = dt::check(tree);
  if (options.json.empty())
    print_report(report, options.tree);
  else
    print_report_json(report, options);
  return report.passed() ? kSuccess : kDifferent;
}

Run add_node(CLI::App& dt_command) {
  auto options = std::make_shared<DtNodeOptions>();
  CLI::App* const command = dt_command.add_subcommand(
      "node", "Print the node of a device, as source for the tree of a board");
  command->add_option("--address", options->address, "Where processors have its registers")
      ->type_name("ADDRESS")
      ->required();
  command
      ->add_option("--interrupt", options->interrupt,
                   "Its line, in numbers as the interrupt controller takes them: \"0 112 4\" of a "
                   "GIC, 7 of a PLIC")
      ->type_name("NUMBERS")
      ->required();
  command->add_option("--config", options->configuration, "Its configuration")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--soc", options->request.system,
                   "Compatible string of the system on chip that has it, before the generic one")
      ->type_name("VENDOR,NAME");
  command
      ->add_option("--interrupt-parent", options->request.interrupt_parent,
                   "Label of the interrupt controller, where the bus does not say it")
      ->type_name("LABEL");
  command
      ->add_option("--clock-rate", options->request.clock_khz,
                   "How fast its core is, such as 600MHz, where there is no clock to ask")
      ->type_name("RATE")
      ->transform(program::rate_in("kHz", 1, 0xffffffffU / 1000));
  command
      ->add_option("--clock", options->clocks,
                   "Label of a clock and its numbers, \"crg 3\": of the core; again: of the "
                   "configuration bus")
      ->type_name("LABEL")
      ->allow_extra_args(false);
  command->add_option("--reset", options->reset, "Label of its reset and its numbers, \"crg 17\"")
      ->type_name("LABEL");
  command
      ->add_option("--sram", options->sram,
                   "On-chip memory behind its second interface; adds a node for it")
      ->type_name("SIZE@ADDRESS");
  command
      ->add_option("--memory-region", options->memory_region,
                   "Memory for its buffers alone; adds a node that reserves it")
      ->type_name("SIZE@ADDRESS");
  command->add_flag("--coherent", options->request.coherent, "It sees the processors' caches");
  command->add_option("--bus", options->request.bus, "Path of the node that it goes below")
      ->type_name("NODE")
      ->capture_default_str();
  command
      ->add_option("--address-cells", options->request.address_cells,
                   "#address-cells of that node and of the root")
      ->type_name("NUMBER")
      ->check(program::whole_number(1, 2))
      ->capture_default_str();
  command->add_option("--size-cells", options->request.size_cells, "#size-cells of these")
      ->type_name("NUMBER")
      ->check(program::whole_number(1, 2))
      ->capture_default_str();
  command
      ->add_option("--overlay", options->overlay,
                   "Write an overlay instead, a blob that fdtoverlay or a boot loader applies; - "
                   "for standard output")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  nvdla dt node --address 0xc000000 --interrupt \"0 112 4\" --clock-rate 600MHz\n"
      "  nvdla dt node --config nv_full --address 0x10040000 --interrupt 7 --bus /soc\n"
      "    --sram 512K@0x20000000 --memory-region 128M@0xb0000000\n"
      "  nvdla dt node --address 0xc000000 --interrupt \"0 112 4\" --overlay npu.dtbo");
  return [command, options] { return command->parsed() ? print_node(*options) : -1; };
}

Run add_check(CLI::App& dt_command) {
  auto options = std::make_shared<DtCheckOptions>();
  CLI::App* const command = dt_command.add_subcommand(
      "check", "Check what a device tree says of NVDLAs: what the driver reads, and the binding");
  command
      ->add_option("TREE", options->tree,
                   "A blob (.dtb, /sys/firmware/fdt), - for standard input, or a folder as "
                   "/proc/device-tree; without it, that of the running system")
      ->type_name("FILE");
  program::add_json_option(*command, options->json);
  command->footer(
      "Prints a line for each device, and one for each thing that is wrong (exit\n"
      "status 1) or could be better (a note).\n"
      "\n"
      "Examples:\n"
      "  nvdla dt check board.dtb\n"
      "  nvdla dt check");
  return [command, options] { return command->parsed() ? check_tree(*options) : -1; };
}

}  // namespace

Run add_dt(CLI::App& app, CLI::App*& command) {
  command = app.add_subcommand("dt", "The device in a device tree");
  command->require_subcommand(1);
  const Run node = add_node(*command), check = add_check(*command);
  command->footer(
      "Examples:\n"
      "  nvdla dt node --address 0xc000000 --interrupt \"0 112 4\"\n"
      "  nvdla dt check board.dtb");
  return [node, check] {
    const int status = node();
    return status < 0 ? check() : status;
  };
}

}  // namespace nvdla::cli
