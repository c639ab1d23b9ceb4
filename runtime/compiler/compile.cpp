// SPDX-License-Identifier: MIT
//
// The road from a network to a compiled one: a plan, programs and constants.
#include "compiler/compile.hpp"

#include <algorithm>
#include <utility>

#include "compiler/passes/memory_plan.hpp"
#include "compiler/passes/pipeline.hpp"
#include "compiler/plan.hpp"
#include "device/buffers.hpp"
#include "device/build_steps.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace detail {
namespace {

void check_has_layers(const Graph& graph) {
  if (graph.layers.empty()) throw_invalid_argument("the network has no layer");
  const bool silent = std::any_of(graph.layers.begin(), graph.layers.end(),
                                  [](const LayerNode& l) { return l.output == kNoTensor; });
  if (graph.outputs.empty() && !silent) throw_invalid_argument("the network has no output");
}

void set_slots(const MemoryPlan& plan, const Schedule& schedule, CompiledNetwork::Impl& compiled) {
  for (const MemoryPlan::Slot& planned : plan.slots) {
    std::string name = schedule.allocations[planned.live_ranges.front().allocation].name;
    if (planned.live_ranges.size() > 1)
      name += fmt::format(" and {} more", planned.live_ranges.size() - 1);
    with_error_context(name, std::nullopt, [&] {
      check_memory(compiled.device.info(), static_cast<Memory>(planned.slot.memory));
    });
    compiled.slots.push_back(planned.slot);
    compiled.slot_names.push_back(std::move(name));
  }
  compiled.memory = memory_use(plan, schedule.allocations);
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
    with_error_context(compiled.slot_names[i], std::nullopt, [&] {
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
  if (options.sram_bytes != 0) check_memory(info, Memory::kSram);
  BuildSteps steps(options);
  Plan plan = make_plan(from, info, options, limits, steps);
  compiled.passes = std::move(plan.passes);
  set_layers(plan.schedule, compiled);
  set_slots(plan.memory, plan.schedule, compiled);
  steps.begin("programs");
  create_programs(plan.graph, plan.schedule, plan.placed, compiled, options.statistics);
  check_plan(plan.memory, plan.schedule, accesses_of(compiled, plan.placed));
  steps.begin("constants");
  allocate_constants(plan.memory, plan.schedule, compiled);
  for (const IoTensor& io : plan.graph.inputs)
    compiled.inputs.push_back(make_port(plan.graph, info, io, plan.memory));
  for (const IoTensor& io : plan.graph.outputs)
    compiled.outputs.push_back(make_port(plan.graph, info, io, plan.memory));
  compiled.statistics = options.statistics;
  compiled.user = user_network(plan.graph, plan.schedule.operations);
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
