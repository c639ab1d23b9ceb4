// SPDX-License-Identifier: MIT
//
// The road from a network to a compiled one: passes over the graph, lowering, passes over the
// schedule, memory, programs and constants.
#include "compiler/compile.hpp"

#include <algorithm>
#include <utility>

#include "compiler/lower/lowering.hpp"
#include "compiler/passes/memory_plan.hpp"
#include "compiler/passes/pipeline.hpp"
#include "compiler/passes/wishes.hpp"
#include "compiler/programs.hpp"
#include "compiler/user_network.hpp"
#include "device/build_steps.hpp"
#include "device/check_memory.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace detail {
namespace {

void check_has_layers(const Graph& graph) {
  if (graph.layers.empty()) refuse_argument("the network has no layer");
  const bool silent = std::any_of(graph.layers.begin(), graph.layers.end(),
                                  [](const LayerNode& l) { return l.output == kNoTensor; });
  if (graph.outputs.empty() && !silent) refuse_argument("the network has no output");
}

Schedule lower_graph(const Graph& graph, const DeviceInfo& info, BuildSteps& steps) {
  Lowering lowering(graph, info);
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    steps.begin(layer_text(i, graph.layers[i].name));
    lowering.lower_layer(i);
  }
  return std::move(lowering).take();
}

void set_slots(const MemoryPlan& plan, const Schedule& schedule, CompiledNetwork::Impl& compiled) {
  compiled.slots.clear();
  compiled.slot_names.clear();
  for (const MemoryPlan::Slot& planned : plan.slots) {
    std::string name = schedule.allocations[planned.live_ranges.front().allocation].name;
    if (planned.live_ranges.size() > 1)
      name += fmt::format(" and {} more", planned.live_ranges.size() - 1);
    at_place(name, std::nullopt, [&] {
      check_memory(compiled.device.info(), static_cast<Memory>(planned.slot.memory));
    });
    compiled.slots.push_back(planned.slot);
    compiled.slot_names.push_back(std::move(name));
  }
  compiled.memory = memory_use(plan, schedule.allocations);
}

// `Placed` is where a plan puts what the schedule names.
struct Placed {
  MemoryPlan plan;
  Schedule schedule;
};

// Cuts the schedule into programs; only a plan tells how many slots one has.
Placed place(Schedule& schedule, const BuildOptions& options, const ProgramLimits& limits,
             CompiledNetwork::Impl& compiled) {
  if (options.sram_bytes != 0) check_memory(compiled.device.info(), Memory::kSram);
  cut_programs(schedule, limits);
  for (;;) {
    MemoryPlan plan =
        plan_memory(schedule, {.share = options.share_memory, .sram = options.sram_bytes});
    Schedule placed = assign_slots(plan, schedule);
    set_slots(plan, schedule, compiled);
    if (!cut_for_slots(schedule, placed, limits)) return {std::move(plan), std::move(placed)};
  }
}

void set_layers(const Schedule& schedule, CompiledNetwork::Impl& compiled) {
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    const Operation& operation = schedule.operations[i];
    compiled.layers.push_back(
        {full_name(operation), operation.macs, 0, schedule.cpu.contains(i), operation.origin});
  }
}

void allocate_constants(const MemoryPlan& plan, const Schedule& schedule,
                        CompiledNetwork::Impl& compiled) {
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    const MemoryPlan::Slot& planned = plan.slots[i];
    Buffer& buffer = compiled.constants.emplace_back();
    if (!holds_constants(planned, schedule.allocations)) continue;
    at_place(compiled.slot_names[i], std::nullopt, [&] {
      buffer =
          compiled.device.allocate(planned.slot.size, static_cast<Memory>(planned.slot.memory));
    });
    const Map map = buffer.map(MapMode::kWrite);
    for (const MemoryPlan::LiveRange& range : planned.live_ranges) {
      const auto& contents = schedule.allocations[range.allocation].contents;
      std::copy(contents.begin(), contents.end(),
                map.data() + plan.places[range.allocation].offset);
    }
  }
}

CompiledNetwork::Impl::Port make_port(const Graph& graph, const DeviceInfo& info,
                                      const IoTensor& io, const MemoryPlan& plan) {
  const TensorNode& tensor = graph.tensors[io.tensor];
  CompiledNetwork::Impl::Port port;
  port.name = io.name;
  port.desc = tensor.desc;
  port.quantization = io.quantization;
  port.slot = plan.places[io.tensor].slot;
  if (tensor.image) port.image = resolve(info, *tensor.image);
  if (tensor.folded_for) port.folded = *tensor.folded_for;
  return port;
}

void compile_into(const Graph& from, const BuildOptions& options, const ProgramLimits& limits,
                  CompiledNetwork::Impl& compiled) {
  DeviceInfo info = compiled.device.info();
  if (options.memory) info.memory = *options.memory;
  check_has_layers(from);
  check_disabled_passes(options);
  const Graph graph = run_passes(with_choices(from, options), info, options, compiled.passes);
  BuildSteps steps(options, graph.layers.size() + 3);
  Schedule schedule =
      run_passes(lower_graph(graph, info, steps), graph, info, options, compiled.passes);
  set_layers(schedule, compiled);
  steps.begin("memory");
  const Placed placed = place(schedule, options, limits, compiled);
  steps.begin("programs");
  create_programs(graph, schedule, placed.schedule, compiled, options.statistics);
  check_plan(placed.plan, schedule, accesses_of(compiled, placed.schedule));
  steps.begin("constants");
  allocate_constants(placed.plan, schedule, compiled);
  for (const IoTensor& io : graph.inputs)
    compiled.inputs.push_back(make_port(graph, info, io, placed.plan));
  for (const IoTensor& io : graph.outputs)
    compiled.outputs.push_back(make_port(graph, info, io, placed.plan));
  compiled.statistics = options.statistics;
  compiled.user = user_network(graph, schedule.operations);
}

}  // namespace

CompiledNetwork compile(const Network::Impl& net, const Device& device, const BuildOptions& options,
                        const ProgramLimits& limits) {
  auto compiled = std::make_shared<CompiledNetwork::Impl>(device);
  compile_into(net, options, limits, *compiled);
  return Handles::make<CompiledNetwork>(
      std::shared_ptr<const CompiledNetwork::Impl>(std::move(compiled)));
}

}  // namespace detail

CompiledNetwork Network::compile(const Device& device, const BuildOptions& options) const {
  return detail::compile(impl(), device, options, {});
}

Request Network::build(const Device& device, const BuildOptions& options) const {
  return compile(device, options).create_request();
}

}  // namespace nvdla
