// SPDX-License-Identifier: MIT
#include "tools/profile/layer_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backend/compiled_program.hpp"
#include "backend/name/device_name.hpp"
#include "cost/sequence_cycles.hpp"
#include "cost/unit_cycles.hpp"
#include "loadable/read/convert.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "model/predict.hpp"
#include "tools/common/text.hpp"

namespace nvdla::program {
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

cost::LayerGeometry copy(const nvdla_program& program, const nvdla_layer_image& image) {
  const cost::Machine machine = model::machine_of(*program.hw);
  cost::LayerGeometry to{.kind = cost::LayerGeometry::Kind::kBdma};
  const auto interface_of = [&](const nvdla_surface& place) {
    return program.slots[place.slot].memory == NVDLA_MEMORY_SRAM ? cost::Interface::kSecondary
                                                                 : cost::Interface::kPrimary;
  };
  for (std::uint32_t i = 0; i < image.num_transfers; ++i) {
    const nvdla_transfer& transfer = program.transfers[image.first_transfer + i];
    to.moved_to = interface_of(transfer.destination);
    to.moved += cost::read_lines(machine, interface_of(transfer.source),
                                 std::uint64_t{transfer.lines} * transfer.surfaces,
                                 transfer.line_bytes / machine.atom);
  }
  return to;
}

std::vector<cost::SequenceLayer> sequence_of(const nvdla_program& program) {
  std::vector<cost::SequenceLayer> sequence;
  model::LayerReader reader;
  for (std::uint32_t i = 0; i < program.num_layers; ++i) {
    const nvdla_layer_image& image = program.layers[i];
    cost::SequenceLayer& next = sequence.emplace_back();
    next.layer = image.kind == NVDLA_LAYER_BDMA ? copy(program, image)
                                                : reader.next(registers_of(program, image)).value();
    next.waits.assign(image.waits, image.waits + image.num_waits);
  }
  return sequence;
}

// Spans of one layer.
constexpr cost::Span LayerCycles::*kSpans[] = {
    &LayerCycles::data, &LayerCycles::weights, &LayerCycles::mac,   &LayerCycles::sdp,
    &LayerCycles::pdp,  &LayerCycles::cdp,     &LayerCycles::rubik, &LayerCycles::bdma};

LayerCycles later(LayerCycles cycles, std::uint64_t by) {
  cycles.total += by;
  for (const auto span : kSpans) {
    if ((cycles.*span).empty()) continue;
    (cycles.*span).begin += by;
    (cycles.*span).end += by;
  }
  return cycles;
}

std::string form_of(const nvdla_layer& layer) {
  std::string form;
  switch (layer.kind) {
    case NVDLA_LAYER_CONV_SDP:
    case NVDLA_LAYER_CONV_SDP_PDP:
      form = layer.conv.mode == NVDLA_CONV_IMAGE      ? "convolution of pixels"
             : layer.conv.mode == NVDLA_CONV_WINOGRAD ? "Winograd convolution"
                                                      : "direct convolution";
      if ((layer.conv.flags & NVDLA_CONV_COMPRESSED) != 0) form += ", compressed";
      if (layer.conv.batch > 1) form += fmt::format(" of {} cubes", layer.conv.batch);
      if (layer.kind == NVDLA_LAYER_CONV_SDP_PDP) form += " with pooling";
      return form;
    case NVDLA_LAYER_SDP_PDP:
      return "SDP with pooling";
    case NVDLA_LAYER_PDP:
      return "pooling";
    case NVDLA_LAYER_CDP:
      return "normalisation";
    case NVDLA_LAYER_RUBIK:
      return "reshape";
    case NVDLA_LAYER_BDMA:
      return "copy";
    default:
      return "SDP";
  }
}

double utilisation(const LayerCycles& cycles) {
  return cycles.peak == 0 ? 0 : static_cast<double>(cycles.macs) / static_cast<double>(cycles.peak);
}

}  // namespace

MemoryTiming memory_of(const std::string& device) {
  return detail::choose_device_name(device).options.memory;
}

std::uint64_t LayerProfile::start() const noexcept {
  std::uint64_t begin = cycles.total;
  for (const auto span : kSpans)
    if (!(cycles.*span).empty()) begin = std::min(begin, (cycles.*span).begin);
  return begin;
}

std::vector<cost::SequenceLayer> predicted_layers(const ProgramDesc& desc, const nvdla_hw& hw) {
  return sequence_of(detail::CompiledProgram(detail::new_device_id(), hw, desc).program());
}

