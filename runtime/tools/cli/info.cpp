// SPDX-License-Identifier: MIT
//
// `nvdla info`: which devices there are, and what one of them can do.
#include "backend/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "backend/kernel/node.hpp"
#include "backend/name/device_name.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "model/simd/kernels.hpp"
#include "nvdla/device.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/input/kernel_device.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"

namespace nvdla::cli {
namespace {

using detail::DeviceName;
using Json = nlohmann::ordered_json;

constexpr struct {
  u32 bit;
  const char* name;
} kFeatures[] = {
    {NVDLA_HW_INT16, "int16"},
    {NVDLA_HW_FP16, "fp16"},
    {NVDLA_HW_WINOGRAD, "Winograd"},
    {NVDLA_HW_BATCH, "batch"},
    {NVDLA_HW_COMPRESSION, "compressed weights"},
    {NVDLA_HW_SRAM, "secondary memory"},
    {NVDLA_HW_BDMA, "BDMA"},
    {NVDLA_HW_RUBIK, "Rubik"},
    {NVDLA_HW_SDP_Y, "SDP Y operator"},
    {NVDLA_HW_LUT, "SDP LUT"},
    {NVDLA_HW_PIXEL_16, "16-bit pixels"},
};

const char* map_name(u32 map) {
  return map == NVDLA_REGMAP_NV_FULL ? "nv_full" : "second generation";
}

// In lines from column `indent` on, which break between features only.
std::string features(const nvdla_hw& hw, std::size_t indent) {
  constexpr char kJoin = '~';
  std::string names = "int8";
  for (const auto& feature : kFeatures) {
    if ((hw.features & feature.bit) == 0) continue;
    std::string name = feature.name;
    std::replace(name.begin(), name.end(), ' ', kJoin);
    names += ", " + name;
  }
  std::string lines = program::wrap(names, indent);
  std::replace(lines.begin(), lines.end(), kJoin, ' ');
  return lines;
}

// A line for a kernel device, or why there is none.
void list_kernel_device(const std::string& path) {
  try {
    program::print("{}\n", kernel_device_line(detail::describe_kernel_device(path)));
  } catch (const Error& error) {
    program::print("{}\n", error.what());
  }
}

void list_kernel_devices() {
  const auto paths = detail::find_kernel_devices();
  if (paths.empty()) {
    program::print("no kernel device: is the driver loaded, and may this user open its files?\n");
    return;
  }
  program::print("{}\n", kKernelDeviceHead);
  for (const std::string& path : paths) list_kernel_device(path);
}

// Sets of inner loops that the device model may compute with, and which of them it does.
void list_kernels() {
  std::string usable, lacking;
  for (unsigned i = 0; i < model::kKernelChoices; ++i) {
    const model::KernelChoice choice = model::kernel_choice(i);
    if (choice.usable)
      usable += fmt::format("{}{}", usable.empty() ? "" : ", ", choice.kernels->name);
    else
      lacking +=
          "\n  " + program::wrap(fmt::format("not {}: {}", choice.kernels->name,
                                             choice.refused != nullptr
                                                 ? choice.refused
                                                 : fmt::format("this processor lacks some of {}",
                                                               choice.needs)),
                                 2);
  }
  program::print("kernels of the model: {}; {} in use{}\n", usable, model::chosen_kernels().name,
                 program::Lines{lacking});
}

void list_models() {
  program::print("{:<28}{:>5}{:>8}{:>11}  {}\n", "model", "atom", "MACs", "CBUF KiB",
                 "register map");
  for (u32 i = 0; i < nvdla_hw_count(); ++i) {
    const nvdla_hw& hw = *nvdla_hw_get(i);
    program::print("{:<28}{:>5}{:>8}{:>11}  {}\n", fmt::format("model:{}", hw.name), hw.atom,
                   hw.atomic_c * hw.atomic_k,
                   hw.cbuf_banks * hw.cbuf_entries * hw.cbuf_entry_bytes / 1024,
                   map_name(hw.regmap));
  }
  program::print("\n");
  list_kernels();
}

void show(const nvdla_hw& hw) {
  const auto row = [](const char* what, const std::string& value) {
    program::print("{:<24}{}\n", what, program::Lines{value});
  };
  row("configuration", hw.name);
  row("register map", map_name(hw.regmap));
  row("memory atom", fmt::format("{} bytes", hw.atom));
  row("MAC array", fmt::format("{} channels x {} kernels (int8)", hw.atomic_c, hw.atomic_k));
  row("CBUF", fmt::format("{} banks of {} entries of {} bytes, {} KiB", hw.cbuf_banks,
                          hw.cbuf_entries, hw.cbuf_entry_bytes,
                          hw.cbuf_banks * hw.cbuf_entries * hw.cbuf_entry_bytes / 1024));
  row("weight alignment", fmt::format("{} bytes", hw.weight_align));
  row("address width", fmt::format("{} bits", hw.address_bits));
  row("memory interface", fmt::format("{} bytes a cycle", hw.bus_bytes));
  row("SDP, PDP, CDP", fmt::format("{}, {}, {} elements a cycle", hw.sdp_throughput,
                                   hw.pdp_throughput, hw.cdp_throughput));
  row("features", features(hw, 24));
  if (hw.revision != 0) row("revision", fmt::format("{}", hw.revision));
}

void show(const std::string& asked, const DeviceName& name) {
  if (name.kind == DeviceName::Kind::kModel) {
    show(*name.hw);
    return;
  }
  if (name.kind != DeviceName::Kind::kKernel) {
    const Device device = Device::open(asked, program::open_options());
    show(*detail::find_configuration(device.info()));
    return;
  }
  // Opened, so that what is wrong with it is said.
  const auto paths = detail::find_kernel_devices();
  if (name.path.empty() && paths.empty()) Device::open("kernel");
  const auto device = detail::describe_kernel_device(name.path.empty() ? paths.front() : name.path);
  program::print("{}\n{}\n\n", kKernelDeviceHead, kernel_device_line(device));
  show(*device.hw);
}

Json json_of(const nvdla_hw& hw) {
  Json features = Json::array({"int8"});
  for (const auto& feature : kFeatures)
    if ((hw.features & feature.bit) != 0) features.push_back(feature.name);
  return {{"configuration", hw.name},
          {"register_map", map_name(hw.regmap)},
          {"atom", hw.atom},
          {"atomic_c", hw.atomic_c},
          {"atomic_k", hw.atomic_k},
          {"cbuf_banks", hw.cbuf_banks},
          {"cbuf_entries", hw.cbuf_entries},
          {"cbuf_entry_bytes", hw.cbuf_entry_bytes},
          {"weight_align", hw.weight_align},
          {"address_bits", hw.address_bits},
          {"bus_bytes", hw.bus_bytes},
          {"sdp_throughput", hw.sdp_throughput},
          {"pdp_throughput", hw.pdp_throughput},
          {"cdp_throughput", hw.cdp_throughput},
          {"features", std::move(features)},
          {"revision", hw.revision == 0 ? Json() : Json(hw.revision)}};
}

Json json_of(const detail::KernelDevice& device) {
  return {{"path", device.path},
          {"configuration", device.hw->name},
          {"driver", device.driver},
          {"clock_khz", device.clock_khz == 0 ? Json() : Json(device.clock_khz)}};
}

// The members of JSON for what show() prints.
Json json_of(const std::string& asked, const DeviceName& name) {
  if (name.kind == DeviceName::Kind::kModel) return json_of(*name.hw);
  if (name.kind != DeviceName::Kind::kKernel) {
    const Device device = Device::open(asked, program::open_options());
    return json_of(*detail::find_configuration(device.info()));
  }
  const auto paths = detail::find_kernel_devices();
  if (name.path.empty() && paths.empty()) Device::open("kernel");
  const auto device = detail::describe_kernel_device(name.path.empty() ? paths.front() : name.path);
  Json json = json_of(*device.hw);
  json.update(json_of(device));
  return json;
}

// The members of JSON for what the lists print.
Json json_of_all() {
  Json devices = Json::array(), models = Json::array(), kernels = Json::array();
  for (const std::string& path : detail::find_kernel_devices()) {
    try {
      devices.push_back(json_of(detail::describe_kernel_device(path)));
    } catch (const Error& error) {
      devices.push_back({{"path", path}, {"error", error.what()}});
    }
  }
  for (u32 i = 0; i < nvdla_hw_count(); ++i) models.push_back(json_of(*nvdla_hw_get(i)));
  for (unsigned i = 0; i < model::kKernelChoices; ++i) {
    const model::KernelChoice choice = model::kernel_choice(i);
    kernels.push_back({{"name", choice.kernels->name}, {"usable", choice.usable}});
  }
  return {{"kernel_devices", std::move(devices)},
          {"models", std::move(models)},
          {"kernels", std::move(kernels)},
          {"kernels_in_use", model::chosen_kernels().name}};
}

struct InfoOptions {
  std::string device;
  std::string json;
};

}  // namespace

Run add_info(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<InfoOptions>();
  command = app.add_subcommand("info", "List the devices, or show what one of them can do");
  program::add_device_option(*command, options->device,
                             "Show this device; auto with NVDLA_DEVICE unset: "
                             "list all");
  program::add_json_option(*command, options->json);
  command->footer(
      "Examples:\n"
      "  nvdla info\n"
      "  nvdla info --json=pretty\n"
      "  nvdla info --device model:nv_small\n"
      "  nvdla info --device kernel\n"
      "  nvdla info --device sim:/tmp/nvdla\n"
      "  nvdla info --device mmio:0000:00:04.0");
  return [options] {
    const DeviceName name = detail::choose_device_name(options->device);
    if (!options->json.empty()) {
      program::print_json(
          name.kind != DeviceName::Kind::kAuto ? json_of(options->device, name) : json_of_all(),
          options->json);
      return kSuccess;
    }
    if (name.kind != DeviceName::Kind::kAuto) {
      show(options->device, name);
      return kSuccess;
    }
    list_kernel_devices();
    program::print("\n");
    list_models();
    return kSuccess;
  };
}

}  // namespace nvdla::cli
