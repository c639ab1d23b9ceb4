// SPDX-License-Identifier: MIT
#include "lift/plan.hpp"

#include <map>
#include <string>

namespace nvdla::test {
namespace {

using namespace replay;

// The unit that a layer ends in. Each serves its layers in order, so the last
// layer of each stands for all of them.
model::Unit last_unit(std::uint32_t units) {
  for (const model::Unit unit : {NVDLA_UNIT_PDP, NVDLA_UNIT_SDP, NVDLA_UNIT_CDP, NVDLA_UNIT_RBK}) {
    if ((units >> unit & 1) != 0) return unit;
  }
  return NVDLA_UNIT_BDMA;
}

class Planner {
 public:
  explicit Planner(const Script& script) : script_(script), tracker_(script.map) {
    plan_.one_memory = script.kind == Kind::kCase;
  }

  Plan make() {
    for (const Command& command : script_.commands)
      std::visit([this](const auto& action) { take(action); }, command.action);
    end_program();
    if (tracker_.waiting() != 0) {
      std::string names;
      for (const auto& unit : model::units())
        if ((tracker_.waiting() >> unit.unit & 1) != 0) names += " " + std::string(unit.name);
      throw LiftError("these units are enabled and wait for others that are not:" + names);
    }
    return std::move(plan_);
  }

 private:
  void take(const WriteRegister& action) { tracker_.write(action.offset, action.value); }
  void take(const ExpectInterrupt&) {}
  void take(const AwaitSync&) { wait(); }
  void take(const WaitInterrupt&) { wait(); }
  void take(const Finish&) { wait(); }
  void take(const EndLayer&) { wait(); }

  template <typename MemoryAction>
  void take(const MemoryAction& action) {
    end_program();
    plan_.steps.push_back(action);
  }

  // Status registers are the engine's business; counters come back as statistics.
  void take(const CheckRegister& action) {
    const auto counter = counter_of(script_.map, action.offset);
    if (!counter || action.compare != Compare::kEqual) {
      if (action.retries != 0) wait();
      return;
    }
    end_program();
    const auto* info = model::register_at(script_.map, action.offset);
    const auto found = latest_.find({info->unit, tracker_.producer(info->unit)});
    if (found != latest_.end())
      plan_.steps.push_back(CheckCounter{found->second, *counter, action});
  }

  void launch() {
    for (Launch& launch : tracker_.run()) {
      const std::size_t index = plan_.launches.size();
      plan_.launches.push_back(std::move(launch.registers));
      plan_.units.push_back(launch.units);
      plan_.waits.emplace_back();
      for (const auto& [unit, layer] : awaited_)
        plan_.waits.back().push_back(static_cast<std::uint32_t>(layer - begin_));
      running_[last_unit(launch.units)] = index;
      for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; unit++)
        if ((launch.units >> unit & 1) != 0) latest_[{unit, launch.groups >> unit & 1}] = index;
    }
  }

  // What comes later waits for what runs now.
  void wait() {
    launch();
    if (running_.empty()) return;
    awaited_ = std::move(running_);
    running_.clear();
  }

  void end_program() {
    launch();
    if (begin_ == plan_.launches.size()) return;
    plan_.steps.push_back(PlannedProgram{begin_, plan_.launches.size()});
    begin_ = plan_.launches.size();
    running_.clear();
    awaited_.clear();
  }

  const Script& script_;
  LaunchTracker tracker_;
  Plan plan_;
  std::size_t begin_ = 0;                         // of the program at hand
  std::map<std::uint32_t, std::size_t> running_;  // by the unit that they end in
  std::map<std::uint32_t, std::size_t> awaited_;  // the same, of those that were waited for
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> latest_;  // by unit and group
};

}  // namespace

Plan make_plan(const Script& script) { return Planner(script).make(); }

}  // namespace nvdla::test
