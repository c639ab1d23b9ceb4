// SPDX-License-Identifier: MIT
//
// `nvdla info`: which devices there are, and what one of them can do.
#include <fmt/format.h>

#include <memory>

#include "backend/kernel/node.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "model/kernels/kernels.hpp"
#include "nvdla/device.hpp"
#include "tools/cli/commands.hpp"

namespace nvdla::cli {
namespace {

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

std::string features(const nvdla_hw& hw) {
  std::string names = "int8";
  for (const auto& feature : kFeatures)
    if (hw.features & feature.bit) names += fmt::format(", {}", feature.name);
  return names;
}

// What a kernel device says that it is.
const nvdla_hw& kernel_configuration(const std::string& path) {
  const std::string name(Device::open(path).info().configuration);
  return *nvdla_hw_find(name.c_str());
}

void list_one(const std::string& device, const nvdla_hw& hw) {
  fmt::print("{:<26}{:<21}{:>5}{:>6}{:>10}  {}\n", device, hw.name, hw.atom,
             hw.atomic_c * hw.atomic_k,
             hw.cbuf_banks * hw.cbuf_entries * hw.cbuf_entry_bytes / 1024, map_name(hw.regmap));
}

// Sets of inner loops that the device model may compute with, and which of them it does.
void list_kernels() {
  std::string usable, lacking;
  for (unsigned i = 0; i < model::kKernelChoices; ++i) {
    const model::KernelChoice choice = model::kernel_choice(i);
    if (choice.usable)
      usable += fmt::format("{}{}", usable.empty() ? "" : ", ", choice.kernels->name);
    else
      lacking += fmt::format("\n  not {}: this processor lacks some of {}", choice.kernels->name,
                             choice.needs);
  }
  fmt::print("kernels of the model: {}; {} in use{}\n", usable, model::chosen_kernels().name,
             lacking);
}

void list() {
  fmt::print("{:<26}{:<21}{:>5}{:>6}{:>10}  {}\n", "device", "configuration", "atom", "MACs",
             "CBUF KiB", "register map");
  for (const std::string& path : detail::find_kernel_devices())
    list_one(path, kernel_configuration(path));
  for (u32 i = 0; i < nvdla_hw_count(); ++i) {
    const nvdla_hw& hw = *nvdla_hw_get(i);
    list_one(fmt::format("model:{}", hw.name), hw);
  }
  fmt::print("\n");
  list_kernels();
}

void show(const nvdla_hw& hw) {
  const auto row = [](const char* what, const std::string& value) {
    fmt::print("{:<24}{}\n", what, value);
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
  row("features", features(hw));
}

}  // namespace

Run add_info(CLI::App& app, CLI::App*& command) {
  auto device = std::make_shared<std::string>();
  command = app.add_subcommand("info", "List the devices, or show what one of them can do");
  command->add_option("--device,-d", *device,
                      "Show this device, such as model:nv_full or /dev/accel/accel0");
  return [device] {
    if (device->empty())
      list();
    else if (device->starts_with("/dev/"))
      show(kernel_configuration(*device));
    else
      show(model_configuration(*device));
    return kSuccess;
  };
}

}  // namespace nvdla::cli
