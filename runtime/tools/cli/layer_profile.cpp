// SPDX-License-Identifier: MIT
#include "tools/cli/layer_profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backend/compiled_program.hpp"
#include "backend/name/device_name.hpp"
#include "cost/unit_cycles.hpp"
#include "loadable/read/convert.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "model/predict.hpp"
#include "tools/common/text.hpp"

namespace nvdla::cli {
namespace {

using cost::LayerCycles;
using cost::MemoryTiming;
using model::RegisterFile;

// The layer in registers, with its units enabled.
RegisterFile registers_of(const nvdla_program& program, const nvdla_layer_image& image) {
  RegisterFile registers(*program.hw);
  for (std::uint32_t i = 0; i < image.num_writes; ++i) {
    const nvdla_reg_write& write = program.writes[image.first_write + i];
    registers.write(write.offset, write.value);
  }
  registers.enable(image.units);
  return registers;
}

LayerCycles moved(const nvdla_program& program, const nvdla_layer_image& image,
                  const MemoryTiming& memory) {
  const cost::Machine machine = model::machine_of(*program.hw);
  cost::Reads reads;
  cost::Interface destination = cost::Interface::kPrimary;
  const auto interface_of = [&](const nvdla_surface& place) {
    return program.slots[place.slot].memory == NVDLA_MEMORY_SRAM ? cost::Interface::kSecondary
                                                                 : cost::Interface::kPrimary;
  };
  for (std::uint32_t i = 0; i < image.num_transfers; ++i) {
    const nvdla_transfer& transfer = program.transfers[image.first_transfer + i];
    destination = interface_of(transfer.destination);
    reads += cost::read_lines(machine, interface_of(transfer.source),
                              std::uint64_t{transfer.lines} * transfer.surfaces,
                              transfer.line_bytes / machine.atom);
  }
  return cost::bdma_cycles(memory, reads, destination);
}

// Spans of one layer, each on a unit that works on one layer at a time.
constexpr cost::Span LayerCycles::*kSpans[] = {
    &LayerCycles::data, &LayerCycles::weights, &LayerCycles::mac,   &LayerCycles::sdp,
    &LayerCycles::pdp,  &LayerCycles::cdp,     &LayerCycles::rubik, &LayerCycles::bdma};

// Each layer as early as what it waits for and its units let it.
void schedule(std::vector<LayerProfile>& layers) {
  std::uint64_t free[std::size(kSpans)] = {};
  std::uint64_t latest = 0, task = 0;  // ends of all layers so far, and of all tasks before
  const auto end = [&](std::uint32_t layer) {
    return layers[layer].start + layers[layer].cycles.total;
  };
  for (std::uint32_t at = 0; at < layers.size(); ++at) {
    LayerProfile& layer = layers[at];
    if (layer.first == at) task = latest;
    layer.start = std::max(layer.start, task);
    for (const std::uint32_t other : layer.waits) layer.start = std::max(layer.start, end(other));
    for (std::size_t i = 0; i < std::size(kSpans); ++i)
      if (!(layer.cycles.*kSpans[i]).empty()) layer.start = std::max(layer.start, free[i]);
    for (std::size_t i = 0; i < std::size(kSpans); ++i)
      if (!(layer.cycles.*kSpans[i]).empty()) free[i] = end(at);
    latest = std::max(latest, end(at));
  }
}

double utilisation(const LayerCycles& cycles) {
  return cycles.peak == 0 ? 0 : static_cast<double>(cycles.macs) / static_cast<double>(cycles.peak);
}

}  // namespace

MemoryTiming memory_of(const std::string& device) {
  return detail::choose_device_name(device).options.memory;
}

std::vector<LayerProfile> profile_layers(const Loadable& file, const nvdla_hw& hw,
                                         const MemoryTiming& memory,
                                         std::span<const nvdla_layer_stats> times) {
  const Loadable::Impl& impl = file.impl();
  std::vector<LayerProfile> layers;
  std::size_t steps = 0;
  for (const auto& submit : impl.container.submits) {
    for (const std::uint16_t task : submit) {
      if (!impl.tasks[task].of_hardware()) {
        steps += impl.tasks[task].cpu_operations();
        continue;
      }
      const auto converted = loadable::convert_task(impl.container, impl.tasks[task], hw);
      const detail::CompiledProgram compiled(detail::new_device_id(), hw, converted.desc());
      const nvdla_program& program = compiled.program();
      model::Predictor predictor(hw, memory);
      const auto first = static_cast<std::uint32_t>(layers.size());
      for (std::uint32_t i = 0; i < program.num_layers; ++i) {
        const nvdla_layer_image& image = program.layers[i];
        LayerProfile& layer = layers.emplace_back();
        layer.name = impl.step_name(steps++, converted.names[i]);
        layer.first = first;
        layer.cycles = image.kind == NVDLA_LAYER_BDMA
                           ? moved(program, image, memory)
                           : predictor.next(registers_of(program, image)).value();
        for (std::uint32_t k = 0; k < image.num_waits; ++k)
          layer.waits.push_back(first + image.waits[k]);
        if (times.empty()) continue;
        const nvdla_layer_stats& time = times[layers.size() - 1];
        layer.nanoseconds = time.end_ns - time.start_ns;
      }
    }
  }
  schedule(layers);
  return layers;
}

std::string profile_table(std::span<const LayerProfile> layers) {
  std::size_t width = 5;
  for (const LayerProfile& layer : layers) width = std::max(width, layer.name.size());
  width = std::min<std::size_t>(width, 29);
  std::string table = fmt::format("{:<{}} {:>9} {:>6}\n", "", width, "predicted", "MACs");
  table += fmt::format("{:<{}} {:>9} {:>6} {:>9} {:>9} {:>8} {:>8}\n", "layer", width, "cycles",
                       "busy", "read", "written", "bound by", "host");
  std::uint64_t end = 0, read = 0, written = 0, macs = 0, peak = 0, nanoseconds = 0;
  const auto line = [&](std::string_view name, std::uint64_t cycles, double busy, std::uint64_t in,
                        std::uint64_t out, std::string_view bound, std::uint64_t host) {
    table += fmt::format(
        "{:<{}} {:>9} {:>6} {:>9} {:>9} {:>8} {:>8}\n", program::elide(name, width), width,
        program::count_text(cycles), busy == 0 ? "-" : fmt::format("{:.1f}%", 100 * busy),
        program::bytes_text(in), program::bytes_text(out), bound, program::duration_text(host));
  };
  for (const LayerProfile& layer : layers) {
    const LayerCycles& cycles = layer.cycles;
    line(layer.name, cycles.total, utilisation(cycles), cycles.read, cycles.written,
         bound_name(cycles.bound), layer.nanoseconds);
    end = std::max(end, layer.start + cycles.total);
    read += cycles.read;
    written += cycles.written;
    macs += cycles.macs;
    peak = std::max(peak, cycles.total == 0 ? 0 : cycles.peak / cycles.total);
    nanoseconds += layer.nanoseconds;
  }
  const double busy =
      peak == 0 || end == 0
          ? 0
          : static_cast<double>(macs) / (static_cast<double>(peak) * static_cast<double>(end));
  line("all", end, busy, read, written, "", nanoseconds);
  return table;
}

nlohmann::ordered_json profile_json(std::span<const LayerProfile> layers) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const LayerProfile& layer : layers) {
    json.push_back({{"name", layer.name},
                    {"start_cycle", layer.start},
                    {"cycles", layer.cycles.total},
                    {"macs", layer.cycles.macs},
                    {"mac_utilisation", utilisation(layer.cycles)},
                    {"bytes_read", layer.cycles.read},
                    {"bytes_written", layer.cycles.written},
                    {"bound_by", bound_name(layer.cycles.bound)},
                    {"nanoseconds", layer.nanoseconds}});
  }
  return json;
}

}  // namespace nvdla::cli
