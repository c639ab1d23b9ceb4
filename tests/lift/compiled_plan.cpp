// SPDX-License-Identifier: MIT
#include "lift/compiled_plan.hpp"

#include <fmt/format.h>

#include <memory>
#include <nvdla/types/error.hpp>

#include "common/compiled.hpp"
#include "common/lift/used_registers.hpp"
#include "lift/memories.hpp"

namespace nvdla::test {
namespace {

// Addresses of traces have 32 bits; what they do not name is zero.
constexpr std::uint64_t kWholeMemory = std::uint64_t{1} << 32;
constexpr std::uint64_t kRound = 64;

class PlanCompiler {
 public:
  PlanCompiler(const nvdla_hw& hw, const Plan& plan) : hw_(hw), plan_(plan) {}

  CompiledPlan compile() {
    if (plan_.launches.empty()) throw Refused("no launch", "nothing is launched");
    try {
      if (plan_.one_memory) {
        compile_in(merged(named_memories(plan_, true)));
      } else {
        std::vector<LaunchMemory> memories = {{0, kWholeMemory, NVDLA_MEMORY_DRAM}};
        if ((hw_.features & NVDLA_HW_SRAM) != 0)
          memories.push_back({0, kWholeMemory, NVDLA_MEMORY_SRAM});
        compile_in(std::move(memories));
        compile_in(touched());
      }
    } catch (const LiftError& error) {
      throw Refused("no descriptor", error.what());
    }
    return std::move(result_);
  }

 private:
  void compile_in(std::vector<LaunchMemory> memories) {
    result_.memories = std::move(memories);
    result_.lifted = lift(hw_, plan_.launches, result_.memories,
                          [this](std::uint64_t address, std::size_t size) {
                            return initial_contents(plan_, address, size);
                          });
    for (std::size_t i = 0; i < plan_.launches.size(); i++) {
      nvdla_layer& layer = result_.lifted.layers[i];
      layer.num_waits = static_cast<std::uint32_t>(plan_.waits[i].size());
      std::copy(plan_.waits[i].begin(), plan_.waits[i].end(), layer.waits);
    }
    programs_.clear();
    for (const Step& step : plan_.steps)
      if (const auto* program = std::get_if<PlannedProgram>(&step)) compile_program(*program);
    compare();
  }

  void compile_program(const PlannedProgram& planned) {
    auto program = try_program(planned);
    if (program->error().rule == NVDLA_RULE_EXTENT && plan_.one_memory &&
        widen_pairs(result_.lifted))
      program = try_program(planned);
    if (!program->ok()) throw_error(program->error(), planned);
    programs_.push_back(std::move(program));
  }

  std::unique_ptr<Program> try_program(const PlannedProgram& planned) const {
    const Lifted& lifted = result_.lifted;
    auto program = std::make_unique<Program>(
        hw_, lifted.slots, static_cast<std::uint32_t>(planned.end - planned.first), 0, 0,
        lifted.luts, lifted.transfers, lifted.control);
    for (std::size_t i = planned.first; i < planned.end; i++) program->add(lifted.layers[i]);
    program->end();
    return program;
  }

  [[noreturn]] void throw_error(const nvdla_error& error, const PlannedProgram& planned) const {
    const Error text(ErrorCode::kInvalidProgram, error);
    const std::string where =
        planned.first ? fmt::format("from launch {} on: ", planned.first) : "";
    throw Refused(std::string(rule_name(error.rule)), where + text.what());
  }

  std::vector<LaunchMemory> touched() const {
    auto memories = named_memories(plan_, false);
    for (const auto& program : programs_) {
      for (std::uint32_t layer = 0; layer < program->get().num_layers; layer++)
        for (const nvdla_access& access : program->accesses(layer))
          // The control data have a slot of their own.
          if (access.slot < result_.memories.size())
            memories.push_back(
                {access.begin, access.end - access.begin, result_.memories[access.slot].memory});
    }
    for (LaunchMemory& memory : memories) {
      const std::uint64_t end = (memory.address + memory.size + kRound - 1) / kRound * kRound;
      memory.address = memory.address / kRound * kRound;
      memory.size = end - memory.address;
    }
    return merged(std::move(memories));
  }

  void compare() {
    result_.differences.clear();
    std::size_t launch = 0;
    for (const auto& program : programs_) {
      for (std::uint32_t layer = 0; layer < program->get().num_layers; layer++, launch++) {
        const auto differences =
            differing_registers(hw_, plan_.launches[launch], result_.lifted.layers[launch],
                                program->registers(layer, result_.lifted.bases),
                                program->image(layer).units, result_.lifted.moved);
        for (const auto& difference : differences)
          result_.differences.push_back(fmt::format("launch {}: {}", launch, difference));
      }
    }
  }

  const nvdla_hw& hw_;
  const Plan& plan_;
  CompiledPlan result_;
  std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace

CompiledPlan compile_plan(const nvdla_hw& hw, const Plan& plan) {
  return PlanCompiler(hw, plan).compile();
}

}  // namespace nvdla::test
