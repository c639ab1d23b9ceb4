// SPDX-License-Identifier: MIT
#include "compiler/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/lower/lowering.hpp"
#include "compiler/passes/passes.hpp"
#include "compiler/passes/pipeline.hpp"
#include "device/build_steps.hpp"
#include "nvdla/types/error.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

using Tuning = Convolution::Tuning;

// Bytes alive in turns are searched in so many steps, each of which halves what is left.
constexpr int kSearchSteps = 10;

// Steps of a build behind those of its layers: memory, programs and constants.
constexpr std::size_t kStepsBehindLayers = 3;

// Buffers are allocated in whole pages.
constexpr std::uint64_t kPage = 4096;

// Returns the bytes of all slots.
std::uint64_t bytes_of(const MemoryPlan& plan) {
  std::uint64_t bytes = 0;
  for (const MemoryPlan::Slot& slot : plan.slots) bytes += arith::round_up(slot.slot.size, kPage);
  return bytes;
}

// Returns the bytes of slots that nothing but inputs, outputs and constants lie in.
std::uint64_t lasting_bytes(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const MemoryPlan::Slot& slot : plan.memory.slots) {
    const Allocation& allocation = plan.schedule.allocations[slot.live_ranges.front().allocation];
    if (allocation.dedicated || !allocation.contents.empty())
      bytes += arith::round_up(slot.slot.size, kPage);
  }
  return bytes;
}

// `Planner` makes plans of one network that give up more or less.
class Planner {
 public:
  Planner(Graph from, const DeviceInfo& info, const BuildOptions& options,
          const ProgramLimits& limits)
      : from_(std::move(from)),
        info_(info),
        options_(options),
        limits_(limits),
        budget_(options.search_budget) {}

  Plan plan(BuildSteps& steps);

 private:
  // Runs the passes over the graph, and lowers what comes out: each layer is a step.
  void lower(BuildSteps* steps = nullptr);
  // Plan what was lowered. While layers take turns no more bytes are alive than that.
  Plan plan_of(Graph graph, Schedule schedule, std::uint64_t alive_in_turns);
  Plan plan_within(std::uint64_t alive_in_turns) {
    return plan_of(graph_, schedule_, alive_in_turns);
  }
  // Forbids a rewrite where nobody insists on it, and returns the plan without it.
  Plan without(Rewrite Tuning::*rewrite);
  // Returns a plan of at most so many bytes in which as many bytes as possible are alive in turns.
  // `least`, which has no turns, keeps to it.
  Plan fastest_within(std::uint64_t bytes, Plan least);

  Graph from_;
  const DeviceInfo& info_;
  const BuildOptions& options_;
  const ProgramLimits& limits_;
  SearchBudget budget_;  // of all plans together
  Graph graph_;
  Schedule schedule_;
  std::vector<PassReport> passes_;
};

void Planner::lower(BuildSteps* steps) {
  passes_.clear();
  graph_ = run_passes(from_, info_, options_, passes_, &budget_);
  if (steps != nullptr) steps->expect(graph_.layers.size() + kStepsBehindLayers);
  Lowering lowering(graph_, info_);
  for (std::uint32_t i = 0; i < graph_.layers.size(); ++i) {
    if (steps != nullptr) steps->begin(layer_text(i, graph_.layers[i].name));
    lowering.lower_layer(i);
  }
  schedule_ = std::move(lowering).take();
}

Plan Planner::plan_of(Graph graph, Schedule schedule, std::uint64_t alive_in_turns) {
  Plan plan;
  plan.graph = std::move(graph);
  plan.passes = passes_;
  plan.schedule = run_passes(std::move(schedule), plan.graph, info_, options_, plan.passes,
                             &budget_, alive_in_turns);
  cut_programs(plan.schedule, limits_);
  // Only a plan of memory tells how many slots a program has.
  do {
    plan.memory =
        plan_memory(plan.schedule, {.share = options_.share_memory, .sram = options_.sram_bytes});
    plan.placed = assign_slots(plan.memory, plan.schedule);
  } while (cut_for_slots(plan.schedule, plan.placed, limits_));
  plan.bytes = bytes_of(plan.memory);
  return plan;
}

Plan Planner::without(Rewrite Tuning::*rewrite) {
  for (LayerNode& layer : from_.layers) {
    auto* const conv = std::get_if<ConvNode>(&layer.part);
    if (conv != nullptr && conv->tuning.*rewrite == Rewrite::kAuto)
      conv->tuning.*rewrite = Rewrite::kNever;
  }
  lower();
  return plan_within(0);
}

Plan Planner::fastest_within(std::uint64_t bytes, Plan least) {
  std::uint64_t low = 0, high = 0;
  for (const Allocation& allocation : schedule_.allocations) high += allocation.slot.size;
  for (int i = 0; i < kSearchSteps; ++i) {
    const std::uint64_t middle = low + (high - low) / 2;
    Plan plan = plan_within(middle);
    if (plan.bytes > bytes) {
      high = middle;
    } else {
      low = middle;
      least = std::move(plan);
    }
  }
  return least;
}

Plan Planner::plan(BuildSteps& steps) {
  lower(&steps);
  steps.begin("memory");
  const std::uint64_t limit = options_.memory_limit;
  const bool speed = options_.optimise == Optimise::kSpeed;
  const auto fits = [&](const Plan& plan) { return limit == 0 || plan.bytes <= limit; };
  // One plan will do, which takes the constants and copies none.
  if (speed && limit == 0) return plan_of(std::move(graph_), std::move(schedule_), kAnyBytes);
  Plan plan = plan_within(kAnyBytes);
  if (speed && fits(plan)) return plan;
  plan = plan_within(0);
  for (const auto rewrite : {&Tuning::batch, &Tuning::winograd}) {
    if (speed && fits(plan)) break;
    const Graph before = from_;
    Plan other = without(rewrite);
    if (other.bytes < plan.bytes) {
      plan = std::move(other);
      continue;
    }
    from_ = before;
    lower();
  }
  if (fits(plan)) return fastest_within(speed ? limit : plan.bytes, std::move(plan));
  throw Error(
      ErrorCode::kNotAvailable,
      fmt::format("memory_limit: the network takes {} bytes at least, {} of them for inputs, "
                  "outputs and constants; expected as many or more, not {}",
                  plan.bytes, lasting_bytes(plan), limit));
}

}  // namespace

Plan make_plan(const Graph& from, const DeviceInfo& info, const BuildOptions& options,
               const ProgramLimits& limits, BuildSteps& steps) {
  return Planner(with_choices(from, options), info, options, limits).plan(steps);
}

}  // namespace nvdla::detail
