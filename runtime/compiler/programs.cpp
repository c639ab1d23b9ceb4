// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "compiler/compile.hpp"
#include "compiler/lower/constant_pool.hpp"
#include "compiler/lower/user_fields.hpp"
#include "device/program_accesses.hpp"
#include "host_ops/cube.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "packing/cbuf.hpp"
#include "support/handles.hpp"
#include "support/rules.hpp"

namespace nvdla::detail {
namespace {

// `Numbers` maps numbers of slots or tables of the network to those that a program has of them.
class Numbers {
 public:
  void add(std::uint32_t number) { of_program_.emplace(number, 0); }
  std::vector<std::uint32_t> all() {
    std::vector<std::uint32_t> numbers;
    for (auto& [number, own] : of_program_) {
      own = static_cast<std::uint32_t>(numbers.size());
      numbers.push_back(number);
    }
    return numbers;
  }
  std::uint32_t of(std::uint32_t number) const { return of_program_.at(number); }

 private:
  std::map<std::uint32_t, std::uint32_t> of_program_;
};

// Keeps only waits for layers of the same program.
void keep_own_waits(nvdla_layer& layer, std::uint32_t first) {
  std::uint32_t count = 0;
  for (std::uint32_t w = 0; w < layer.num_waits; ++w)
    if (layer.waits[w] >= first) layer.waits[count++] = layer.waits[w] - first;
  std::fill(layer.waits + count, layer.waits + layer.num_waits, 0);
  layer.num_waits = count;
}

LayerOutput output_at(const CpuPlace& place) {
  return {"cpu", place.surface.slot, place.surface.offset, place.desc};
}

// `ProgramMaker` creates the programs of a compiled network.
class ProgramMaker {
 public:
  ProgramMaker(const Graph& graph, const Schedule& schedule, const Schedule& placed,
               CompiledNetwork::Impl& compiled, bool statistics)
      : graph_(graph),
        schedule_(schedule),
        placed_(placed),
        compiled_(compiled),
        info_(compiled.device.info()),
        statistics_(statistics) {}

  void run();

 private:
  ProgramPart program_part(const Schedule::Segment& segment) const;
  void add_control(std::span<nvdla_layer* const> compressed, ProgramPart& part) const;
  CpuPart cpu_part(std::uint32_t layer) const;
  void create_program(ProgramPart& part) const;
  // Returns what the compiler of programs refuses in the words of the graph.
  Error named(const Error& error, const ProgramPart& part) const;