std::vector<LayerProfile> profile_layers(const Loadable& file, const nvdla_hw& hw,
                                         const MemoryTiming& memory,
                                         std::span<const nvdla_layer_stats> times) {
  const Loadable::Impl& impl = file.impl();
  const cost::Machine machine = model::machine_of(hw);
  // The way around the fault of the clock gate enables a convolution when the one before has ended.
  const cost::EngineTiming engine = {.convolutions_ahead =
                                         (hw.features & NVDLA_HW_WEIGHT_GATING) == 0};
  const char* const beyond = cost::beyond_measured(machine, memory);
  std::vector<LayerProfile> layers;
  std::size_t steps = 0;
  std::uint64_t begin = 0;  // of a task: the ends of all before
  for (const auto& submit : impl.container.submits) {
    for (const std::uint16_t task : submit) {
      if (!impl.tasks[task].of_hardware()) {
        steps += impl.tasks[task].cpu_operations();
        continue;
      }
      const auto converted = loadable::convert_task(impl.container, impl.tasks[task], hw);
      const auto sequence = predicted_layers(converted.desc(), hw);
      const auto first = static_cast<std::uint32_t>(layers.size());
      const auto predicted = cost::sequence_cycles(machine, memory, sequence, engine);
      for (std::uint32_t i = 0; i < sequence.size(); ++i) {
        LayerProfile& layer = layers.emplace_back();
        layer.name = impl.step_name(steps++, converted.names[i]);
        layer.form = form_of(converted.desc().layers[i]);
        layer.first = first;
        layer.alone = cost::layer_cycles(machine, memory, sequence[i].layer);
        layer.cycles = later(predicted.layers[i], begin);
        const char* const own = cost::beyond_measured(sequence[i].layer);
        if (own != nullptr || beyond != nullptr)
          layer.beyond_measured = own != nullptr ? own : beyond;
        if (times.empty()) continue;
        const nvdla_layer_stats& time = times[layers.size() - 1];
        layer.nanoseconds = time.end_ns - time.start_ns;
      }
      begin += predicted.total;
    }
  }
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
  std::map<std::string, std::uint64_t> beyond;  // layers of each reason
  const auto line = [&](std::string_view name, std::uint64_t cycles, double busy, std::uint64_t in,
                        std::uint64_t out, std::string_view bound, std::uint64_t host,
                        bool marked) {
    table += fmt::format("{:<{}} {:>9} {:>6} {:>9} {:>9} {:>8} {:>8}\n", elide(name, width), width,
                         fmt::format("{}{}", marked ? "~" : "", count_text(cycles)),
                         busy == 0 ? "-" : fmt::format("{:.1f}%", 100 * busy), bytes_text(in),
                         bytes_text(out), bound, duration_text(host));
  };
  for (const LayerProfile& layer : layers) {
    const LayerCycles& cycles = layer.alone;
    line(layer.name, cycles.total, utilisation(cycles), cycles.read, cycles.written,
         bound_name(cycles.bound), layer.nanoseconds, !layer.beyond_measured.empty());
    if (!layer.beyond_measured.empty()) ++beyond[layer.beyond_measured];
    end = std::max(end, layer.cycles.total);
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
  line("all", end, busy, read, written, "", nanoseconds, !beyond.empty());
  for (const auto& [reason, count] : beyond)
    table += fmt::format("~ beyond what was measured on the logic: {} ({} of {} layers)\n", reason,
                         count, layers.size());
  return table;
}

nlohmann::ordered_json profile_json(std::span<const LayerProfile> layers) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const LayerProfile& layer : layers) {
    json.push_back({{"name", layer.name},
                    {"start_cycle", layer.start()},
                    {"end_cycle", layer.cycles.total},
                    {"cycles", layer.alone.total},
                    {"macs", layer.alone.macs},
                    {"mac_utilisation", utilisation(layer.alone)},
                    {"bytes_read", layer.alone.read},
                    {"bytes_written", layer.alone.written},
                    {"bound_by", bound_name(layer.alone.bound)},
                    {"beyond_measured", layer.beyond_measured.empty()
                                            ? nlohmann::ordered_json()
                                            : nlohmann::ordered_json(layer.beyond_measured)},
                    {"nanoseconds", layer.nanoseconds}});
  }
  return json;
}

}  // namespace nvdla::program
