// SPDX-License-Identifier: MIT
#include "loadable/read/cpu_step.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "loadable/read/emulate.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla::loadable {
namespace {

CpuStep emulated_step(const Container& c, const EmuStep& from) {
  CpuStep step;
  step.name = emu_name(from);
  const EmuOperation& op = from.operation;
  step.sources = {{from.source_memory, from.source_offset, from.source_offset + op.source.size}};
  step.destination = {from.destination_memory, from.destination_offset,
                      from.destination_offset + op.destination.size};
  step.output = emu_output(from, buffer_bytes(c.memories[from.destination_memory]));
  step.operation = std::make_shared<const cpu::Operation>(emu_operation(op));
  step.inputs.push_back({"cpu", 0, from.source_offset, emu_desc(op.source)});
  step.run = [from](auto sources, auto destination) { run_emu(from, sources[0], destination); };
  return step;
}

CpuStep::Range place_cube(const Container& c, const Task& task, const CpuCube& cube,
                          const nvdla_hw& hw, const std::string& what) {
  const Place at =
      resolve_address(c, c.tasks[task.index], static_cast<std::int16_t>(cube.address), what);
  const std::uint64_t begin = at.offset + cube.offset;
  const std::uint64_t end = begin + tensor_bytes(cube.desc);
  if (end > c.memories[at.memory].size) {
    throw_in_file("{}: it ends at {}, memory {} has {} bytes", what, end, at.memory,
                  c.memories[at.memory].size);
  }
  if (cube.desc.atom != hw.atom) {
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("loadable: {}: its atoms have {} bytes, those of {} have {}", what,
                            cube.desc.atom, hw.name, hw.atom));
  }
  return {at.memory, begin, end};
}

CpuStep own_step(const Container& c, const Task& task, const nvdla_hw& hw) {
  const auto& own = std::get<CpuTask>(task.work);
  CpuStep step;
  step.name = operation_name(own.operation);
  const std::string what = fmt::format("task {} ({})", task.index, step.name);
  for (std::size_t i = 0; i < own.inputs.size(); ++i)
    step.sources.push_back(
        place_cube(c, task, own.inputs[i], hw, fmt::format("{}, input {}", what, i)));
  step.destination = place_cube(c, task, own.output, hw, what + ", output");
  step.output = detail::LayerOutput{"cpu", 0, step.destination.begin, own.output.desc};
  // The lambda has the offsets of the cubes; it outlives the file.
  const auto work = std::make_shared<const CpuTask>(own);
  step.operation = {work, &work->operation};
  for (std::size_t i = 0; i < own.inputs.size(); ++i)
    step.inputs.push_back({"cpu", 0, step.sources[i].begin, own.inputs[i].desc});
  step.run = [work, from = step.sources, to = step.destination](auto sources, auto destination) {
    std::vector<cpu::Input> inputs;
    for (std::size_t i = 0; i < work->inputs.size(); ++i)
      inputs.push_back(
          {work->inputs[i].desc, sources[i].subspan(static_cast<std::size_t>(from[i].begin))});
    cpu::run(work->operation, inputs,
             {work->output.desc, destination.subspan(static_cast<std::size_t>(to.begin))});
  };
  return step;
}

}  // namespace

std::vector<CpuStep> resolve_cpu(const Container& c, const Task& task, const nvdla_hw& hw) {
  std::vector<CpuStep> steps;
  if (std::holds_alternative<CpuTask>(task.work)) {
    steps.push_back(own_step(c, task, hw));
  } else {
    for (const EmuStep& step : resolve_emu(c, task)) steps.push_back(emulated_step(c, step));
  }
  return steps;
}

}  // namespace nvdla::loadable