  const Graph& graph_;
  const Schedule& schedule_;
  const Schedule& placed_;
  CompiledNetwork::Impl& compiled_;
  const DeviceInfo& info_;
  bool statistics_;
};

ProgramPart ProgramMaker::program_part(const Schedule::Segment& segment) const {
  ProgramPart part;
  part.first_layer = segment.first;
  const auto first = placed_.layers.begin() + segment.first;
  part.layers.assign(first, first + (segment.second - segment.first));
  std::vector<std::string> names;
  std::vector<nvdla_layer*> compressed;
  Numbers slots, luts;
  for (std::uint32_t i = segment.first; i < segment.second; ++i) {
    for_each_use(placed_, i, [&](const auto& place, bool) { slots.add(place.slot); });
    if (placed_.layers[i].lut != 0) luts.add(placed_.layers[i].lut - 1);
  }
  part.bound = slots.all();
  for (const std::uint32_t slot : part.bound) {
    part.slots.push_back(compiled_.slots[slot]);
    part.slot_names.push_back(compiled_.slot_names[slot]);
  }
  for (const std::uint32_t lut : luts.all()) part.luts.push_back(graph_.luts[lut]);
  for (nvdla_layer& layer : part.layers) {
    keep_own_waits(layer, segment.first);
    if (layer.kind == NVDLA_LAYER_BDMA) {
      const auto from = placed_.transfers.begin() + layer.bdma.first_transfer;
      layer.bdma.first_transfer = static_cast<std::uint32_t>(part.transfers.size());
      part.transfers.insert(part.transfers.end(), from, from + layer.bdma.num_transfers);
    }
    for_each_place(layer, part.transfers,
                   [&](auto& place, bool) { place.slot = slots.of(place.slot); });
    if (layer.lut != 0) layer.lut = luts.of(layer.lut - 1) + 1;
    if ((layer.conv.flags & NVDLA_CONV_COMPRESSED) != 0) compressed.push_back(&layer);
    names.push_back(full_name(schedule_.operations[segment.first + names.size()]));
  }
  if (!compressed.empty()) add_control(compressed, part);
  part.layer_names = std::make_shared<const std::vector<std::string>>(std::move(names));
  return part;
}

// Adds the tables of compressed weights to a program, in the slot that comes last. Bands share
// theirs.
void ProgramMaker::add_control(std::span<nvdla_layer* const> compressed, ProgramPart& part) const {
  ConstantPool control(static_cast<std::uint32_t>(part.slots.size()));
  std::map<std::uint64_t, std::uint64_t> moved;
  const auto bring = [&](nvdla_span& table) {
    const auto from =
        std::span(schedule_.control).subspan(static_cast<std::size_t>(table.offset), table.bytes);
    const auto [to, added] = moved.emplace(table.offset, 0);
    if (added) {
      to->second = control.add(table.bytes);
      std::copy(from.begin(), from.end(), control.at(to->second).begin());
    }
    table.slot = control.slot();
    table.offset = to->second;
  };
  for (nvdla_layer* layer : compressed) {
    bring(layer->conv.wgs);
    bring(layer->conv.wmb);
  }
  part.slots.push_back(make_slot(info_, control.bytes().size(), NVDLA_SLOT_CONTROL));
  part.slot_names.emplace_back("the tables of compressed weights");
  part.bound.push_back(ProgramPart::kOwn);
  part.control = std::move(control).take();
}

CpuPart ProgramMaker::cpu_part(std::uint32_t layer) const {
  const CpuWork& work = placed_.cpu.at(layer);
  CpuPart part;
  part.name = full_name(schedule_.operations[layer]);
  for (const CpuPlace& source : work.sources) part.sources.push_back(source.surface.slot);
  part.destination = work.destination.surface.slot;
  part.output = output_at(work.destination);
  for (const CpuPlace& source : work.sources) part.inputs.push_back(output_at(source));
  part.layer = layer;
  part.operation = std::make_shared<const cpu::Operation>(work.node.operation);
  part.run = [work](std::span<const CpuPart::Bytes> sources, std::span<std::byte> destination) {
    std::vector<cpu::Input> from;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const CpuPlace& place = work.sources[i];
      from.push_back(
          {place.desc, sources[i].subspan(static_cast<std::size_t>(place.surface.offset))});
    }
    const auto offset = static_cast<std::size_t>(work.destination.surface.offset);
    cpu::run(work.node.operation, from, {work.destination.desc, destination.subspan(offset)});
  };
  return part;
}

void ProgramMaker::create_program(ProgramPart& part) const {
  for (;;) {
    try {
      part.program = compiled_.device.create_program(part.desc(statistics_));
      Handles::impl(part.program)->name_layers(part.layer_names);
      return;
    } catch (const Error& error) {
      if (error.rule() == NVDLA_RULE_NONE) throw;
      // Only the compiler knows what layers take, and perhaps only the driver knows the clock.
      if (error.rule() != NVDLA_RULE_TIED_CYCLES ||
          !fetch_again(part.layers, error.detail().index)) {
        throw named(error, part);
      }
    }
  }
}

void ProgramMaker::run() {
  for (const Schedule::Segment& segment : placed_.segments()) {
    if (placed_.cpu.contains(segment.first)) {
      compiled_.parts.emplace_back(cpu_part(segment.first));
      continue;
    }
    ProgramPart part = program_part(segment);
    create_program(part);
    for (std::uint32_t i = segment.first; i < segment.second; ++i)
      compiled_.layers[i].cycles = part.program.cycles(i - segment.first);
    compiled_.parts.emplace_back(std::move(part));
  }
}

Error ProgramMaker::named(const Error& error, const ProgramPart& part) const {
  nvdla_error detail = error.detail();
  RuleNames names;
  names.configuration = info_.configuration;
  names.slots = part.slot_names;
  std::string object = "the network";
  // Tables and transfers are called after the first layer that uses them.
  for (std::uint32_t i = 0; i < part.layers.size(); ++i) {
    const nvdla_layer& layer = part.layers[i];
    const std::string& name = (*part.layer_names)[i];
    if (detail.object == NVDLA_OBJECT_LAYER && detail.index == i) names.layer = name;
    if (detail.object == NVDLA_OBJECT_LUT && layer.lut == detail.index + 1) {
      object = "the look-up table of " + layer_text(part.first_layer + i, name);
      break;
    }
    if (detail.object == NVDLA_OBJECT_TRANSFER && layer.kind == NVDLA_LAYER_BDMA &&
        detail.index - layer.bdma.first_transfer < layer.bdma.num_transfers) {
      object = layer_text(part.first_layer + i, name);
      break;
    }
  }
  if (detail.object == NVDLA_OBJECT_LAYER) {
    names.field = user_field(detail.field);
    detail.index += part.first_layer;
  }
  names.object = object;
  return Error(static_cast<ErrorCode>(error.code().value()), rule_text(detail, names), detail);
}

}  // namespace

void create_programs(const Graph& graph, const Schedule& schedule, const Schedule& placed,
                     CompiledNetwork::Impl& compiled, bool statistics) {
  ProgramMaker(graph, schedule, placed, compiled, statistics).run();
}

std::vector<ProgramAccess> accesses_of(const CompiledNetwork::Impl& compiled,
                                       const Schedule& placed) {
  std::vector<ProgramAccess> all;
  for (const ChainPart& part : compiled.parts) {
    const auto* program = std::get_if<ProgramPart>(&part);
    if (program == nullptr) continue;
    for (ProgramAccess access : program_accesses(compiled.device.info(), program->desc())) {
      access.layer += program->first_layer;
      access.slot = program->bound[access.slot];
      all.push_back(access);
    }
  }
  for (const auto& [layer, work] : placed.cpu) {
    const auto touch = [&, at = layer](const CpuPlace& place) {
      const std::uint64_t begin = place.surface.offset;
      all.push_back({at, place.surface.slot, begin, begin + tensor_bytes(place.desc)});
    };
    std::for_each(work.sources.begin(), work.sources.end(), touch);
    touch(work.destination);
  }
  return all;
}

}  // namespace nvdla::detail
